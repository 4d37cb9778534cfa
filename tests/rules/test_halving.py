"""Halving: the one that fails is found in few rounds, and no other is blamed."""

from hypothesis import given
from hypothesis import strategies as st

from rules.halving import next_prefixes, verdict


def search(size: int, bad: int | None, slots: int) -> tuple[int, int | None, int]:
    """Run the search against a chain whose member `bad` breaks every prefix that holds it."""
    known: dict[int, bool] = {}
    rounds = 0
    while (found := verdict(size, known)) is None:
        asked = next_prefixes(size, known, slots)
        assert asked and len(asked) <= max(slots, 1)
        assert not set(asked) & known.keys()
        known.update({n: bad is None or n < bad for n in asked})
        rounds += 1
    return found.green, found.blamed, rounds


@given(st.integers(1, 64), st.integers(1, 8))
def test_a_chain_that_is_good_costs_one_run(size: int, slots: int) -> None:
    assert search(size, None, slots) == (size, None, 1)


@given(st.integers(1, 64), st.data(), st.integers(1, 8))
def test_the_one_that_fails_is_found_and_all_before_it_land(
    size: int, data: st.DataObject, slots: int
) -> None:
    bad = data.draw(st.integers(1, size))
    green, blamed, _ = search(size, bad, slots)
    assert (green, blamed) == (bad - 1, bad)


def test_one_bad_among_twenty_is_found_in_three_rounds_on_four_slots() -> None:
    assert max(search(20, bad, 4)[2] for bad in range(1, 21)) == 3


def test_one_bad_among_twenty_is_found_in_six_rounds_on_one_slot() -> None:
    assert max(search(20, bad, 1)[2] for bad in range(1, 21)) == 6


def test_a_green_result_beyond_a_red_one_does_not_save_what_lies_between() -> None:
    assert verdict(4, {4: True, 2: False, 1: True}) == (1, 2)
