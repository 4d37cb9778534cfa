"""What gitring reads from one source file: its symbols, and what it imports."""

from protocol.wire import Record

SIGNATURE_CHARS = 500
MOST_SYMBOLS = 5_000
MOST_IMPORTS = 2_000


class SymbolInfo(Record):
    """One symbol of a file.

    `name` is dotted (`Cart.add`) and holds no blank and no '#'; several symbols may share it (overloads, a
    property's getter and setter). `signature` is one line without the body. Lines count from 1, both inclusive,
    and take in the comments, decorators and attributes directly above.
    """

    name: str
    kind: str
    signature: str
    exported: bool
    start_line: int
    end_line: int


class FileSymbols(Record):
    """The symbols of one file content, in the order of their first lines.

    `imports` are raw, in the form that `rules.symbols.imports` resolves for that language; `import_lines` are
    where they stand. `note` says why nothing could be read; symbols and imports are then empty.
    """

    language: str
    symbols: list[SymbolInfo] = []
    imports: list[str] = []
    import_lines: list[tuple[int, int]] = []
    note: str | None = None
