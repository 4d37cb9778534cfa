"""Other people's text made safe to print on a terminal: bounded, and without a single control character."""

import re

_LINE_END = re.compile("\r\n|[\n\r\v\f\x1c\x1d\x1e\x85\u2028\u2029]")


def one_line(text: object, limit: int = 600) -> str:
    """`text` as one printable line of at most `limit` characters; what is cut off ends in `…`."""
    whole = str(text)
    shown = "".join(map(_visible, _LINE_END.sub(" ", whole[: limit + 1])))
    return shown if len(whole) <= limit else shown[: limit - 1] + "…"


def lines_of(text: str) -> list[str]:
    """`text` line by line, each printable."""
    return ["".join(map(_visible, line)) for line in _LINE_END.split(text)]


def _visible(char: str) -> str:
    if char.isprintable():
        return char
    return " " if char.isspace() else "\ufffd"
