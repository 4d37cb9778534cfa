"""Find the one that fails among those merged one on the other, in few rounds of checks.

The queue's candidate is a chain: prefix `n` is the line with the first `n` members on top. The whole chain
is tested first, since most are green. When it is red, prefixes between the last green and the first red one
are tested side by side, until the two are neighbours: then the prefix lands, and the member after it is the
one that fails on exactly the line that it would join.
"""

from collections.abc import Mapping
from typing import NamedTuple

WIDEST = 64


class Verdict(NamedTuple):
    """What is known of a chain: how many members may land, and which one (from 1) is to blame, if any."""

    green: int
    blamed: int | None


def bounds(size: int, known: Mapping[int, bool]) -> tuple[int, int | None]:
    """The longest prefix known to be green below the first red one, and that red one."""
    red = min((n for n, good in known.items() if not good and n <= size), default=None)
    green = max(
        (n for n, good in known.items() if good and n <= size and (red is None or n < red)), default=0
    )
    return green, red


def next_prefixes(size: int, known: Mapping[int, bool], slots: int) -> list[int]:
    """Which prefixes to test side by side next, at most `slots`; none when the verdict stands."""
    green, red = bounds(size, known)
    if red is None:
        return [] if green == size else [size]
    between = red - green - 1
    count = min(max(slots, 1), between)
    return sorted({green + round((red - green) * (i + 1) / (count + 1)) for i in range(count)} - {green, red})


def verdict(size: int, known: Mapping[int, bool]) -> Verdict | None:
    """The verdict, or None while prefixes are left to test."""
    green, red = bounds(size, known)
    if red is None:
        return Verdict(green, None) if green == size else None
    return Verdict(green, red) if red - green == 1 else None
