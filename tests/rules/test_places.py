"""Places: what is refused, what covers what, and when two meet."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from protocol.scopes import ScopeItem
from rules.places import Place, ancestors, covers, meet, narrower, parse_place

NAMES = st.sampled_from(["a", "b", "src", "x.py"])
PATHS = st.lists(NAMES, min_size=1, max_size=4).map("/".join)
PLACES = st.one_of(
    PATHS.map(Place),
    PATHS.map(lambda path: Place(path + "/")),
    st.builds(Place, PATHS, st.sampled_from(["Cart", "Cart.add", "Cart.add.inner", "Carts"])),
)


@pytest.mark.parametrize(
    "path",
    [
        "",
        "/etc/passwd",
        "../up",
        "a/../b",
        ".git/config",
        "a/.GIT/x",
        "a\\b",
        "a\nb",
        "a//b",
        "./",
        "x" * 4097,
    ],
)
def test_a_path_that_leaves_the_repository_or_cannot_be_one_is_refused(path: str) -> None:
    with pytest.raises(ValidationError, match="a path"):
        ScopeItem(path=path)


@pytest.mark.parametrize("symbol", ["", "a b", "a#b", "a\nb", "x" * 401])
def test_a_symbol_that_is_no_single_word_is_refused(symbol: str) -> None:
    with pytest.raises(ValidationError, match="a symbol"):
        ScopeItem(path="a.py", symbol=symbol)


def test_a_leading_dot_slash_names_the_same_place() -> None:
    assert ScopeItem(path="./src/cart.py").path == "src/cart.py"


@pytest.mark.parametrize(
    ("outer", "inner"),
    [
        (Place("src/"), Place("src/cart.py")),
        (Place("src/"), Place("src/deep/")),
        (Place("src/cart.py"), Place("src/cart.py", "Cart")),
        (Place("src/cart.py", "Cart"), Place("src/cart.py", "Cart.add")),
    ],
)
def test_a_folder_covers_its_files_a_file_its_symbols_a_symbol_its_members(
    outer: Place, inner: Place
) -> None:
    assert covers(outer, inner)
    assert not covers(inner, outer)
    assert narrower(outer, inner) == inner == narrower(inner, outer)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (Place("src/cart.py", "Cart"), Place("src/cart.py", "Carts")),
        (Place("src/"), Place("srcs/a.py")),
        (Place("src/cart.py"), Place("src/cart.pyi")),
        (Place("a.py", "Cart"), Place("b.py", "Cart")),
    ],
)
def test_places_that_only_look_alike_do_not_meet(one: Place, other: Place) -> None:
    assert not meet(one, other)


@given(
    st.builds(
        Place, st.one_of(PATHS, st.sampled_from(["a#b.py", "#", "a#"])), st.sampled_from(["", "Cart.add"])
    )
)
def test_the_text_of_a_place_reads_back_as_the_place(place: Place) -> None:
    assert parse_place(place.text) == place


@given(PLACES, PLACES)
def test_meeting_is_symmetric_and_seen_in_the_ancestors_that_the_record_indexes(
    one: Place, other: Place
) -> None:
    assert meet(one, other) == meet(other, one)
    if meet(one, other):
        assert one.path in ancestors(other.path) or other.path in ancestors(one.path)


@given(PLACES, PLACES, PLACES)
def test_covering_is_transitive(one: Place, two: Place, three: Place) -> None:
    if covers(one, two) and covers(two, three):
        assert covers(one, three)
