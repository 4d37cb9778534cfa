"""Other people's text on a terminal."""

from hypothesis import given
from hypothesis import strategies as st

from cli.clean import lines_of, one_line


@given(st.text(max_size=300), st.integers(min_value=2, max_value=100))
def test_one_line_is_printable_and_bounded(text: str, limit: int) -> None:
    shown = one_line(text, limit)
    assert shown.isprintable()
    assert len(shown) <= limit


@given(st.text(alphabet=st.characters(categories=["L", "N", "P"]), max_size=50))
def test_plain_text_stays_as_it_is(text: str) -> None:
    assert one_line(text) == text


def test_every_kind_of_line_end_ends_a_line() -> None:
    assert lines_of("a\r\nb\u2028c\x1b[1md") == ["a", "b", "c\ufffd[1md"]
