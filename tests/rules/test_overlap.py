"""Ranges of a pair: the lowest that holds, the same from both sides."""

from hypothesis import given
from hypothesis import strategies as st

from rules.overlap import Overlap, Reach, overlap
from rules.places import Place
from tests.rules.test_places import PLACES

REACHES = st.builds(Reach, st.frozensets(PLACES, max_size=4), st.frozensets(PLACES, max_size=4))


def change(*places: Place) -> Reach:
    return Reach(frozenset(places))


def test_two_that_change_one_file_meet_at_range_0() -> None:
    assert overlap(change(Place("a.py")), change(Place("a.py", "Cart"))) == Overlap(
        0, (Place("a.py", "Cart"),)
    )


def test_one_that_uses_what_the_other_changes_meets_it_at_range_1() -> None:
    user = Reach(frozenset({Place("b.py")}), frozenset({Place("a.py", "Cart.add")}))
    assert overlap(user, change(Place("a.py"))) == Overlap(
        1, (Place("a.py", "Cart.add"),), first_uses=True, first_depends=True
    )


def test_a_folder_in_use_or_change_implies_no_dependency() -> None:
    user = Reach(frozenset({Place("b.py")}), frozenset({Place("src/")}))
    found = overlap(user, change(Place("src/a.py")))
    assert found is not None
    assert (found.first_uses, found.first_depends) == (True, False)


def test_two_on_one_place_also_say_who_uses_what_the_other_changes() -> None:
    one = Reach(frozenset({Place("a.py"), Place("b.py")}), frozenset({Place("c.py")}))
    other = Reach(frozenset({Place("a.py"), Place("c.py")}))
    found = overlap(one, other)
    assert found is not None
    assert (found.range, found.first_depends, found.second_depends) == (0, True, False)


def test_two_symbols_of_one_file_meet_at_range_2() -> None:
    assert overlap(change(Place("a.py", "A")), change(Place("a.py", "B"))) == Overlap(2, (Place("a.py"),))


def test_places_apart_do_not_meet() -> None:
    assert overlap(change(Place("a.py")), change(Place("b.py"))) is None


def test_a_shared_file_is_only_added_to_and_brings_no_conflict() -> None:
    shared = (Place("docs/DECISIONS.md"),)
    one, other = change(Place("docs/DECISIONS.md"), Place("a.py")), change(Place("docs/DECISIONS.md"))
    assert overlap(one, other, shared) is None
    assert overlap(one, change(Place("a.py")), shared) == Overlap(0, (Place("a.py"),))


@given(REACHES, REACHES)
def test_a_pair_has_one_range_whichever_of_the_two_is_asked_first(one: Reach, other: Reach) -> None:
    there, back = overlap(one, other), overlap(other, one)
    assert (there is None) == (back is None)
    if there is not None and back is not None:
        assert (there.range, there.places) == (back.range, back.places)
        assert (there.first_uses, there.second_uses) == (back.second_uses, back.first_uses)
        assert (there.first_depends, there.second_depends) == (back.second_depends, back.first_depends)
