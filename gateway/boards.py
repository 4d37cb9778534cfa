"""`gitring_board`: one line for each live intent of a project."""

from collections.abc import Iterable, Sequence

import asyncpg

from gateway.access import see_intent, see_project
from gateway.reads import Reads
from protocol.answers import Board, BoardEntry, BoardPlan
from protocol.intents import BoardInput
from protocol.projects import Caller
from protocol.records import ConflictRow, IntentRow, PlaceRow
from protocol.refusals import invalid_input, not_found
from protocol.states import State, Verdict, WaitsFor
from rules.places import ancestors
from rules.states import holders
from rules.waiting import waiting_for
from storage.sql import conflicts, events, intents, places, snapshot

PAGE = 100
PAGE_BYTES = 20_000
MOST_FOLDERS = 20


class Boards:
    """Who works where, who waits for whom."""

    def __init__(self, reads: Reads) -> None:
        self._reads = reads

    async def board(self, caller: Caller, given: BoardInput) -> Board:
        """A page of live intents, the default line first; or one intent's plan."""
        after = _cursor(given.cursor)
        async with self._reads.snapshot() as connection:
            seen = await see_project(connection, caller, given.project_id)
            project = seen.project
            seq = await events.last_seq(connection, project.id)
            if given.intent_id is not None:
                return await self._one(connection, caller, given.intent_id, project.id, seq)
            rows = await intents.board_page(connection, project.id, project.default_line, after, PAGE + 1)
            entries = await _entries(connection, rows[:PAGE])
        shown = _within(entries, PAGE_BYTES)
        more = len(rows) > len(shown)
        return Board(
            project_id=project.id,
            entries=shown,
            cursor=f"{shown[-1].line}@{shown[-1].number}" if more and shown else None,
            after_seq=seq,
        )

    async def _one(
        self, connection: asyncpg.Connection, caller: Caller, intent_id: str, project_id: str, seq: int
    ) -> Board:
        row = (await see_intent(connection, caller, intent_id)).intent
        if row.project_id != project_id:
            raise not_found(f"intent {intent_id} in this project", "Call gitring_board without intentId.")
        plan = await snapshot.plan(connection, row.id, row.plan_version)
        return Board(
            project_id=project_id,
            entries=await _entries(connection, [row]),
            plan=BoardPlan(number=row.number, scope=plan.scope, summary=plan.summary, steps=plan.steps),
            after_seq=seq,
        )


def _cursor(text: str | None) -> tuple[str, int]:
    if text is None:
        return ("", 0)
    line, _, number = text.rpartition("@")
    if not line or not number.isdecimal() or len(number) > 15:
        raise invalid_input("cursor is not one that a board gave.", "Call gitring_board without cursor.")
    return (line, int(number))


def _within(entries: list[BoardEntry], limit: int) -> list[BoardEntry]:
    """As many entries as fit `limit` bytes of JSON; at least one."""
    size, shown = 0, list[BoardEntry]()
    for entry in entries:
        size += len(entry.model_dump_json(by_alias=True))
        if shown and size > limit:
            break
        shown.append(entry)
    return shown


async def _entries(connection: asyncpg.Connection, rows: Sequence[IntentRow]) -> list[BoardEntry]:
    ids = [row.id for row in rows]
    if not ids:
        return []
    opened = await conflicts.open_of(connection, ids)
    where = await places.of_intents(connection, ids)
    after = await intents.dependency_numbers(connection, ids)
    agents = await intents.agents_of(connection, ids)
    sent_back = await conflicts.sent_back(connection, ids)
    return [
        _entry(row, opened, where, after, agents.get(row.id, row.agent_name), row.id in sent_back)
        for row in rows
    ]


def _entry(
    row: IntentRow,
    opened: Sequence[ConflictRow],
    where: Sequence[PlaceRow],
    after: dict[str, tuple[list[int], list[int]]],
    agent: str,
    sent_back: bool,
) -> BoardEntry:
    waits = WaitsFor.YOU if sent_back else waiting_for(row, [])
    mine = [c for c in opened if c.verdict in (Verdict.HOLD, Verdict.NARROW)]
    goes_after, followers = after.get(row.id, ([], []))
    return BoardEntry(
        id=row.id,
        number=row.number,
        title=row.title,
        state=row.state,
        line=row.line,
        acts_for=row.person_name,
        agent=agent,
        waits_for="its_agent" if waits is WaitsFor.YOU else waits.value,
        waiting_on=holders(row, opened) if row.state is State.HELD else [],
        depends_on=goes_after,
        dependents=followers,
        folders=_folders(p for p in where if p.intent_id == row.id and p.role == "change"),
        keeps=sorted({place for c in mine if c.first_id == row.id for place in c.places})[:20],
        yields=sorted({place for c in mine if c.second_id == row.id for place in c.places})[:20],
    )


def _folders(found: Iterable[PlaceRow]) -> list[str]:
    folders = set()
    for place in found:
        above = ancestors(place.path)
        folders.add(place.path if place.path.endswith("/") else (above[1] if len(above) > 1 else "./"))
    return sorted(folders)[:MOST_FOLDERS]
