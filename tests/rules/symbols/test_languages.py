"""What is read from a small file of each language."""

import pytest

from protocol.symbols import FileSymbols
from rules.symbols.extract import extract
from rules.symbols.languages import LANGUAGES, language_of
from tests.rules.symbols.samples import SAMPLES


def shown(found: FileSymbols) -> list[str]:
    """Each symbol on a line, as in the samples."""
    return [
        f"{one.start_line}-{one.end_line} {'+' if one.exported else '-'} {one.kind} {one.name} | {one.signature}"
        for one in found.symbols
    ]


def signatures(path: str, source: str) -> dict[str, str]:
    return {one.name: one.signature for one in extract(path, source.encode()).symbols}


@pytest.mark.parametrize("language", sorted(LANGUAGES))
def test_symbols_and_imports_of_a_small_file(language):
    sample = SAMPLES[language]
    found = extract(sample.path, sample.source.encode())

    assert found.language == language
    assert found.note is None
    assert shown(found) == sample.symbols.strip().splitlines()
    assert found.imports == sample.imports


@pytest.mark.parametrize("language", sorted(LANGUAGES))
def test_import_lines_stand_where_the_imports_are(language):
    sample = SAMPLES[language]
    lines = sample.source.splitlines()
    found = extract(sample.path, sample.source.encode())

    assert found.import_lines
    for first, last in found.import_lines:
        text = "\n".join(lines[first - 1 : last])
        assert any(
            word in text for word in ("import", "from", "use", "mod", "require", "include", "using", '"')
        )


@pytest.mark.parametrize(
    ("path", "one", "other", "name"),
    [
        ("a.py", "def f(a, b=1): pass", "def f(\n    a,\n    b=1,  # why\n):\n    return 2\n", "f"),
        ("a.py", "@old\ndef f(): pass", "@new(1)\n# more\ndef f(): return 1", "f"),
        ("a.ts", "export function f(a: A, b: B): C {}", "export function f(\n  a: A,\n  b: B,\n): C { x() }", "f"),
        ("a.go", "package a\nfunc F(a int, b int) int { return 1 }", "package a\nfunc F(\n\ta int,\n\tb int,\n) int {\n}", "F"),
        ("A.java", "class A { public int f(int a) { return 1; } }", "class A { @Fast public int f(\n  int a\n) { } }", "A.f"),
        ("a.py", "LIMIT: int = 3", "LIMIT: int = 4", "LIMIT"),
        ("a.ts", "export const add = (a: A): B => a", "export const add = (a: A): B => { return b; }", "add"),
    ],
)  # fmt: skip
def test_a_signature_does_not_depend_on_layout_body_or_value(path, one, other, name):
    assert signatures(path, one)[name] == signatures(path, other)[name]


def test_a_long_signature_is_cut_at_500_characters():
    found = signatures("a.py", f"def f({', '.join(f'argument_{n}' for n in range(200))}): pass")["f"]
    assert len(found) == 500
    assert found.endswith("…")


def test_what_stands_directly_above_belongs_to_the_symbol_and_what_stands_apart_does_not():
    source = "# licence\n\n# about f\n# more\ndef f(): pass\ng = 1  # about g\n# about h\ndef h(): pass\n"
    found = {one.name: (one.start_line, one.end_line) for one in extract("a.py", source.encode()).symbols}
    assert found == {"f": (3, 5), "g": (6, 6), "h": (7, 8)}


def test_names_that_no_place_could_carry_are_left_out_or_made_plain():
    source = "class A { 'two words'() {} #own = 1; ['x' + 'y']() {} }"
    assert list(signatures("a.js", source)) == ["A", "A.twowords", "A.own", "A.['x'+'y']"]
    assert list(signatures("a.js", f"class A {{ {'x' * 500}() {{}} ok() {{}} }}")) == ["A", "A.ok"]


def test_python_without_a_list_of_names_exports_what_has_no_underscore():
    found = extract(
        "a.py", b"def f(): pass\ndef _g(): pass\nclass A:\n    def __init__(self): pass\n"
    ).symbols
    assert [(one.name, one.exported) for one in found] == [
        ("f", True),
        ("_g", False),
        ("A", True),
        ("A.__init__", True),
    ]


def test_members_of_what_is_not_exported_are_not_exported():
    found = extract("a.ts", b"class A { f() {} }\nexport class B { f() {} private g() {} }").symbols
    assert [one.name for one in found if one.exported] == ["B", "B.f"]


def test_a_file_is_known_by_its_ending():
    assert language_of("src/a.test.TSX") == "tsx"
    assert language_of("a.h") == "cpp"
    assert [language_of(path) for path in ("py", "a", "README.md", "dir.py/a", ".py.txt")] == [None] * 5
