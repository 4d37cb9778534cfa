"""Who goes first: each rule in its place, and never a circle of holds."""

from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from protocol.states import Priority, State
from rules.order import Contender, goes_first, reaches

FIRST, SECOND = "int_1", "int_2"


def pair(
    first: dict[str, object] | None = None, second: dict[str, object] | None = None
) -> tuple[Contender, Contender]:
    one = {"intent_id": FIRST, "number": 1, "state": State.ACTIVE, **(first or {})}
    two = {"intent_id": SECOND, "number": 2, "state": State.ACTIVE, **(second or {})}
    return Contender(**one), Contender(**two)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("first", "second", "rule"),
    [
        ({"depends_on": frozenset({SECOND})}, {}, "R1"),
        ({"uses_other": True}, {}, "R1a"),
        ({}, {"state": State.QUEUED}, "R2"),
        ({}, {"priority": Priority.HIGH}, "R3"),
        ({}, {"pushed_into_overlap": True}, "R4"),
    ],
)
def test_each_rule_lets_the_higher_number_go_first_and_says_so(
    first: dict[str, object], second: dict[str, object], rule: str
) -> None:
    one, two = pair(first, second)
    order = goes_first(one, two, {})
    assert (order.first, order.second, order.rule) == (SECOND, FIRST, rule)


def test_when_nothing_else_tells_them_apart_the_lower_number_goes_first() -> None:
    one, two = pair()
    order = goes_first(two, one, {})
    assert (order.first, order.rule) == (FIRST, "R5")


def test_two_that_each_use_what_the_other_changes_depend_on_neither() -> None:
    one, two = pair({"uses_other": True}, {"uses_other": True})
    assert goes_first(one, two, {}).rule == "R5"


def test_an_earlier_rule_outweighs_every_later_one() -> None:
    one, two = pair({"state": State.VERIFYING}, {"priority": Priority.HIGH, "pushed_into_overlap": True})
    assert goes_first(one, two, {}).rule == "R2"


def test_a_hold_that_stands_is_never_answered_by_a_hold_against_it() -> None:
    one, two = pair({}, {"pushed_into_overlap": True})
    order = goes_first(one, two, {SECOND: {"int_3"}, "int_3": {FIRST}})
    assert order.first == FIRST


FACTS = st.builds(
    lambda state, priority, pushed: {"state": state, "priority": priority, "pushed_into_overlap": pushed},
    st.sampled_from([State.ACTIVE, State.QUEUED]),
    st.sampled_from(list(Priority)),
    st.booleans(),
)


@given(st.lists(FACTS, min_size=2, max_size=6), st.randoms(use_true_random=False))
def test_holds_never_wait_on_each_other_in_a_circle(facts: list[dict[str, object]], chance: object) -> None:
    """Pairs are decided one by one, in any order, each with facts of its own (a push lies in one overlap only)."""
    everyone = [Contender(intent_id=f"int_{n}", number=n, **fact) for n, fact in enumerate(facts)]  # type: ignore[arg-type]
    pairs = list(combinations(everyone, 2))
    chance.shuffle(pairs)  # type: ignore[attr-defined]
    waits_on: dict[str, set[str]] = {}
    for one, other in pairs:
        flipped = Contender(**{**one.__dict__, "pushed_into_overlap": chance.random() < 0.5})  # type: ignore[attr-defined]
        order = goes_first(flipped, other, waits_on)
        waits_on.setdefault(order.second, set()).add(order.first)
    for contender in everyone:
        for first in waits_on.get(contender.intent_id, ()):
            assert not reaches(waits_on, first, contender.intent_id)
