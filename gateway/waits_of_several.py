"""`gitring_wait` for several intents of one project: the first that moves answers."""

import time
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import NamedTuple

import asyncpg

from bus.coalesce import Coalesced
from bus.wait import wait_for
from bus.waiters import Waiters
from gateway.access import must_still_see, see_project
from gateway.reads import Reads
from protocol.answers import WaitAnswer
from protocol.events import Event
from protocol.intents import WaitInput
from protocol.projects import Caller
from protocol.records import IntentRecords, IntentRow
from protocol.refusals import Refused, invalid_input, not_found
from protocol.states import WaitsFor
from rules.waiting import can_stop, waiting_for
from storage.sql import conflicts, events, intents
from storage.sql.snapshot import read_intent

MOST_EVENTS = 50


class _Key(NamedTuple):
    intent_ids: tuple[str, ...]
    project_id: str
    after_seq: int


@dataclass(frozen=True)
class _Asker:
    """Who asks for which intents; one token's right to them is one question."""

    token_id: str
    intent_ids: tuple[str, ...]
    caller: Caller = field(compare=False)


@dataclass(frozen=True)
class _Moment:
    """The intent that answers, its events, and whom all of them wait for.

    The records' `after_seq` is the seq to go on from: it lies before every event of the others.
    """

    records: IntentRecords
    events: list[Event]
    waits: frozenset[WaitsFor]
    newest: datetime


class WaitsOfSeveral:
    """Held calls for several intents."""

    def __init__(self, reads: Reads, waiters: Waiters) -> None:
        self._reads = reads
        self._waiters = waiters
        # Rung together, waits queue here and not at the record's pool.
        self._project = Coalesced(self._project_of)
        self._news = Coalesced(self._read_news)
        self._standing = Coalesced(self._read_standing)
        self._rights = Coalesced(self._look_at_rights)

    async def wait(self, caller: Caller, given: WaitInput) -> WaitAnswer:
        """The intent whose event comes first after `afterSeq`; after `seconds`, the one that most asks for its agent.

        Final intents answer at once only when all of them are final. `afterSeq` of the answer lies before every event
        of the others, so that the next call misses none.
        """
        started = time.monotonic()
        intent_ids = tuple(given.intents)
        asker = _Asker(caller.token_id, intent_ids, caller)
        project_id = await self._project(asker)
        key = _Key(intent_ids, project_id, given.after_seq)
        moment = await wait_for(
            self._waiters,
            lambda: self._news(key),
            project_id=project_id,
            intent_ids=intent_ids,
            seconds=float(given.seconds),
            may=lambda: self._rights((asker, project_id)),
        )
        if moment is None:
            moment = await self._standing(key)
        return self._answer(caller, given, moment, time.monotonic() - started)

    def _answer(self, caller: Caller, given: WaitInput, moment: _Moment, waited: float) -> WaitAnswer:
        row = moment.records.intent
        detail = self._reads.detail(caller, moment.records, row.project_id)
        quiet = (datetime.now(UTC) - moment.newest).total_seconds()
        moved = f"#{row.number} moved first" if moment.events else "none moved"
        said = f"Of the {len(given.intents)} intents you wait for, {moved}; this is #{row.number}."
        stop = _can_stop(moment.waits, quiet, given.seconds)
        step = self._reads.stop_step(caller, moment.records) if stop else detail.next
        return WaitAnswer(
            **{**dict(detail), "said": [*detail.said, said], "next": step},
            events=moment.events,
            waited_sec=round(waited, 3),
            can_stop=stop,
        )

    async def _look_at_rights(self, asked: tuple[_Asker, str]) -> None:
        asker, project_id = asked
        async with self._reads.snapshot() as connection:
            await must_still_see(connection, asker.caller, project_id)

    async def _project_of(self, asker: _Asker) -> str:
        async with self._reads.snapshot() as connection:
            rows = await intents.many(connection, asker.intent_ids)
            await _must_see(connection, asker, {row.project_id for row in rows.values()})
        for intent_id in asker.intent_ids:
            if intent_id not in rows:
                raise _missing(intent_id)
        projects = {row.project_id for row in rows.values()}
        if len(projects) > 1:
            raise invalid_input(
                "intentIds names intents of several projects, and each project counts its own afterSeq.",
                "Wait for the intents of one project in one call.",
            )
        return projects.pop()

    async def _read_news(self, key: _Key) -> _Moment | None:
        async with self._reads.snapshot() as connection:
            found = await _events(connection, key)
            rows = await intents.many(connection, key.intent_ids)
            if not found and not all(row.state.final for row in rows.values()):
                return None
            return await _moment(connection, key, found, rows)

    async def _read_standing(self, key: _Key) -> _Moment:
        async with self._reads.snapshot() as connection:
            found = await _events(connection, key)
            return await _moment(connection, key, found, await intents.many(connection, key.intent_ids))


def _missing(intent_id: str) -> Refused:
    return not_found(f"intent {intent_id}", "Call gitring_board to see the live intents of a project.")


async def _must_see(connection: asyncpg.Connection, asker: _Asker, projects: set[str]) -> None:
    """An intent that the caller cannot read is as if it were not there."""
    for project_id in sorted(projects):
        try:
            await see_project(connection, asker.caller, project_id)
        except Refused as problem:
            rows = await intents.many(connection, asker.intent_ids)
            hidden = next(i for i in asker.intent_ids if i in rows and rows[i].project_id == project_id)
            raise _missing(hidden) from problem


async def _events(connection: asyncpg.Connection, key: _Key) -> list[Event]:
    return await events.read_after_of(connection, key.project_id, key.after_seq, MOST_EVENTS, key.intent_ids)


async def _moment(
    connection: asyncpg.Connection, key: _Key, found: list[Event], rows: dict[str, IntentRow]
) -> _Moment:
    sent_back = await conflicts.sent_back(connection, key.intent_ids)
    waits = {
        row.id: WaitsFor.YOU if row.id in sent_back and not row.state.final else waiting_for(row, [])
        for row in rows.values()
    }
    intent_id = str(found[0].intent_id) if found else _to_show(key, waits)
    own = _first_run(found, intent_id)
    records = await read_intent(connection, intent_id)
    if records is None:
        raise LookupError(f"intent {intent_id} left the record")
    newest = await events.newest_of_intents(connection, key.intent_ids)
    whole = len(own) == len(found) < MOST_EVENTS
    return _Moment(
        records=records if whole else records.model_copy(update={"after_seq": own[-1].seq}),
        events=own,
        waits=frozenset(waits.values()),
        newest=newest or records.intent.state_since,
    )


def _first_run(found: list[Event], intent_id: str) -> list[Event]:
    """The events up to the first one of another intent."""
    count = next((n for n, event in enumerate(found) if event.intent_id != intent_id), len(found))
    return found[:count]


def _to_show(key: _Key, waits: dict[str, WaitsFor]) -> str:
    """Without news: the first that waits for its agent, else the first that is live, else the first."""
    ranks = {WaitsFor.YOU: 0, WaitsFor.NOTHING: 2}
    return min(key.intent_ids, key=lambda intent_id: ranks.get(waits[intent_id], 1))


def _can_stop(waits: frozenset[WaitsFor], quiet: float, asked: float) -> bool:
    """True when none of them waits for the agent and nothing has moved for long, or all of them are final."""
    return all(can_stop(one, quiet, asked) for one in (waits - {WaitsFor.NOTHING} or {WaitsFor.NOTHING}))
