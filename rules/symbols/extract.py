"""Read one file: its symbols and imports, or a note that says why not. Never raises, whatever the bytes are."""

from collections.abc import Iterator

from tree_sitter import Node, Parser

from protocol.symbols import MOST_IMPORTS, FileSymbols
from rules.symbols.grammar import Imports
from rules.symbols.languages import grammar_of, language_of
from rules.symbols.walk import first_row, last_row, symbols_in

LARGEST = 1024 * 1024
HUGE = "larger than 1 MiB"
BINARY = "binary"
MINIFIED = "minified"
BROKEN = "does not parse"
UNKNOWN = "not in a language whose symbols gitring reads"

_SNIFFED = 8_000
_MINIFIED_FROM = 4_000
_MINIFIED_LINE = 400
_IMPORT_CHARS = 500
_CLIMB = 4
_MOST_WORDS = 10_000


def extract(path: str, content: bytes) -> FileSymbols:
    """The symbols of a file, its language known by the path's ending."""
    language = language_of(path)
    return extract_as(language, content) if language else FileSymbols(language="", note=UNKNOWN)


def extract_as(language: str, content: bytes) -> FileSymbols:
    """The symbols of a content in a language of `LANGUAGES`: the same bytes always give the same answer.

    Time grows with the size on real code. Bytes made to slow a parser down can cost seconds: whoever reads
    strangers' files does it in a process that it can end.
    """
    note = _unreadable(content)
    if note is not None:
        return FileSymbols(language=language, note=note)
    grammar, tables = grammar_of(language)
    root = Parser(tables).parse(content).root_node
    if _is_broken(root):
        return FileSymbols(language=language, note=BROKEN)
    imports, lines = [], []
    for node in _import_nodes(grammar.imports, root, content):
        raw = [one[:_IMPORT_CHARS] for one in grammar.imports.read(node) if one and "\0" not in one]
        imports.extend(raw)
        if raw:
            lines.append((first_row(node) + 1, last_row(node) + 1))
    return FileSymbols(
        language=language,
        symbols=symbols_in(grammar, root),
        imports=list(dict.fromkeys(imports))[:MOST_IMPORTS],
        import_lines=lines,
    )


def _unreadable(content: bytes) -> str | None:
    if len(content) > LARGEST:
        return HUGE
    if b"\0" in content[:_SNIFFED]:
        return BINARY
    if len(content) >= _MINIFIED_FROM and len(content) > _MINIFIED_LINE * (content.count(b"\n") + 1):
        return MINIFIED
    return None


def _is_broken(root: Node) -> bool:
    """True when more than half of the content is in no valid construct."""
    if root.type == "ERROR":
        return True
    if not root.has_error:
        return False
    lost = sum(child.end_byte - child.start_byte for child in root.children if child.is_error)
    return 2 * lost > root.end_byte - root.start_byte


def _import_nodes(imports: Imports, root: Node, content: bytes) -> Iterator[Node]:
    seen: set[int] = set()
    for number, match in enumerate(imports.word.finditer(content)):
        if number >= _MOST_WORDS or len(seen) >= MOST_IMPORTS:
            return
        node = root.descendant_for_byte_range(*match.span(1))
        for _ in range(_CLIMB):
            if node is None or node.type in imports.types:
                break
            node = node.parent
        if node is not None and node.type in imports.types and node.start_byte not in seen:
            seen.add(node.start_byte)
            yield node
