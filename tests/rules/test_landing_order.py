"""The order in which queued intents may land."""

from hypothesis import given
from hypothesis import strategies as st

from rules.landing_order import landing_order


@st.composite
def queues(draw: st.DrawFn) -> tuple[list[str], dict[str, set[str]]]:
    """A queue and what its intents go after: others of the queue, and some that are not in it."""
    names = [f"i{n}" for n in range(draw(st.integers(0, 12)))]
    queued = draw(st.permutations(names))
    anyone = st.sampled_from([*names, "absent"])
    return list(queued), {name: draw(st.sets(anyone, max_size=3)) for name in names}


@given(queues())
def test_every_beginning_of_the_order_holds_all_that_its_intents_go_after(
    given_queue: tuple[list[str], dict[str, set[str]]],
) -> None:
    queued, goes_after = given_queue
    order = landing_order(queued, goes_after)
    assert len(set(order)) == len(order) and set(order) <= set(queued)
    for place, intent in enumerate(order):
        assert goes_after[intent] <= set(order[:place])


@given(queues())
def test_only_those_that_must_wait_are_left_out(given_queue: tuple[list[str], dict[str, set[str]]]) -> None:
    queued, goes_after = given_queue
    order = landing_order(queued, goes_after)
    for intent in set(queued) - set(order):
        assert not goes_after[intent] <= set(order)


@given(st.permutations([f"i{n}" for n in range(8)]))
def test_a_queue_without_dependencies_keeps_its_order(queued: list[str]) -> None:
    assert landing_order(queued, {}) == list(queued)


def test_a_dependent_that_was_queued_first_lands_right_behind_what_it_goes_after() -> None:
    goes_after = {"top": {"middle"}, "middle": {"base"}}
    assert landing_order(["top", "middle", "other", "base"], goes_after) == ["other", "base", "middle", "top"]
    assert landing_order(["top", "middle", "other"], goes_after) == ["other"]
