"""Places and circles as sentences name them."""

import pytest

from rules.conflict_texts import listed
from rules.order import way


@pytest.mark.parametrize(
    ("places", "shown"),
    [
        (["src/money.ts", "src/money.ts#Money.add"], "src/money.ts"),
        (["src/", "src/a.ts", "src/b.ts#f", "srcs.ts"], "src/, srcs.ts"),
        (["a#f", "a#f.g", "a#fg"], "a#f, a#fg"),
        ([f"f{n}" for n in range(7)], "f0, f1, f2, f3, f4 and 2 more"),
        ([], ""),
    ],
)
def test_a_sentence_names_no_place_inside_the_one_before(places: list[str], shown: str) -> None:
    assert listed(places) == shown


@pytest.mark.parametrize(
    ("start", "goal", "found"),
    [
        ("c", "a", ["c", "b", "a"]),
        ("a", "c", []),
        ("a", "a", ["a"]),
        ("d", "a", ["d", "a"]),
        ("x", "a", []),
    ],
)
def test_the_shortest_way_between_two_intents_is_named(start: str, goal: str, found: list[str]) -> None:
    after = {"c": {"b"}, "b": {"a"}, "d": {"c", "a"}, "e": {"e"}}
    assert way(after, start, goal) == found
