"""One line that says how far a check is, in our own words and with numbers only."""

from protocol.live import Progress


def in_words(progress: Progress, elapsed_sec: float) -> str:
    """`2 min 5 s · 1,204 lines · 83 tests passed, 1 failed, of 120 (70 %)`."""
    parts = [span(elapsed_sec), _many(progress.lines, "line")]
    if progress.tests:
        parts.append(_tests(progress))
    elif progress.total:
        parts.append(f"{_many(progress.total, 'test')} to run")
    return " · ".join(parts)


def span(seconds: float) -> str:
    """A length of time in its two largest units."""
    whole = max(0, int(seconds))
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60} s"
    return f"{whole // 3600} h {whole % 3600 // 60} min"


def _tests(progress: Progress) -> str:
    ended = [(progress.passed, "passed"), (progress.failed, "failed"), (progress.skipped, "skipped")]
    told = [f"{count:,} {word}" for count, word in ended if count]
    first = told[0].replace(" ", f" test{'' if told[0].startswith('1 ') else 's'} ", 1)
    text = ", ".join([first, *told[1:]])
    if progress.total is not None:
        text += f", of {progress.total:,}"
    return text + (f" ({progress.percent} %)" if progress.percent is not None else "")


def _many(count: int, word: str) -> str:
    return f"{count:,} {word}{'' if count == 1 else 's'}"
