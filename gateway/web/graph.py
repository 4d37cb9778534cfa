"""The picture of who lands before whom: intents as boxes in columns, first to last, lines between them.

Pure: it computes where everything stands; the template draws it.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Literal, NamedTuple

from protocol.answers import BoardEntry

BOX_WIDTH, BOX_HEIGHT = 208, 40
GAP_X, GAP_Y = 72, 14
EDGE = 8
DIP = 66
MOST_BOXES = 60

Kind = Literal["hold", "narrow", "order"]


class Edge(NamedTuple):
    """`first` lands before `second`, and why."""

    first: int
    second: int
    kind: Kind


class Box(NamedTuple):
    """An intent in the picture; `entry` is None for one that is not on this page of the board."""

    number: int
    entry: BoardEntry | None
    x: int
    y: int


class Line(NamedTuple):
    """An edge as a path."""

    edge: Edge
    path: str


class Graph(NamedTuple):
    """The whole picture; `left_out` counts intents beyond its bound."""

    boxes: list[Box]
    lines: list[Line]
    width: int
    height: int
    left_out: int


def edges_of(entries: Iterable[BoardEntry]) -> list[Edge]:
    """What the board says about order, one edge a pair: a hold says more than a narrowing, and that more than order."""
    found: dict[tuple[int, int], Kind] = {}
    for entry in entries:
        for kind, before in (
            ("hold", entry.waiting_on),
            ("narrow", entry.yields_to),
            ("order", entry.depends_on),
        ):
            for number in before:
                found.setdefault((number, entry.number), kind)  # type: ignore[arg-type]
    return [Edge(first, second, kind) for (first, second), kind in sorted(found.items())]


def graph_of(entries: Sequence[BoardEntry]) -> Graph | None:
    """The picture of these entries; None when nobody goes before anybody."""
    edges = edges_of(entries)
    if not edges:
        return None
    numbers = sorted({number for edge in edges for number in (edge.first, edge.second)})
    shown = set(numbers[:MOST_BOXES])
    edges = [edge for edge in edges if edge.first in shown and edge.second in shown]
    columns = _columns(sorted(shown), edges)
    known = {entry.number: entry for entry in entries}
    boxes = {
        number: Box(
            number,
            known.get(number),
            EDGE + column * (BOX_WIDTH + GAP_X),
            EDGE + row * (BOX_HEIGHT + GAP_Y),
        )
        for column, members in enumerate(columns)
        for row, number in enumerate(members)
    }
    return Graph(
        boxes=list(boxes.values()),
        lines=[Line(edge, _path(boxes[edge.first], boxes[edge.second])) for edge in edges],
        width=2 * EDGE + len(columns) * (BOX_WIDTH + GAP_X) - GAP_X,
        height=2 * EDGE
        + max(map(len, columns)) * (BOX_HEIGHT + GAP_Y)
        - GAP_Y
        + (DIP // 2 if len(columns) > 2 else 0),
        left_out=len(numbers) - len(shown),
    )


def _columns(numbers: Sequence[int], edges: Sequence[Edge]) -> list[list[int]]:
    """Each number one column right of the last it goes after; in a column, near those it goes after."""
    before: dict[int, list[int]] = {number: [] for number in numbers}
    for edge in edges:
        before[edge.second].append(edge.first)
    depth = _depths(before)
    columns: list[list[int]] = [[] for _ in range(max(depth.values()) + 1)]
    for number in numbers:
        columns[depth[number]].append(number)
    rows: dict[int, int] = {}
    for column in columns:
        column.sort(key=lambda number: (_middle(before[number], rows), number))
        rows |= {number: row for row, number in enumerate(column)}
    return columns


def _depths(before: Mapping[int, Sequence[int]]) -> dict[int, int]:
    """The longest way to each number. The order has no circle; if the record held one, it would only look odd."""
    depth = dict.fromkeys(before, 0)
    for _ in range(len(before)):
        moved = False
        for number, firsts in before.items():
            wanted = max((depth[first] + 1 for first in firsts), default=0)
            if depth[number] < wanted < len(before):
                depth[number], moved = wanted, True
        if not moved:
            break
    return depth


def _middle(firsts: Sequence[int], rows: Mapping[int, int]) -> float:
    placed = [rows[first] for first in firsts if first in rows]
    return sum(placed) / len(placed) if placed else 0.0


def _path(first: Box, second: Box) -> str:
    x1, y1 = first.x + BOX_WIDTH, first.y + BOX_HEIGHT // 2
    x2, y2 = second.x - 6, second.y + BOX_HEIGHT // 2
    bend = max(GAP_X // 2, (x2 - x1) // 2)
    # A line past other columns swings below the boxes it passes.
    dip = DIP if x2 - x1 > 2 * GAP_X + BOX_WIDTH - EDGE else 0
    return f"M{x1} {y1}C{x1 + bend} {y1 + dip} {x2 - bend} {y2 + dip} {x2} {y2}"
