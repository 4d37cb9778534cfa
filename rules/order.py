"""Who of two live intents goes first: named rules in order, one total order per line (`docs/rules.md`).

The rules are asked one after the other; the first that tells the two apart decides. Because every rule
but R4 compares one fact of each intent, holds can only close a circle through R4; `goes_first` therefore
takes the holds that stand already and never adds one against them.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

from protocol.states import Priority, State

_AHEAD = frozenset({State.QUEUED, State.VERIFYING, State.AWAITING_APPROVAL, State.MERGED})


@dataclass(frozen=True)
class Contender:
    """What the order rules know of one intent."""

    intent_id: str
    number: int
    state: State
    priority: Priority = Priority.NORMAL
    depends_on: frozenset[str] = field(default_factory=frozenset)
    uses_other: bool = False
    pushed_into_overlap: bool = False


@dataclass(frozen=True)
class Order:
    """The decision: who goes first, and the rule that said so."""

    first: str
    second: str
    rule: str


def _r1(one: Contender, other: Contender) -> bool | None:
    """An outright dependency goes first."""
    if other.intent_id in one.depends_on:
        return False
    return True if one.intent_id in other.depends_on else None


def _r1a(one: Contender, other: Contender) -> bool | None:
    """The intent whose change the other uses goes first, unless each uses the other's."""
    if one.uses_other == other.uses_other:
        return None
    return other.uses_other


def _r2(one: Contender, other: Contender) -> bool | None:
    """Queued or verifying before not."""
    ahead = (one.state in _AHEAD, other.state in _AHEAD)
    return None if ahead[0] == ahead[1] else ahead[0]


def _r3(one: Contender, other: Contender) -> bool | None:
    """High priority before normal."""
    high = (one.priority is Priority.HIGH, other.priority is Priority.HIGH)
    return None if high[0] == high[1] else high[0]


def _r4(one: Contender, other: Contender) -> bool | None:
    """Who has pushed code into the overlap before who has not."""
    pushed = (one.pushed_into_overlap, other.pushed_into_overlap)
    return None if pushed[0] == pushed[1] else pushed[0]


def _r5(one: Contender, other: Contender) -> bool:
    """The lower number first."""
    return one.number < other.number


RULES = (("R1", _r1), ("R1a", _r1a), ("R2", _r2), ("R3", _r3), ("R4", _r4), ("R5", _r5))


def reaches(waits_on: Mapping[str, set[str]], start: str, goal: str) -> bool:
    """True when `start` waits, directly or through others, on `goal`."""
    seen, stack = set[str](), [start]
    while stack:
        here = stack.pop()
        if here == goal:
            return True
        if here not in seen:
            seen.add(here)
            stack.extend(waits_on.get(here, ()))
    return False


def goes_first(one: Contender, other: Contender, waits_on: Mapping[str, set[str]]) -> Order:
    """Decide a pair. `waits_on` maps each intent to those it already goes after."""
    if reaches(waits_on, other.intent_id, one.intent_id):
        forced: str | None = one.intent_id
    elif reaches(waits_on, one.intent_id, other.intent_id):
        forced = other.intent_id
    else:
        forced = None
    for name, rule in RULES:
        says = rule(one, other)
        if says is None:
            continue
        first = one.intent_id if says else other.intent_id
        if forced is not None and first != forced:
            continue
        second = other.intent_id if first == one.intent_id else one.intent_id
        return Order(first, second, name)
    # No rule agrees with what stands; what stands wins, so that no circle closes.
    second = other.intent_id if forced == one.intent_id else one.intent_id
    return Order(forced or one.intent_id, second, "R1")
