"""Counts lines and ended tests in output that comes in pieces, by the habits of the usual test tools."""

import re
from dataclasses import dataclass

from protocol.live import Progress
from rules.failures.text import split_clean

MAX_OPEN_LINE = 4_096
MAX_COUNT = 10_000_000


@dataclass
class Tally:
    """What one tool's habit has shown so far."""

    passed: int = 0
    failed: int = 0
    skipped: int = 0
    total: int | None = None
    percent: int | None = None

    @property
    def ended(self) -> int:
        """Tests that ended."""
        return self.passed + self.failed + self.skipped


_PASSED = {"ok", "pass", "passed", "✓", "✔", "√", "xpass", ".", "X"}
_SKIPPED = {"skip", "skipped", "ignored", "xfail", "s", "x", "○", "↓", "xpassed", "xfailed"}

# A whole line that tells of one test; `how` is the word for its end, and a tab is one blank. The first that fits counts.
_ONE_TEST: dict[str, re.Pattern[str]] = {
    "go packages": re.compile(r"^(?P<how>ok|FAIL) +\S+ +(?:[\d.]+s$|\(cached\)|\[)"),
    "tap": re.compile(r"^(?P<how>(?:not )?ok)\b(?: +\d+)?(?: -? *\S.*)?$"),
    "pytest": re.compile(r"^\S+::\S.* (?P<how>PASSED|FAILED|SKIPPED|ERROR|XFAIL|XPASS)\b"),
    "go": re.compile(r"^ *--- (?P<how>PASS|FAIL|SKIP): \S"),
    "jest": re.compile(r"^ *(?P<how>[✓✔√✕✗✘×○↓]) \S"),
    "jest files": re.compile(r"^ *(?P<how>PASS|FAIL) +\S+\.\w+"),
    "unittest": re.compile(r"^test\w* \(.*\.\.\. (?P<how>ok|FAIL|ERROR|skipped)\b"),
    "cargo": re.compile(r"^test \S.* \.\.\. (?P<how>ok|FAILED|ignored)\b"),
}
_DOTS = re.compile(r"^(?:\S+\.py )?(?P<dots>[.FEsxX]{1,400})(?: *\[ *(?P<percent>\d{1,3})%\])?$")
_PERCENT = re.compile(r"\[ *(\d{1,3})%\]$")
_PLAN = re.compile(r"^1\.\.(\d{1,7})(?: *#.*)?$")
_TOTAL: dict[str, re.Pattern[str]] = {
    "pytest": re.compile(r"^collected (\d{1,7}) items?\b"),
    "cargo": re.compile(r"^running (\d{1,7}) tests?$"),
}
_MAVEN = re.compile(r"Tests run: (\d{1,7}), Failures: (\d{1,7}), Errors: (\d{1,7}), Skipped: (\d{1,7}), Time")
_TODO = re.compile(r"# *(?:todo|skip)\b", re.IGNORECASE)


class Counter:
    """Feed it output; ask it for the progress. A line counts when it ends, or at `progress` when it is the last so far."""

    def __init__(self) -> None:
        self._lines = 0
        self._open = b""
        self._by_tool: dict[str, Tally] = {}

    def feed(self, data: bytes) -> None:
        """Take the next piece of output."""
        *whole, rest = (self._open + data).split(b"\n")
        self._lines += len(whole)
        for line in whole:
            _count(self._by_tool, line)
        self._open = rest[:MAX_OPEN_LINE]

    def pass_over(self, lines: int, rest: bytes) -> None:
        """Count the ends of lines that came faster than they can be read; `rest` stands behind the last of them."""
        self._lines += lines
        self._open = (rest if lines else self._open + rest)[:MAX_OPEN_LINE]

    def progress(self) -> Progress:
        """How far the output says the run is: by the tool whose habit it shows most."""
        tools = {name: Tally(**vars(tally)) for name, tally in self._by_tool.items()}
        if self._open:
            _count(tools, self._open)
        best = max(tools.items(), key=lambda item: (item[1].ended, item[1].total or 0), default=None)
        lines = self._lines + bool(self._open)
        if best is None:
            return Progress(lines=lines)
        tally = best[1]
        return Progress(
            lines=lines,
            passed=min(tally.passed, MAX_COUNT),
            failed=min(tally.failed, MAX_COUNT),
            skipped=min(tally.skipped, MAX_COUNT),
            total=None if tally.total is None else max(tally.total, tally.ended),
            percent=tally.percent if tally.percent is not None else _share(tally),
        )


def _share(tally: Tally) -> int | None:
    return min(100, 100 * tally.ended // tally.total) if tally.total else None


def _count(tools: dict[str, Tally], raw: bytes) -> None:
    line = split_clean(raw[:MAX_OPEN_LINE].decode("utf-8", "replace"))[0]
    if not line:
        return
    for tool, pattern in _ONE_TEST.items():
        if found := pattern.match(line):
            how = "skip" if tool == "tap" and _TODO.search(line) else found["how"].lower()
            _ended(tools.setdefault(tool, Tally()), how)
            _note_percent(tools[tool], line)
            return
    _count_in_bulk(tools, line)


def _count_in_bulk(tools: dict[str, Tally], line: str) -> None:
    if found := _DOTS.match(line):
        # A line of dots alone may be anything; pytest's ends with how far it is, or follows on its heading.
        if found["percent"] or "pytest" in tools:
            tally = tools.setdefault("pytest", Tally())
            for dot in found["dots"]:
                _ended(tally, dot)
            if found["percent"]:
                tally.percent = min(100, int(found["percent"]))
    elif found := _PLAN.match(line):
        tools.setdefault("tap", Tally()).total = int(found[1])
    elif found := _MAVEN.search(line):
        run, failures, errors, skipped = map(int, found.groups())
        tally = tools.setdefault("maven", Tally())
        failed = failures + errors
        tally.failed, tally.skipped = tally.failed + failed, tally.skipped + skipped
        tally.passed += max(0, run - failed - skipped)
    else:
        for tool, pattern in _TOTAL.items():
            if found := pattern.match(line):
                tally = tools.setdefault(tool, Tally())
                tally.total = (tally.total or 0) + int(found[1])


def _note_percent(tally: Tally, line: str) -> None:
    if found := _PERCENT.search(line):
        tally.percent = min(100, int(found[1]))


def _ended(tally: Tally, how: str) -> None:
    if how in _PASSED:
        tally.passed += 1
    elif how in _SKIPPED:
        tally.skipped += 1
    else:
        tally.failed += 1
