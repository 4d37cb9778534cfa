"""Reading a file never fails, whatever its bytes are."""

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from protocol.symbols import MOST_IMPORTS, MOST_SYMBOLS, SIGNATURE_CHARS, FileSymbols
from rules.symbols import extract as reading
from rules.symbols.extract import LARGEST, extract, extract_as
from rules.symbols.languages import LANGUAGES
from tests.rules.symbols.samples import SAMPLES

ALL = sorted(LANGUAGES)


def check(found: FileSymbols, content: bytes) -> None:
    """What holds for every answer."""
    lines = content.count(b"\n") + 1
    starts = [one.start_line for one in found.symbols]
    assert starts == sorted(starts)
    for one in found.symbols:
        assert 1 <= one.start_line <= one.end_line <= lines
        assert len(one.signature) <= SIGNATURE_CHARS
        assert "\n" not in one.signature
        assert one.name and not any(char.isspace() or char == "#" for char in one.name)
    assert all(1 <= first <= last <= lines for first, last in found.import_lines)
    assert len(found.symbols) <= MOST_SYMBOLS and len(found.imports) <= MOST_IMPORTS
    if found.note:
        assert not found.symbols and not found.imports
    assert "\\u0000" not in found.model_dump_json()
    found.model_dump_json().encode()


@settings(deadline=None)
@given(st.sampled_from(ALL), st.binary(max_size=400))
def test_any_bytes_are_read_without_an_error(language, content):
    check(extract_as(language, content), content)


@settings(deadline=None)
@given(st.sampled_from(ALL), st.floats(0, 1), st.floats(0, 1), st.binary(max_size=6))
def test_any_part_of_a_real_file_is_read_without_an_error(language, start, end, inserted):
    source = SAMPLES[language].source.encode()
    first, last = sorted((int(start * len(source)), int(end * len(source))))
    content = source[:first] + inserted + source[last:]
    check(extract_as(language, content), content)


@settings(deadline=None)
@given(st.sampled_from(ALL), st.randoms(use_true_random=False))
def test_words_of_a_language_in_any_order_are_read_without_an_error(language, chance: random.Random):
    words = SAMPLES[language].source.encode().split()
    content = b"".join(chance.choice(words) + chance.choice([b" ", b"\n"]) for _ in range(150))
    check(extract_as(language, content), content)


@pytest.mark.parametrize(
    ("content", "note"),
    [
        (b"x = 1\n" * (LARGEST // 6 + 1), reading.HUGE),
        (b"def f():\n  pass\n\0", reading.BINARY),
        (b"var a=" + b"1;" * 4_000, reading.MINIFIED),
        (b"((((" * 50, reading.BROKEN),
    ],
)
def test_what_cannot_be_read_gets_a_note_and_nothing_else(content, note):
    assert extract("a.py", content) == FileSymbols(language="python", note=note)


def test_a_file_in_no_known_language_gets_a_note():
    assert extract("README.md", b"# def f(): pass") == FileSymbols(language="", note=reading.UNKNOWN)


def test_a_file_with_a_mistake_in_it_still_shows_its_other_symbols():
    found = extract("a.py", b"def f(): return 1\n\ndef broken(:\n    pass\n\ndef g(): return 2\n")
    assert found.note is None
    assert {"f", "g"} <= {one.name for one in found.symbols}


def test_a_file_of_very_many_symbols_shows_the_first_5000():
    found = extract("a.py", b"".join(b"def f%d(): pass\n" % n for n in range(6_000)))
    assert len(found.symbols) == 5_000
    assert found.symbols[-1].name == "f4999"


def test_deep_nesting_ends_somewhere():
    source = b"".join(b"  " * n + b"class A:\n" for n in range(300)) + b"  " * 300 + b"pass\n"
    check(extract("a.py", source), source)
