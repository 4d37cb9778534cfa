"""`gitring_brief`: the project at one moment, small enough to be read before every declare."""

import re
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import asyncpg

from gateway.access import see_project
from gateway.boards import board_entries
from gateway.fitting import Part, cut, fitted
from gateway.reads import Reads
from protocol.answers import BoardEntry
from protocol.ids import ULID_PATTERN
from protocol.intents import BriefInput, area_paths
from protocol.projects import Caller
from protocol.records import ProjectRow
from protocol.refusals import Refused, invalid_input
from protocol.surroundings import Brief, BriefAsk, FolderCount, Landed
from rules.folders import Writer, closed_places, writers_of
from rules.nearness import around, folders_of
from rules.project_rules import rule_sentences
from storage.sql import asks, boards, claims, events, people, projects
from storage.sql.boards import LandedRow, Near

LANDED = 10
MOST_ITEMS = 40
MOST_SERIES = 20
_SHOWN = 5
_CURSOR = re.compile(
    rf"(live|folders|landed|rules):(\d{{1,15}})(?:\.(\d{{1,15}}))?|(asks):(ask_{ULID_PATTERN})?"
)
_NEXT = (
    "Declare your intent with gitring_declare and name the places you will change; "
    "before each push, call gitring_status."
)


class _Start(NamedTuple):
    """Which part a cursor goes on with, and from where."""

    part: str
    first: int
    second: int
    after: str = ""


class Briefs:
    """Briefs of projects."""

    def __init__(self, reads: Reads) -> None:
        self._reads = reads

    async def brief(self, caller: Caller, given: BriefInput) -> Brief:
        """From the records alone; it changes nothing and marks nothing as read."""
        start = _start(given)
        async with self._reads.snapshot() as connection:
            project = (await see_project(connection, caller, given.project_id)).project
            frame = await _frame(connection, caller, project, given)
            if given.after_seq is not None and start is None:
                since = await _since(connection, frame, given.after_seq)
                if since is not None:
                    return since
            parts = await _parts(connection, caller, project, area_paths(given.area), start)
        return fitted(frame.model_copy(update={"part": start.part if start else None}), parts)


async def _frame(
    connection: asyncpg.Connection, caller: Caller, project: ProjectRow, given: BriefInput
) -> Brief:
    line = await projects.line(connection, project.id, project.default_line)
    return Brief(
        project_id=project.id,
        project=project.slug,
        line=project.default_line,
        head=line.head if line else None,
        seq=await events.last_seq(connection, project.id),
        open_asks=await asks.open_count(connection, project.id, caller.person_id),
        acting_for=cut(caller.person_name, 100),
        has_area=given.area is not None,
        next=_NEXT,
    )


async def _since(connection: asyncpg.Connection, frame: Brief, after_seq: int) -> Brief | None:
    """The one line that says that nothing landed since; None when something did."""
    if after_seq > frame.seq:
        raise invalid_input(
            f"afterSeq {after_seq} is ahead of {frame.project}, which is at {frame.seq}.",
            "Call gitring_brief without afterSeq.",
        )
    if await boards.line_moved_since(connection, frame.project_id, frame.line, after_seq):
        return None
    count = await boards.declared_since(connection, frame.project_id, frame.line, after_seq)
    return frame.model_copy(update={"unchanged": True, "declared_since": count})


def _start(given: BriefInput) -> _Start | None:
    if given.cursor is None:
        return None
    found = _CURSOR.fullmatch(given.cursor)
    if found is None:
        raise _bad_cursor()
    if found[4]:
        return _Start(found[4], 0, 0, found[5] or "")
    start = _Start(found[1], int(found[2]), int(found[3] or 0))
    if (start.part == "live" and given.area is None) or (start.part == "folders" and given.area is not None):
        raise _bad_cursor()
    return start


def _bad_cursor() -> Refused:
    return invalid_input(
        "cursor is not one that a brief of this area gave.",
        "Send a cursor with the area of the brief it came from, or call gitring_brief without cursor.",
    )


async def _parts(
    connection: asyncpg.Connection,
    caller: Caller,
    project: ProjectRow,
    area: Sequence[str],
    start: _Start | None,
) -> list[Part]:
    make: dict[str, Callable[[], Any]] = {
        "asks": lambda: _asks(connection, caller, project, start),
        "live": lambda: _live(connection, project, area, start),
        "folders": lambda: _folders(connection, project, start),
        "landed": lambda: _landed(connection, project, start),
        "rules": lambda: _rules(connection, caller, project, start),
    }
    del make["folders" if area else "live"]
    return [await read() for name, read in make.items() if start is None or start.part == name]


async def _asks(
    connection: asyncpg.Connection, caller: Caller, project: ProjectRow, start: _Start | None
) -> Part:
    after = start.after if start else ""
    found = await asks.open_of(connection, project.id, caller.person_id, MOST_ITEMS + 1, after)
    items = [
        BriefAsk(id=row.id, text=cut(row.text, 300), draft=row.draft is not None)
        for row in found[:MOST_ITEMS]
    ]
    return Part(
        "asks",
        items,
        lambda count: f"asks:{items[count - 1].id if count else after}",
        len(found) > MOST_ITEMS,
    )


async def _live(
    connection: asyncpg.Connection, project: ProjectRow, area: Sequence[str], start: _Start | None
) -> Part:
    after = (start.first - 1, start.second) if start else None
    found = await boards.near_area(connection, project.id, around(area), after, MOST_ITEMS + 1)
    shown: list[Near] = found[:MOST_ITEMS]
    entries = await board_entries(connection, [near.intent for near in shown])

    def cursor(count: int) -> str:
        # Steps are written one up, so that the cursor of the very beginning is a number too.
        if count == 0:
            return f"live:{start.first}.{start.second}" if start else "live:0.0"
        last = shown[count - 1]
        return f"live:{last.steps + 1}.{last.intent.number}"

    return Part("live", [_small(entry) for entry in entries], cursor, len(found) > MOST_ITEMS)


def _small(entry: BoardEntry) -> BoardEntry:
    """The board's entry, cut to what a brief has room for."""
    cuts: dict[str, Any] = {
        name: [cut(text, 200) for text in getattr(entry, name)[:_SHOWN]]
        for name in ("folders", "keeps", "yields", "reserves")
    }
    cuts |= {
        name: getattr(entry, name)[:_SHOWN]
        for name in ("waiting_on", "depends_on", "dependents", "keeps_from", "yields_to")
    }
    cuts |= {
        "title": cut(entry.title, 300),
        "acts_for": cut(entry.acts_for, 100),
        "agent": cut(entry.agent, 100),
    }
    return entry.model_copy(update=cuts)


def _by_place(name: str, items: Sequence[Any], start: _Start | None, more: bool = False) -> Part:
    """A part whose cursor counts the items before it."""
    before = start.first if start else 0
    return Part(name, items, lambda count: f"{name}:{before + count}", more)


async def _folders(connection: asyncpg.Connection, project: ProjectRow, start: _Start | None) -> Part:
    before = start.first if start else 0
    found = await boards.top_folders(connection, project.id, before, MOST_ITEMS + 1)
    items = [FolderCount(folder=cut(folder, 200), live=live) for folder, live in found[:MOST_ITEMS]]
    return _by_place("folders", items, start, len(found) > MOST_ITEMS)


async def _landed(connection: asyncpg.Connection, project: ProjectRow, start: _Start | None) -> Part:
    rows = await boards.landed(connection, project.id, project.default_line, None, LANDED)
    if start is not None:
        # Landings since the page before push the older ones out of the ten; they do not show one twice.
        rows = [row for row in rows if row.number not in _before(rows, start.first)]
    shown = [_one_landed(row) for row in rows]
    last = start.first if start else 0
    return Part("landed", shown, lambda count: f"landed:{rows[count - 1].number if count else last}", False)


def _before(rows: Sequence[LandedRow], number: int) -> set[int]:
    """The numbers up to and with `number`, newest first; all of them when it is not among them any more."""
    numbers = [row.number for row in rows]
    if number == 0:
        return set()
    return set(numbers[: numbers.index(number) + 1] if number in numbers else numbers)


def _one_landed(row: LandedRow) -> Landed:
    folders = folders_of(row.paths)
    return Landed(
        id=row.id,
        number=row.number,
        title=cut(row.title, 300),
        commit=row.commit,
        merged_at=row.merged_at,
        folders=[cut(folder, 200) for folder in folders[:_SHOWN]],
        more_folders=max(0, len(folders) - _SHOWN),
    )


async def _rules(
    connection: asyncpg.Connection, caller: Caller, project: ProjectRow, start: _Start | None
) -> Part:
    settings = project.settings
    series = await claims.series_of(connection, project.id, MOST_SERIES)
    writer = Writer(
        person_id=caller.person_id,
        by_agent=not caller.is_person,
        project=project.slug,
        owner=project.owner_name,
        names=await people.names_of(connection, writers_of(settings)),
    )
    prefixes = [one.prefix for one in series]
    said = rule_sentences(settings, project.default_line, prefixes, closed_places(settings, writer))
    before = start.first if start else 0
    return _by_place("rules", [cut(sentence, 500) for sentence in said[before:]], start)
