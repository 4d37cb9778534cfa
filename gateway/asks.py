"""Asks: written by people, listed for their own agents, closed by their person or an owner."""

import time
from datetime import UTC, datetime
from typing import Any, NamedTuple

import asyncpg
from pydantic_core import to_json

from bus.coalesce import Coalesced
from bus.wait import wait_for
from bus.waiters import Waiters
from gateway.access import Seen, must_still_see, must_write, see_project
from gateway.busy import RecordOrBusy
from gateway.once import claim
from gateway.reads import Reads
from protocol.asks import AgentAsk, AskDraft, AskList, AsksInput, CreateAsk
from protocol.events import EventType
from protocol.ids import new_id
from protocol.projects import Caller
from protocol.refusals import Refused, not_found, people_only, refused
from storage.sql import asks, ledger
from storage.sql.asks import AskRow
from storage.sql.pool import lock_project

MOST_OPEN = 100
MOST_LISTED = 20
LIST_BYTES = 24_000


class _Key(NamedTuple):
    project_id: str
    person_id: str


class _Open(NamedTuple):
    """A person's oldest open asks in a project, and how many are open."""

    rows: list[AskRow]
    total: int


class Asks:
    """The asks of people. None is ever shown to an agent of another person."""

    def __init__(self, pool: asyncpg.Pool, reads: Reads, waiters: Waiters) -> None:
        self._pool = pool
        self._reads = reads
        self._waiters = waiters
        # Every event of a project rings its waiters here: they share one look at the record.
        self._news = Coalesced(self._read)

    async def open(self, caller: Caller, project_ref: str, given: CreateAsk) -> AgentAsk:
        """Write an ask. A person does it, for agents that act for them; with a `requestId`, once."""
        if not caller.is_person:
            raise people_only(caller.person_name, None)
        now, ask_id = datetime.now(UTC), new_id("ask")
        async with RecordOrBusy(self._pool) as connection:
            seen = await see_project(connection, caller, project_ref)
            must_write(seen, caller)
            once = None
            if given.request_id is not None:
                once = await claim(
                    connection, caller, "open_ask", given.request_id, given, seen.project.id, now
                )
                if once.saved is not None:
                    return AgentAsk(**once.saved)
            made = await _write(connection, caller, seen, ask_id, given, now)
            if once is not None:
                await once.save(connection, made.model_dump(mode="json"), now)
            return made

    async def waiting(self, caller: Caller, given: AsksInput) -> AskList:
        """The open asks of the caller's person; held for `wait` seconds while there is none."""
        started = time.monotonic()
        seen = await self._reads.seen(caller, given.project_id)
        key = _Key(seen.project.id, caller.person_id)

        async def look() -> _Open | None:
            found = await self._news(key)
            return found if found.rows else None

        async def may() -> None:
            async with self._reads.snapshot() as connection:
                await must_still_see(connection, caller, key.project_id)

        found = await wait_for(
            self._waiters, look, project_id=key.project_id, seconds=float(given.wait), may=may
        ) or _Open([], 0)
        return AskList(
            project_id=seen.project.id,
            project=seen.project.slug,
            asks=_fitting(found.rows),
            open_asks=found.total,
            waited_sec=round(time.monotonic() - started, 3),
        )

    async def _read(self, key: _Key) -> _Open:
        async with self._reads.snapshot() as connection:
            rows = await asks.open_of(connection, key.project_id, key.person_id, MOST_LISTED)
            total = await asks.open_count(connection, key.project_id, key.person_id) if rows else 0
        return _Open(rows, total)

    async def close(self, caller: Caller, ask_id: str) -> AgentAsk:
        """Give an ask up: its person, or an owner of the project for somebody who left."""
        if not caller.is_person:
            raise people_only(caller.person_name, None)
        now = datetime.now(UTC)
        async with RecordOrBusy(self._pool) as connection:
            project_id = await _closable(connection, caller, ask_id)
            await lock_project(connection, project_id)
            _must_be_open(await _must_find(connection, ask_id))
            await asks.close(connection, ask_id, now)
            await _note(connection, project_id, ask_id, EventType.ASK_CLOSED, caller, now)
            return _shown(await _must_find(connection, ask_id))


async def _write(
    connection: asyncpg.Connection, caller: Caller, seen: Seen, ask_id: str, given: CreateAsk, now: datetime
) -> AgentAsk:
    project_id = seen.project.id
    await lock_project(connection, project_id)
    await _must_have_room(connection, seen, caller)
    await asks.add(
        connection,
        ask_id=ask_id,
        project_id=project_id,
        person_id=caller.person_id,
        text=given.text,
        draft=_kept(given.draft),
        now=now,
    )
    await _note(connection, project_id, ask_id, EventType.ASK_OPENED, caller, now)
    return _shown(await _must_find(connection, ask_id))


async def _note(
    connection: asyncpg.Connection,
    project_id: str,
    ask_id: str,
    kind: EventType,
    caller: Caller,
    now: datetime,
) -> None:
    await ledger.ask_event(connection, project_id, ask_id, kind, caller.token_name, caller.person_name, now)


async def _must_have_room(connection: asyncpg.Connection, seen: Seen, caller: Caller) -> None:
    if await asks.open_count(connection, seen.project.id, caller.person_id) >= MOST_OPEN:
        raise refused(
            "wrong_state",
            f"{MOST_OPEN} asks of yours are open in {seen.project.slug}, and that is the most.",
            "Close those that nobody needs any more, or wait until your agents have declared some.",
        )


async def _must_find(connection: asyncpg.Connection, ask_id: str) -> AskRow:
    row = await asks.find(connection, ask_id)
    if row is None:
        raise _missing(ask_id)
    return row


def _missing(ask_id: str) -> Refused:
    return not_found(f"ask {ask_id[:60]}", "GET /api/v1/asks lists your open ones.")


async def _closable(connection: asyncpg.Connection, caller: Caller, ask_id: str) -> str:
    """The ask's project, or `not_found` for whoever may not know of the ask."""
    row = await _must_find(connection, ask_id)
    try:
        seen = await see_project(connection, caller, row.project_id)
    except Refused as problem:
        raise _missing(ask_id) from problem
    if row.person_id != caller.person_id and seen.role != "owner":
        # Another person's ask is theirs alone: that it exists is none of the caller's business.
        raise _missing(ask_id)
    return row.project_id


def _must_be_open(row: AskRow) -> None:
    if row.number is not None:
        raise refused(
            "wrong_state",
            f"Ask {row.id} was declared already: it is intent #{row.number}.",
            f"Withdraw #{row.number} if the work is not wanted any more.",
        )
    if row.closed_at is not None:
        raise refused("wrong_state", f"Ask {row.id} is closed already.", "Nothing is left to do.")


def _fitting(rows: list[AskRow]) -> list[AgentAsk]:
    """The oldest asks whose JSON stays within a size, at least one."""
    shown: list[AgentAsk] = []
    room = LIST_BYTES
    for ask in map(_shown, rows):
        room -= len(to_json(ask, by_alias=True))
        if shown and room < 0:
            break
        shown.append(ask)
    return shown


def _kept(draft: AskDraft | None) -> dict[str, Any] | None:
    """A draft as it was given, without the fields that it leaves out."""
    return None if draft is None else draft.model_dump(mode="json", by_alias=True, exclude_unset=True)


def _shown(row: AskRow) -> AgentAsk:
    fields = row._asdict()
    del fields["person_id"]
    return AgentAsk(**fields)
