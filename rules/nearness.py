"""What lies near: folders above a path, and which changed paths meet the places of an intent."""

from collections.abc import Collection, Iterable, Sequence

from protocol.records import ConflictRow
from rules.conflict_texts import conflict_text
from rules.places import ancestors

MOST_STEPS = 20


def around(area: Iterable[str]) -> list[tuple[str, int]]:
    """Each path of `area` and the folders above it, with how many steps up each is; the fewest when several tell."""
    steps: dict[str, int] = {}
    for path in area:
        for far, above in enumerate(ancestors(path)[: MOST_STEPS + 1]):
            steps[above] = min(far, steps.get(above, far))
    return sorted(steps.items(), key=lambda found: (found[1], found[0]))


def meeting(changed: Sequence[str], places: Collection[str]) -> list[str]:
    """The changed files that are one of `places`, or lie in a folder that is."""
    known = frozenset(places)
    return [path for path in changed if not known.isdisjoint(ancestors(path))]


def folders_of(changed: Iterable[str]) -> list[str]:
    """The folders that these files lie in; `./` is the root."""
    return sorted({(ancestors(path)[1:2] or ["./"])[0] for path in changed})


def pair_text(row: ConflictRow) -> str:
    """What the rules say of a pair, for a line that begins with one of the two already."""
    return conflict_text(row).partition(". ")[2]
