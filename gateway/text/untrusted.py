"""Text that people, agents and repositories wrote, made safe to print among our own words.

Two rules keep it from passing for ours: it never starts a line, and no invisible character survives.
"""

import re

LINE_LIMIT = 300
TEXT_LIMIT = 10_000
_LINE_END = re.compile("\r\n|[\n\r\v\f\x1c\x1d\x1e\x85\u2028\u2029]")
_CUT = "…"
_SHOWN_INSTEAD = "\ufffd"


def _visible(char: str) -> str:
    if char.isprintable():
        return char
    # Cc, Cf, Cs, Co, Cn: terminal escapes, bidi overrides, zero-width and unpaired characters.
    return " " if char == "\t" or char.isspace() else _SHOWN_INSTEAD


def one_line(text: str, limit: int = LINE_LIMIT) -> str:
    """`text` on one printable line of at most `limit` characters; what is cut off ends in `…`."""
    shown = "".join(map(_visible, _LINE_END.sub(" ", text[: limit + 1])))
    return shown if len(text) <= limit else shown[: limit - 1] + _CUT


def lines_of(text: str, limit: int = TEXT_LIMIT) -> list[str]:
    """`text` split at every kind of line end, each line printable; at most `limit` characters in all."""
    cut = text if len(text) <= limit else text[: limit - 1] + _CUT
    return ["".join(map(_visible, line)) for line in _LINE_END.split(cut)]


def printable(text: str, limit: int = TEXT_LIMIT) -> str:
    """Sentences of ours that may hold others' names, for a terminal: its lines stay, nothing in them acts."""
    return "\n".join(lines_of(text, limit))


def quoted(text: str, limit: int = TEXT_LIMIT) -> list[str]:
    """`text` as lines that each start with `> `: somebody else's words."""
    return ["> " + line for line in lines_of(text, limit)]


def indented(text: str, limit: int = TEXT_LIMIT) -> list[str]:
    """`text` as lines that each start with two spaces: gitring's own reasons, which may hold others' names."""
    return ["  " + line for line in lines_of(text, limit)]


def title_of(title: str) -> str:
    """A title in quotation marks that it cannot close itself."""
    return '"' + one_line(title, 120).replace('"', "'") + '"'


def name_of(name: str) -> str:
    """A person's or an agent's name, short and without the marks that close a bracket or a sentence part."""
    return re.sub(r"[(),;\s]+", " ", one_line(name, 80)).strip() or "somebody"


def listed(items: list[str], most: int = 20) -> str:
    """`a, b and 3 more`: at most `most` items on one line."""
    shown = ", ".join(one_line(item) for item in items[:most])
    return shown if len(items) <= most else f"{shown} and {len(items) - most} more"


def counted(count: int, noun: str) -> str:
    """`1 conflict`, `2 conflicts`."""
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"
