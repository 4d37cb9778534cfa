"""Which files a check with `paths` reads: folders, files and simple globs.

`src/` is the folder and all below it, `Makefile` that one file. In a glob `*` is any run of characters within one name,
`?` one of them, and a part that is `**` any number of folders, at most twice. A glob that ends in '/' is a folder. All
else is literal. Matching takes no longer than the square of a path's length, whatever the path.
"""

import re
from collections.abc import Callable, Sequence

MOST_DEEP = 2
_WILD = re.compile(r"[*?]")


def is_too_deep(path: str) -> bool:
    """Whether a glob goes through "any number of folders" too often."""
    return path.removesuffix("/").split("/").count("**") > MOST_DEEP


def literal_part(path: str) -> str:
    """The file, or the folder without its slash, above the first wildcard; '' is the whole tree."""
    wild = _WILD.search(path)
    if wild is None:
        return path.removesuffix("/")
    return path[: wild.start()].rpartition("/")[0]


def matcher(paths: Sequence[str]) -> Callable[[str], bool]:
    """Whether one of `paths` covers a file of the tree."""
    pattern = re.compile("|".join(f"(?:{_pattern(path)})" for path in paths), re.DOTALL)
    return lambda path: pattern.fullmatch(path) is not None


def _pattern(path: str) -> str:
    parts = path.removesuffix("/").split("/")
    below = ".+" if path.endswith("/") else ""
    text = "".join(_part(part, last=at == len(parts) - 1) for at, part in enumerate(parts))
    return f"{text}/{below}" if below and parts[-1] != "**" else text + below


def _part(part: str, last: bool) -> str:
    if part == "**":
        return ".*" if last else "(?:[^/]+/)*"
    first, *more = (_literal(text) for text in re.split(r"\*+", part))
    # Each run but the last takes the nearest place where its literal fits and never looks back: no blow-up.
    inner = "".join(f"(?>[^/]*?{text})" for text in more[:-1])
    end = f"[^/]*{more[-1]}" if more else ""
    return first + inner + end + ("" if last else "/")


def _literal(text: str) -> str:
    return "".join("[^/]" if char == "?" else re.escape(char) for char in text)
