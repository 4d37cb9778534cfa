"""What a merge queue does next: a pure rule from one snapshot (chain, results known, tests that run, slots) to a plan.

The queue's candidate is a chain: prefix `n` is the line with the first `n` queued intents on top, and prefix 0
is the line itself. The rules, in order:

1. A green prefix lands at once, the longest first: the tree that lands is the tree that was tested.
2. A line that fails by itself blames nobody: the queue stands still.
3. The first member goes back only when it is red right on a line that is known to be good.
4. Below a red prefix, shorter prefixes are tested side by side; what runs above it is stopped.
5. Else the whole chain is tested, also while a shorter prefix still runs (speculation), as slots allow.
"""

from collections.abc import Collection, Mapping
from itertools import pairwise
from typing import NamedTuple

WIDEST = 64
NARROWEST = 4
FIRST_WINDOW = 32


class Plan(NamedTuple):
    """One step. `land` members land, or the first is `blamed`, or the line itself failed; tests begin and end."""

    land: int = 0
    blame: bool = False
    line_failed: bool = False
    start: tuple[int, ...] = ()
    stop: tuple[int, ...] = ()

    @property
    def idle(self) -> bool:
        """True when there is nothing to do but wait for news."""
        return self == Plan()


def plan(size: int, good: Mapping[int, bool], running: Collection[int], slots: int) -> Plan:
    """The next step for a chain of `size` members.

    `good` holds the verdict of each tested prefix, `running` the prefixes under test; both may hold 0, the
    line itself. `slots` tests may run at once, at least one.
    """
    known = {n: verdict for n, verdict in good.items() if n <= size}
    green = max((n for n, verdict in known.items() if verdict), default=0)
    if green:
        return Plan(land=green)
    if known.get(0) is False:
        return Plan(line_failed=True)
    red = min((n for n, verdict in known.items() if not verdict), default=None)
    if red is None:
        return _widen(size, running, slots)
    if red == 1 and known.get(0):
        return Plan(blame=True)
    return _narrow(red, 0 in known, running, slots)


def _widen(size: int, running: Collection[int], slots: int) -> Plan:
    """Nothing is known to fail: test all of it, beside the shorter prefixes that run already."""
    if size > max(running, default=0) and len(running) < max(slots, 1):
        return Plan(start=(size,))
    return Plan()


def _narrow(red: int, line_known: bool, running: Collection[int], slots: int) -> Plan:
    """Prefix `red` fails: stop what cannot land, and test between the line and it."""
    stop = tuple(sorted(n for n in running if n > red))
    inside = {n for n in running if n < red}
    start: list[int] = []
    free = max(slots, 1) - len(inside)
    # A line that fails by itself makes every other test worthless, so it is asked first.
    if free > 0 and not line_known and 0 not in inside:
        start.append(0)
        free -= 1
    start += between(red, {n for n in inside if n}, free)
    return Plan(start=tuple(start), stop=stop)


def between(red: int, tested: Collection[int], count: int) -> list[int]:
    """At most `count` prefixes between 0 and `red` that part it, with those under test, most evenly."""
    count = min(count, red - 1 - len(tested))
    if count <= 0:
        return []
    if not tested:
        return sorted({round(red * (i + 1) / (count + 1)) for i in range(count)} - {0, red})
    found: list[int] = []
    for _ in range(count):
        marks = sorted({0, red, *tested, *found})
        gap, low = max(((high - low, low) for low, high in pairwise(marks)))
        if gap < 2:
            break
        found.append(low + gap // 2)
    return sorted(found)


def wider(window: int) -> int:
    """The window after a green landing: twice as many intents may be tested together."""
    return min(WIDEST, window * 2)


def narrower(window: int) -> int:
    """The window after a red candidate: half as many, so that the next bad intent spoils less."""
    return max(NARROWEST, window // 2)


def may_test_together(meets: Mapping[str, Collection[str]], order: Collection[str], window: int) -> list[str]:
    """How many of the queue, from its head, one candidate takes.

    Only an intent that meets another before it (in its places or its imports) fills the window: those that
    meet nobody fail each by its own fault alone, so they may stand in it up to the widest.
    """
    taken: list[str] = []
    filled = 0
    for intent_id in list(order)[:WIDEST]:
        filled += any(other in taken for other in meets.get(intent_id, ()))
        if filled > window:
            break
        taken.append(intent_id)
    return taken
