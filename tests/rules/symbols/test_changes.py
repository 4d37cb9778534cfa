"""From changed lines to symbols, and from two files to the signatures that differ."""

from hypothesis import given, settings
from hypothesis import strategies as st

from protocol.symbols import FileSymbols, SymbolInfo
from rules.symbols.changes import SignatureChange, changed_signatures, changed_symbols
from rules.symbols.extract import extract

CART = """import a
import b

X = 1
Y = 2

class Cart:
    size = 3

    def add(self):
        return 1

    def drop(self):
        return 2


print(X)
"""


def cart(source: str = CART) -> FileSymbols:
    return extract("cart.py", source.encode())


def touched(*lines: tuple[int, int]) -> set[str]:
    return changed_symbols(None, cart(), [], lines)


def test_a_line_belongs_to_the_innermost_symbol_that_holds_it():
    assert touched((11, 11)) == {"Cart.add"}
    assert touched((7, 7)) == {"Cart"}
    assert touched((8, 8)) == {"Cart.size"}


def test_lines_of_several_symbols_belong_to_each():
    assert touched((4, 5)) == {"X", "Y"}
    assert touched((11, 14)) == {"Cart.add", "Cart", "Cart.drop"}


def test_a_line_outside_of_every_symbol_belongs_to_the_file():
    assert touched((17, 17)) == {""}
    assert touched((4, 4), (17, 17)) == {"X", ""}
    assert touched((400, 410)) == {""}


def test_an_import_beside_another_change_says_nothing_of_its_own():
    assert touched((1, 2), (11, 11)) == {"Cart.add"}
    assert touched((1, 2)) == {""}


def test_both_sides_count():
    new = cart(CART.replace("    def drop(self):\n        return 2\n", "    def take(self): return 3\n"))
    assert changed_symbols(cart(), new, [(13, 14)], [(13, 13)]) == {"Cart.drop", "Cart.take"}


def test_nothing_changed_is_nothing():
    assert changed_symbols(cart(), cart(), [], []) == set()


def test_a_side_that_cannot_be_read_counts_as_the_whole_file():
    unread = FileSymbols(language="python", note="binary")
    assert changed_symbols(unread, cart(), [(1, 9)], [(11, 11)]) == {"", "Cart.add"}


def test_symbols_that_share_a_line_are_all_meant():
    found = extract("a.ts", b"export interface Shape { area(): number; name: string }")
    assert changed_symbols(None, found, [], [(1, 1)]) == {"Shape", "Shape.area", "Shape.name"}
    meeting = extract("a.js", b"function a() {\n} function b() {\n}\n")
    assert changed_symbols(None, meeting, [], [(2, 2)]) == {"a", "b"}


spans = st.tuples(st.integers(1, 30), st.integers(0, 20)).map(lambda pair: (pair[0], pair[0] + pair[1]))


@settings(deadline=None)
@given(st.lists(spans, max_size=8), st.lists(spans, max_size=3), st.lists(spans, max_size=4))
def test_owners_are_those_that_a_look_at_each_line_finds(symbols, imports, lines):
    infos = [
        SymbolInfo(name=f"s{n}", kind="function", signature="", exported=True, start_line=a, end_line=b)
        for n, (a, b) in enumerate(symbols)
    ]
    file = FileSymbols(language="python", symbols=infos, import_lines=imports)
    expected = set()
    for line in {line for first, last in lines for line in range(first, last + 1)}:
        over = [one for one in infos if one.start_line <= line <= one.end_line]
        spans_over = {(one.start_line, one.end_line) for one in over}
        inner = {
            one.name
            for one in over
            if not any(
                (a, b) != (one.start_line, one.end_line) and one.start_line <= a and b <= one.end_line
                for a, b in spans_over
            )
        }
        silent = any(first <= line <= last for first, last in imports)
        expected |= inner or (set() if silent else {""})
    assert changed_symbols(None, file, [], lines) == (expected or ({""} if lines else set()))


def test_an_exported_signature_that_changed_is_named_with_both_forms():
    old = cart("def f(a): pass\ndef _g(a): pass\ndef same(): pass\nK: int = 1\n")
    new = cart("def f(a, b): pass\ndef _g(): pass\ndef same(): return 1\nK: str = ''\n")
    assert changed_signatures(old, new) == [
        SignatureChange("K", "K: int", "K: str"),
        SignatureChange("f", "def f(a)", "def f(a, b)"),
    ]


def test_what_is_gone_or_no_longer_exported_is_named():
    old = cart("__all__ = ['f', 'g']\ndef f(): pass\ndef g(): pass\n")
    assert changed_signatures(old, cart("__all__ = ['g']\ndef f(): pass\ndef g(): pass\n")) == [
        SignatureChange("f", "def f()", None)
    ]
    assert [change.name for change in changed_signatures(old, None)] == ["f", "g"]


def test_a_further_overload_changes_nothing_and_a_lost_one_does():
    one = extract("A.java", b"public class A { public void f(int a) {} }")
    two = extract("A.java", b"public class A { public void f(int a) {} public void f(long a) {} }")
    assert changed_signatures(one, two) == []
    assert [change.was for change in changed_signatures(two, one)] == ["public void f(long a)"]


def test_nothing_is_said_of_files_that_could_not_be_read():
    unread = FileSymbols(language="python", note="binary")
    assert changed_signatures(cart(), unread) == []
    assert changed_signatures(unread, cart()) == []
