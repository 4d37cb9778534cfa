"""A definition as one line: no body, no comments, the same whichever way it was laid out."""

import re
from collections.abc import Iterator

from tree_sitter import Node

from protocol.symbols import SIGNATURE_CHARS
from rules.symbols.grammar import Named, Shape

_READ_BYTES = 4_096
_MOST_NODES = 600
_UNPRINTABLE = re.compile(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]+"
)
# What a formatter adds when it splits a list over lines.
_SPLIT_END = re.compile(r",?[ \t]*\r?\n\s*(?=[)\]])")
_SPLIT_START = re.compile(r"(?<=[(\[])[ \t]*\r?\n\s*")
_TAILS = ("{", "=>", ":", ";", "=", ",")


def signature(node: Node, shape: Shape, named: Named, left_out: frozenset[str]) -> str:
    """The definition's text up to its body or value, at most 500 characters."""
    end = named.until.start_byte if named.until else node.end_byte
    start = node.start_byte
    source = node.text or b""
    bounded = min(end, start + _READ_BYTES)
    kept, at = [], start
    for first, last in _gaps(node, bounded, left_out):
        kept.append(source[at - start : first - start])
        at = max(at, last)
    kept.append(source[at - start : bounded - start] if at < bounded else b"")
    return _one_line(shape.keyword + b" ".join(kept).decode("utf-8", "replace"))


def _gaps(node: Node, end: int, left_out: frozenset[str]) -> Iterator[tuple[int, int]]:
    """The byte ranges of what is no part of the signature, in order."""
    seen, waiting = 0, [node]
    while waiting and seen < _MOST_NODES:
        here = waiting.pop()
        seen += 1
        if here.type in left_out:
            yield here.start_byte, here.end_byte
        elif here.child_count and here.start_byte < end:
            inside = (child for child in here.children[:_MOST_NODES] if child.start_byte < end)
            waiting.extend(reversed(list(inside)))


def _one_line(raw: str) -> str:
    line = _SPLIT_START.sub("", _SPLIT_END.sub("", _UNPRINTABLE.sub(" ", raw)))
    line = " ".join(line.split())
    while (tail := next((tail for tail in _TAILS if line.endswith(tail)), None)) is not None:
        line = line.removesuffix(tail).rstrip()
    return line if len(line) <= SIGNATURE_CHARS else line[: SIGNATURE_CHARS - 1] + "…"
