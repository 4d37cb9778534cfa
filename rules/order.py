"""Who of two live intents goes first: one order per line, so that holds never wait in a circle.

All pairs that hang together are decided at once, rule by rule and oldest pair first. A decision that would
close a circle with those of stronger rules is turned round, so the verdict follows from the records alone,
in whichever order the intents arrived.
"""

from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from protocol.states import Priority, State

_AHEAD = frozenset({State.QUEUED, State.VERIFYING, State.AWAITING_APPROVAL, State.MERGED})
RULES = ("R1", "R0", "R1a", "R2", "R3", "R4", "R5")


@dataclass(frozen=True)
class Contender:
    """What the order rules know of one intent."""

    intent_id: str
    number: int
    state: State = State.ACTIVE
    priority: Priority = Priority.NORMAL
    depends_on: frozenset[str] = field(default_factory=frozenset)


@dataclass(frozen=True)
class Pair:
    """Two intents that meet: who infers a dependency on the other, who pushed into the overlap, and
    `settled`, the one that a person said goes first."""

    one: str
    other: str
    depends: frozenset[str] = field(default_factory=frozenset)
    pushed: frozenset[str] = field(default_factory=frozenset)
    settled: str | None = None

    @property
    def key(self) -> frozenset[str]:
        """The pair, whichever way round."""
        return frozenset({self.one, self.other})


@dataclass(frozen=True)
class Order:
    """The decision: who goes first, and the rule that said so."""

    first: str
    second: str
    rule: str


def _r1(one: Contender, other: Contender, pair: Pair) -> bool | None:
    """An outright dependency goes first."""
    if other.intent_id in one.depends_on:
        return False
    return True if one.intent_id in other.depends_on else None


def _r0(one: Contender, other: Contender, pair: Pair) -> bool | None:
    """Whom a person said goes first, unless an outright dependency says otherwise."""
    return None if pair.settled is None else pair.settled == one.intent_id


def _r1a(one: Contender, other: Contender, pair: Pair) -> bool | None:
    """The intent whose change the other uses goes first, unless each uses the other's."""
    return _by_fact(other.intent_id in pair.depends, one.intent_id in pair.depends)


def _r2(one: Contender, other: Contender, pair: Pair) -> bool | None:
    """Queued or verifying before not."""
    return _by_fact(one.state in _AHEAD, other.state in _AHEAD)


def _r3(one: Contender, other: Contender, pair: Pair) -> bool | None:
    """High priority before normal."""
    return _by_fact(one.priority is Priority.HIGH, other.priority is Priority.HIGH)


def _r4(one: Contender, other: Contender, pair: Pair) -> bool | None:
    """Who has pushed code into the overlap before who has not."""
    return _by_fact(one.intent_id in pair.pushed, other.intent_id in pair.pushed)


def _r5(one: Contender, other: Contender, pair: Pair) -> bool:
    """The lower number first."""
    return one.number < other.number


def _by_fact(one: bool, other: bool) -> bool | None:
    return None if one == other else one


_TESTS = (_r1, _r0, _r1a, _r2, _r3, _r4, _r5)


def reaches(waits_on: Mapping[str, Iterable[str]], start: str, goal: str) -> bool:
    """True when `start` goes, directly or through others, after `goal`."""
    seen, stack = set[str](), [start]
    while stack:
        here = stack.pop()
        if here == goal:
            return True
        if here not in seen:
            seen.add(here)
            stack.extend(waits_on.get(here, ()))
    return False


def way(waits_on: Mapping[str, Iterable[str]], start: str, goal: str) -> list[str]:
    """A shortest way from `start` to `goal` along what each goes after, both ends included; empty when there is none."""
    came_from: dict[str, str | None] = {start: None}
    queue = deque([start])
    while queue:
        here = queue.popleft()
        if here == goal:
            return _back(came_from, goal)
        for before in sorted(waits_on.get(here, ())):
            if before not in came_from:
                came_from[before] = here
                queue.append(before)
    return []


def _back(came_from: Mapping[str, str | None], goal: str) -> list[str]:
    steps: list[str] = []
    here: str | None = goal
    while here is not None:
        steps.append(here)
        here = came_from[here]
    return steps[::-1]


class _Graph:
    """Who goes after whom so far. Ancestors are bit sets, so that a pair of a thousand is one look.

    An edge that follows from others is not kept: the ways that are left say the same.
    """

    def __init__(self, names: Iterable[str]) -> None:
        self._bit = {name: 1 << place for place, name in enumerate(sorted(names))}
        self._ancestors = dict.fromkeys(self._bit, 0)
        self._after: dict[str, dict[str, int]] = {}

    def goes_after(self, second: str, first: str) -> bool:
        """True when `second` goes, directly or through others, after `first`."""
        return bool(self._ancestors[second] & self._bit[first])

    def add(self, first: str, second: str, rank: int) -> None:
        """Let `second` go after `first`, by the rule of this rank."""
        if self.goes_after(second, first):
            return
        self._after.setdefault(second, {})[first] = rank
        gained = self._ancestors[first] | self._bit[first]
        here = self._bit[second]
        for name, ancestors in self._ancestors.items():
            if name == second or ancestors & here:
                self._ancestors[name] = ancestors | gained

    def strongest(self, second: str, first: str) -> int:
        """The strongest rule on some way from `second` back to `first`."""
        best: dict[str, int] = {second: len(RULES)}
        stack = [second]
        while stack:
            here = stack.pop()
            for before, rank in self._after.get(here, {}).items():
                reached = min(best[here], rank)
                if reached < best.get(before, len(RULES) + 1):
                    best[before] = reached
                    stack.append(before)
        return best[first]


def decide(contenders: Mapping[str, Contender], pairs: Sequence[Pair]) -> dict[frozenset[str], Order]:
    """The order of every pair. `contenders` may hold intents that only stand between others by `dependsOn`."""
    graph = _Graph(contenders)
    for name in sorted(contenders):
        for first in sorted(contenders[name].depends_on & contenders.keys()):
            graph.add(first, name, 0)
    decided: dict[frozenset[str], Order] = {}
    for rank, _, _, first, second in sorted(_wish(contenders, pair) for pair in pairs):
        if graph.goes_after(first, second):
            first, second, rank = second, first, graph.strongest(first, second)
        graph.add(first, second, rank)
        decided[frozenset({first, second})] = Order(first, second, RULES[rank])
    return decided


def decide_last(
    contenders: Mapping[str, Contender], last: str, pairs: Sequence[Pair]
) -> dict[frozenset[str], Order] | None:
    """What `decide` says of `last`'s own pairs when it goes after all whom it meets; None when it does not.

    An intent that nobody goes after closes no circle and turns nobody's order round, so the other pairs need
    not be asked: this is what a thousand declares in one place cost.
    """
    if any(last in contender.depends_on for contender in contenders.values()):
        return None
    decided: dict[frozenset[str], Order] = {}
    for rank, _, _, first, second in (_wish(contenders, pair) for pair in pairs):
        if second != last:
            return None
        decided[frozenset({first, second})] = Order(first, second, RULES[rank])
    return decided


def _wish(contenders: Mapping[str, Contender], pair: Pair) -> tuple[int, int, int, str, str]:
    """What the first rule that tells the two apart says; sorts by rule, then the oldest of the younger ones.

    Of one younger intent the nearest elder comes first: what stands before that one then follows by itself.
    """
    one, other = contenders[pair.one], contenders[pair.other]
    low, high = sorted((one.number, other.number))
    for rank, test in enumerate(_TESTS):
        says = test(one, other, pair)
        if says is not None:
            first, second = (one, other) if says else (other, one)
            return rank, high, -low, first.intent_id, second.intent_id
    raise AssertionError("R5 tells any two apart")
