"""Fill an answer's parts with items until text and JSON together reach a size; each part keeps its cursor."""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from pydantic_core import to_json

from gateway.calls import json_of
from gateway.text import render
from gateway.text.briefs import item_line
from gateway.text.untrusted import one_line
from protocol.surroundings import Brief

BRIEF_BYTES = 12_000
# Headings, and the lines and fields of cursors.
_SLACK = 1_200


class Part(NamedTuple):
    """One list of a brief: its items, the cursor after so many of them, and whether more follow them all."""

    name: str
    items: Sequence[Any]
    cursor: Callable[[int], str]
    more: bool


def cut(text: str, most: int) -> str:
    """`text` on one line of at most `most` bytes; what is cut off ends in `…`."""
    line = one_line(text, most)
    raw = line.encode()
    return line if len(raw) <= most else raw[: most - 3].decode(errors="ignore") + "…"


def size_of(brief: Brief) -> int:
    """Bytes of the brief's text and its JSON together."""
    return len(render(brief, "gitring_brief").encode()) + len(json_of(brief))


def fitted(frame: Brief, parts: Sequence[Part]) -> Brief:
    """`frame` with as many items as fit, one of each part in turn, so that no part crowds out another."""
    room = BRIEF_BYTES - _SLACK - size_of(frame)
    shown = dict.fromkeys((part.name for part in parts), 0)
    growing = list(parts)
    while growing:
        for part in tuple(growing):
            place = shown[part.name]
            cost = _cost(part.items[place]) if place < len(part.items) else room + 1
            if cost > room:
                growing.remove(part)
                continue
            room -= cost
            shown[part.name] += 1
    return _filled(frame, parts, shown)


def _cost(item: Any) -> int:
    return len(to_json(item, by_alias=True)) + len(item_line(item).encode()) + 2


def _filled(frame: Brief, parts: Sequence[Part], shown: dict[str, int]) -> Brief:
    fields: dict[str, Any] = {}
    for part in parts:
        count = shown[part.name]
        fields[part.name] = list(part.items[:count])
        if part.more or count < len(part.items):
            fields[f"{part.name}_cursor"] = part.cursor(count)
    return frame.model_copy(update=fields)
