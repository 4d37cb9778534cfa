"""The range of a pair of intents: 0 same place, 1 changes what the other uses, 2 same file.

Declared and pushed places count alike. The lowest range wins. Range 3 (one import apart) needs the
imports of files, which the caller has no need to know here.
"""

from collections.abc import Collection, Iterable
from dataclasses import dataclass, field

from rules.places import Place, covers, meet, narrower


@dataclass(frozen=True)
class Reach:
    """Where one intent reaches: what it changes (declared or pushed) and what it uses."""

    change: frozenset[Place] = field(default_factory=frozenset)
    use: frozenset[Place] = field(default_factory=frozenset)


@dataclass(frozen=True)
class Overlap:
    """How two intents meet, and where.

    `first_uses`: the first uses what the second changes. `first_depends`: it does so by a file or symbol
    that both name; a folder implies no dependency (rule R1a).
    """

    range: int
    places: tuple[Place, ...]
    first_uses: bool = False
    second_uses: bool = False
    first_depends: bool = False
    second_depends: bool = False


def _meeting(
    ones: Iterable[Place], others: Collection[Place], shared: Collection[Place]
) -> tuple[Place, ...]:
    met = {narrower(one, other) for one in ones for other in others if meet(one, other)}
    return tuple(sorted(place for place in met if not any(covers(common, place) for common in shared)))


def _depends(uses: Iterable[Place], changes: Iterable[Place], shared: Collection[Place]) -> bool:
    precise = [place for place in changes if not place.is_folder]
    return bool(_meeting((place for place in uses if not place.is_folder), precise, shared))


def overlap(first: Reach, second: Reach, shared: Collection[Place] = ()) -> Overlap | None:
    """How `first` and `second` meet, or None. Places under `shared` are only added to and never meet."""
    first_uses = _meeting(first.use, second.change, shared)
    second_uses = _meeting(second.use, first.change, shared)
    depends = (
        bool(first_uses) and _depends(first.use, second.change, shared),
        bool(second_uses) and _depends(second.use, first.change, shared),
    )
    same = _meeting(first.change, second.change, shared)
    if same:
        return Overlap(0, same, bool(first_uses), bool(second_uses), *depends)
    if first_uses or second_uses:
        both = tuple(sorted({*first_uses, *second_uses}))
        return Overlap(1, both, bool(first_uses), bool(second_uses), *depends)
    files = _meeting({p.file for p in first.change}, {p.file for p in second.change}, shared)
    return Overlap(2, files) if files else None
