"""Lines of `gitring_nearby`: the live intents that meet this one, and what merged since it began."""

from collections.abc import Iterator

from gateway.text.intents import commit
from gateway.text.untrusted import counted, listed, one_line, title_of
from protocol.surroundings import MergedNear, Nearby, NearbyIntent

PATHS_SHOWN = 5


def nearby(answer: Nearby) -> Iterator[str]:
    """Nearest first; then what landed, first what meets the intent's own places."""
    more = " (the nearest)" if answer.more_intents else ""
    count = counted(len(answer.intents), "live intent")
    yield f"{count} near #{answer.number}{more}{':' if answer.intents else '.'}"
    yield from map(_intent, answer.intents)
    line = one_line(answer.line)
    if not answer.merged:
        yield f"Nothing merged on {line} since you started ({commit(answer.base)})."
    else:
        yield f"Merged since you started ({line} {commit(answer.base)} → {commit(answer.head)}):"
        yield from (_merged(one, line) for one in answer.merged)
    if answer.more_merged:
        yield "More merged before these."
    yield f"Next: {one_line(answer.next, 1000)}"


def _intent(found: NearbyIntent) -> str:
    return f"#{found.number} {title_of(found.title)}. {found.state.text}. {one_line(found.text, 1000)}"


def _merged(found: MergedNear, line: str) -> str:
    shown = found.changed[:PATHS_SHOWN]
    left = found.changed_count - len(shown)
    changed = f" Changed {listed(shown)}{f' and {left} more' if left > 0 else ''}." if shown else ""
    meets = f" Merge {line} into your work before you submit." if found.places else ""
    return f"#{found.number} {title_of(found.title)}.{changed}{meets}"
