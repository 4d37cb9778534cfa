"""Places and scopes as callers write them (rules: `docs/rules.md`, Places)."""

from typing import Annotated

from pydantic import AfterValidator, Field, StringConstraints

from protocol.wire import Input

PATH_BYTES = 4096
SYMBOL_CHARS = 400


def checked_path(path: str) -> str:
    """`path` in its one canonical form, or a `ValueError` that says what is wrong with it."""
    if path.startswith("./"):
        path = path[2:]
    if not path:
        raise ValueError("a path may not be empty; name a file or a folder from the repository root")
    if len(path.encode()) > PATH_BYTES:
        raise ValueError(f"a path may not be longer than {PATH_BYTES} bytes")
    if path.startswith("/"):
        raise ValueError("a path starts at the repository root, without a leading slash")
    if "\\" in path:
        raise ValueError("a path uses forward slashes, no backslash")
    if any(ord(char) < 32 or ord(char) == 127 for char in path):
        raise ValueError("a path may not hold control characters")
    parts = path.removesuffix("/").split("/")
    if any(part in ("", ".", "..") for part in parts):
        raise ValueError("a path may not hold '.', '..' or an empty part")
    if any(part.lower() == ".git" for part in parts):
        raise ValueError("a path may not enter .git")
    return path


def checked_symbol(symbol: str) -> str:
    """`symbol` if it is one line of sensible length, else a `ValueError`."""
    if not symbol or len(symbol) > SYMBOL_CHARS:
        raise ValueError(f"a symbol has 1 to {SYMBOL_CHARS} characters")
    if any(not char.isprintable() or char.isspace() or char == "#" for char in symbol):
        raise ValueError("a symbol holds no spaces, '#' or control characters")
    return symbol


Path = Annotated[
    str,
    # A file name may well end in a space.
    StringConstraints(strip_whitespace=False),
    AfterValidator(checked_path),
    Field(description="From the repository root; a folder ends in '/'."),
]
Symbol = Annotated[
    str,
    AfterValidator(checked_symbol),
    Field(description="A symbol of that file, members with dots: Cart.total."),
]


class ScopeItem(Input):
    """One place: a file, a folder (`src/`), or a symbol of a file."""

    path: Path
    symbol: Symbol | None = None

    @property
    def text(self) -> str:
        """The place as texts write it: `path` or `path#symbol`."""
        return f"{self.path}#{self.symbol}" if self.symbol else self.path


class Scope(Input):
    """What an intent will change, and what it uses without changing it."""

    change: Annotated[list[ScopeItem], Field(max_length=500, description="Places the work will change.")] = []
    use: Annotated[
        list[ScopeItem], Field(max_length=500, description="Places the work relies on unchanged.")
    ] = []
