"""Who goes first: each rule in its place, one order, and never a circle of holds."""

from itertools import combinations
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from protocol.states import Priority, State
from rules.order import Contender, Order, Pair, decide, decide_last, reaches

A, B, C = "int_1", "int_2", "int_3"


def both(first: dict[str, object], second: dict[str, object], **pair: frozenset[str]) -> Order:
    """The decision between #1 and #2."""
    one = Contender(A, 1, **first)  # type: ignore[arg-type]
    two = Contender(B, 2, **second)  # type: ignore[arg-type]
    return decide({A: one, B: two}, [Pair(A, B, **pair)])[frozenset({A, B})]


@pytest.mark.parametrize(
    ("first", "second", "pair", "rule"),
    [
        ({"depends_on": frozenset({B})}, {}, {}, "R1"),
        ({}, {}, {"depends": frozenset({A})}, "R1a"),
        ({}, {"state": State.QUEUED}, {}, "R2"),
        ({}, {"priority": Priority.HIGH}, {}, "R3"),
        ({}, {}, {"pushed": frozenset({B})}, "R4"),
    ],
)
def test_each_rule_lets_the_higher_number_go_first_and_says_so(
    first: dict[str, object], second: dict[str, object], pair: dict[str, frozenset[str]], rule: str
) -> None:
    assert both(first, second, **pair) == Order(B, A, rule)


def test_when_nothing_else_tells_them_apart_the_lower_number_goes_first() -> None:
    assert both({}, {}) == Order(A, B, "R5")


def test_two_that_each_use_what_the_other_changes_depend_on_neither() -> None:
    assert both({}, {}, depends=frozenset({A, B})).rule == "R5"


def test_an_earlier_rule_outweighs_every_later_one() -> None:
    assert both({"state": State.VERIFYING}, {"priority": Priority.HIGH}, pushed=frozenset({B})).rule == "R2"


def test_a_push_cannot_put_an_intent_before_one_that_it_goes_after_through_others() -> None:
    everyone = {A: Contender(A, 1), B: Contender(B, 2, depends_on=frozenset({A})), C: Contender(C, 3)}
    pairs = [Pair(B, C, depends=frozenset({C})), Pair(A, C, pushed=frozenset({C}))]
    orders = decide(everyone, pairs)
    assert orders[frozenset({B, C})] == Order(B, C, "R1a")
    assert orders[frozenset({A, C})] == Order(A, C, "R1")


def test_of_inferred_dependencies_in_a_circle_the_youngest_is_dropped() -> None:
    everyone = {i: Contender(i, n) for n, i in enumerate((A, B, C), 1)}
    circle = [
        Pair(A, B, depends=frozenset({A})),
        Pair(B, C, depends=frozenset({B})),
        Pair(C, A, depends=frozenset({C})),
    ]
    orders = decide(everyone, circle)
    assert orders[frozenset({A, B})] == Order(B, A, "R1a")
    assert [o.rule for o in orders.values()] == ["R1a"] * 3
    assert sum(o.first == dependency for o, dependency in zip(orders.values(), (B, C, A), strict=False)) >= 1
    assert not _circle(orders.values())


def _circle(orders: object) -> bool:
    waits_on: dict[str, set[str]] = {}
    for order in orders:  # type: ignore[attr-defined]
        waits_on.setdefault(order.second, set()).add(order.first)
    return any(reaches(waits_on, first, second) for second, firsts in waits_on.items() for first in firsts)


@st.composite
def worlds(draw: st.DrawFn) -> tuple[dict[str, Contender], list[Pair]]:
    """Up to seven intents and some of their pairs, with any facts; dependsOn never closes a circle."""
    count = draw(st.integers(2, 7))
    names = [f"int_{n}" for n in range(count)]
    contenders = {}
    for n, name in enumerate(names):
        contenders[name] = Contender(
            name,
            n,
            draw(st.sampled_from([State.ACTIVE, State.HELD, State.QUEUED])),
            draw(st.sampled_from(list(Priority))),
            frozenset(draw(st.sets(st.sampled_from(names[:n]), max_size=2))) if n else frozenset(),
        )
    pairs = []
    for one, other in combinations(names, 2):
        if draw(st.booleans()):
            who = st.frozensets(st.sampled_from([one, other]))
            pairs.append(Pair(one, other, draw(who), draw(who)))
    return contenders, pairs


@given(worlds())
def test_holds_never_wait_on_each_other_in_a_circle(world: tuple[dict[str, Contender], list[Pair]]) -> None:
    contenders, pairs = world
    orders = decide(contenders, pairs)
    assert orders.keys() == {pair.key for pair in pairs}
    declared = [Order(first, c.intent_id, "R1") for c in contenders.values() for first in c.depends_on]
    assert not _circle([*orders.values(), *declared])


@given(worlds(), st.integers())
def test_the_same_records_give_the_same_order_whichever_way_they_are_read(
    world: tuple[dict[str, Contender], list[Pair]], seed: int
) -> None:
    contenders, pairs = world
    chance = Random(seed)
    mixed = [Pair(p.other, p.one, p.depends, p.pushed) if chance.random() < 0.5 else p for p in pairs]
    chance.shuffle(mixed)
    names = list(contenders)
    chance.shuffle(names)
    assert decide({name: contenders[name] for name in names}, mixed) == decide(contenders, pairs)


@given(worlds())
def test_no_pair_goes_against_an_outright_dependency(world: tuple[dict[str, Contender], list[Pair]]) -> None:
    contenders, pairs = world
    for order in decide(contenders, pairs).values():
        assert order.second not in contenders[order.first].depends_on


@given(worlds())
def test_the_short_way_for_the_last_says_what_the_whole_says(
    world: tuple[dict[str, Contender], list[Pair]],
) -> None:
    contenders, pairs = world
    last = max(contenders, key=lambda name: contenders[name].number)
    own = [pair for pair in pairs if last in pair.key]
    short, rest = decide_last(contenders, last, own), [pair for pair in pairs if last not in pair.key]
    if short is not None:
        assert {**decide(contenders, rest), **short} == decide(contenders, pairs)
