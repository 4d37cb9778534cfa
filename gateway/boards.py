"""`gitring_board`: one line for each live intent of a project."""

from collections.abc import Iterable, Mapping, Sequence, Set
from datetime import UTC, datetime
from typing import NamedTuple

import asyncpg

from gateway.access import see_intent, see_project
from gateway.reads import Reads
from gateway.text.untrusted import one_line
from protocol.answers import Board, BoardEntry, BoardPlan
from protocol.intents import BoardInput
from protocol.projects import Caller
from protocol.records import ConflictRow, IntentRow
from protocol.refusals import invalid_input, not_found
from protocol.states import State, WaitsFor
from rules.landing_order import landing_order
from rules.states import holders
from rules.waiting import waiting_for
from storage.sql import boards, claims, conflicts, events, intents, queue, snapshot

PAGE = 100
PAGE_BYTES = 20_000
MOST_FOLDERS = 20
MOST_PLACES = 20
MOST_NUMBERS = 50
MOST_PAIRS = 20
# As many as a line's queue looks at.
QUEUE = 200


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
            entries = await board_entries(connection, rows[:PAGE])
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
            entries=await board_entries(connection, [row]),
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
        size += len(entry.model_dump_json(by_alias=True).encode())
        if shown and size > limit:
            break
        shown.append(entry)
    return shown


async def board_entries(connection: asyncpg.Connection, rows: Sequence[IntentRow]) -> list[BoardEntry]:
    """The entries of these live intents, in their order; a number of reads that does not grow with them."""
    ids = [row.id for row in rows]
    if not ids:
        return []
    known = _Known(
        pairs=await boards.holding_pairs(connection, ids, MOST_PAIRS),
        folders=await boards.folders_of(connection, ids, MOST_FOLDERS),
        after=await intents.dependency_numbers(connection, ids),
        agents=await intents.agents_of(connection, ids),
        reserved=await claims.of_intents(connection, ids),
        sent_back=await conflicts.sent_back(connection, ids),
        positions=await _positions(connection, rows),
    )
    return [_entry(row, known) for row in rows]


class _Known(NamedTuple):
    """What is read for all entries at once, by intent."""

    pairs: Sequence[ConflictRow]
    folders: Mapping[str, list[str]]
    after: Mapping[str, tuple[list[int], list[int]]]
    agents: Mapping[str, str]
    reserved: Mapping[str, list[str]]
    sent_back: Set[str]
    positions: Mapping[str, int]


async def _positions(connection: asyncpg.Connection, rows: Sequence[IntentRow]) -> dict[str, int]:
    """The places in their queues of those that stand in one and whose dependencies do too."""
    found: dict[str, int] = {}
    for project_id, line in {(row.project_id, row.line) for row in rows if row.queued_at is not None}:
        queued = [one for one, _ in await queue.order(connection, project_id, line, QUEUE, datetime.now(UTC))]
        order = landing_order(queued, await queue.open_dependencies(connection, queued))
        found |= {intent_id: place for place, intent_id in enumerate(order, 1)}
    return found


def _entry(row: IntentRow, known: _Known) -> BoardEntry:
    waits = WaitsFor.YOU if row.id in known.sent_back else waiting_for(row, [])
    keeps = [pair for pair in known.pairs if pair.first_id == row.id]
    yields = [pair for pair in known.pairs if pair.second_id == row.id]
    goes_after, followers = known.after.get(row.id, ([], []))
    return BoardEntry(
        id=row.id,
        number=row.number,
        title=one_line(row.title),
        state=row.state,
        line=row.line,
        acts_for=one_line(row.person_name),
        agent=one_line(known.agents.get(row.id, row.agent_name)),
        waits_for="its_agent" if waits is WaitsFor.YOU else waits.value,
        waiting_on=holders(row, yields)[:MOST_NUMBERS] if row.state is State.HELD else [],
        depends_on=goes_after[:MOST_NUMBERS],
        dependents=followers[:MOST_NUMBERS],
        folders=[one_line(folder) for folder in known.folders.get(row.id, ())],
        keeps=_places(keeps),
        keeps_from=sorted(pair.second_number for pair in keeps),
        yields=_places(yields),
        yields_to=sorted(pair.first_number for pair in yields),
        reserves=known.reserved.get(row.id, []),
        position=known.positions.get(row.id),
    )


def _places(pairs: Iterable[ConflictRow]) -> list[str]:
    return [
        one_line(place) for place in sorted({place for pair in pairs for place in pair.places})[:MOST_PLACES]
    ]
