"""What a command shows: plain lines for people, tables where a terminal has room for them, or the JSON as it came."""

import json
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from cli.clean import one_line
from protocol.wire import visible_json


@dataclass(frozen=True)
class Table:
    """Rows under headings; cells are cleaned when they are printed."""

    columns: Sequence[str]
    rows: Sequence[Sequence[object]]
    empty: str


@dataclass(frozen=True)
class Shown:
    """One answer: its JSON, the same for reading (made only when it is read), and how the command ends."""

    answer: Any
    lines: Iterable[str] = ()
    table: Table | None = None
    exit_code: int = 0


@dataclass(frozen=True)
class Streamed:
    """Answers that come one by one, each shown when it is there."""

    answers: Iterator[Any]
    line: Callable[[Any], str] = field(default=one_line)


def show(shown: Shown | Streamed, as_json: bool) -> int:
    """Print it; the exit code."""
    if isinstance(shown, Streamed):
        for answer in shown.answers:
            print(_compact(answer) if as_json else shown.line(answer), flush=True)
        return 0
    if as_json:
        print(visible_json(json.dumps(shown.answer, indent=2, ensure_ascii=False)))
        return shown.exit_code
    if shown.table:
        _show_table(shown.table)
    for line in shown.lines:
        print(line)
    return shown.exit_code


def _compact(answer: Any) -> str:
    return visible_json(json.dumps(answer, separators=(",", ":"), ensure_ascii=False))


def _show_table(table: Table) -> None:
    rows = [[one_line(cell, 120) for cell in row] for row in table.rows]
    if not rows:
        print(table.empty)
    elif sys.stdout.isatty():
        _show_rich(table.columns, rows)
    else:
        widths = [max(map(len, column)) for column in zip(table.columns, *rows, strict=True)]
        for row in [table.columns, *rows]:
            cells = [cell.ljust(width) for cell, width in zip(row, widths, strict=True)]
            print("  ".join(cells).rstrip())


def _show_rich(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    from rich import box
    from rich.console import Console
    from rich.table import Table as RichTable
    from rich.text import Text

    grid = RichTable(box=box.SIMPLE_HEAD, pad_edge=False)
    for column in columns:
        grid.add_column(column, overflow="fold")
    for row in rows:
        grid.add_row(*map(Text, row))
    Console().print(grid)
