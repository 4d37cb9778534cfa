"""`gitring_wait`: registered before reading, rung by NATS, answered from the record."""

import time
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import NamedTuple

import asyncpg

from bus.coalesce import Coalesced
from bus.wait import wait_for
from bus.waiters import Waiters
from gateway.access import must_live, must_still_see, see_intent
from gateway.reads import Reads
from protocol.answers import IntentDetail, WaitAnswer
from protocol.events import Event
from protocol.intents import WaitInput
from protocol.projects import Caller
from protocol.records import IntentRecords, IntentRow
from rules.waiting import can_stop, waiting_for
from storage.sql import events, intents
from storage.sql.snapshot import read_intent

MOST_EVENTS = 50
_PAGE = 500
_LOOK_SEC = 30.0


@dataclass(frozen=True)
class _Moment:
    """One intent at one moment, with the events after a seq; shared by all who were rung for them."""

    records: IntentRecords
    events: list[Event]
    newest: datetime | None
    # The answer about the intent, by whether git asks a credential helper: all else in it is the same for everyone.
    details: dict[bool, IntentDetail] = field(default_factory=dict)


class _Key(NamedTuple):
    intent_id: str
    project_id: str
    after_seq: int


@dataclass(frozen=True)
class _Asker:
    """Who asks for which intent; one token's right to it is one question, however many ask at once."""

    token_id: str
    intent_id: str
    caller: Caller = field(compare=False)


class Waits:
    """Held calls of this process."""

    def __init__(self, reads: Reads, waiters: Waiters) -> None:
        self._reads = reads
        self._waiters = waiters
        # A thousand waits that begin, or are rung, at once share their reads and queue here, not at the record's pool.
        self._seen = Coalesced(self._see)
        self._news = Coalesced(self._read_news)
        self._standing = Coalesced(self._read_standing)
        self._rights = Coalesced(self._look_at_rights)

    async def _look_at_rights(self, asker: _Asker) -> None:
        async with self._reads.snapshot() as connection:
            await must_live(connection, asker.caller)
            await see_intent(connection, asker.caller, asker.intent_id)

    async def _see(self, asker: _Asker) -> IntentRow:
        return (await self._reads.seen_intent(asker.caller, asker.intent_id)).intent

    async def _read_news(self, key: _Key) -> _Moment | None:
        """The moment if it ends a wait; most waits begin with nothing new, and then two small reads are all."""
        async with self._reads.snapshot() as connection:
            found = await _events_of(connection, key)
            row = None if found else await intents.get(connection, key.intent_id)
            if row is not None and not row.state.final:
                return None
            return await _moment(connection, key, found)

    async def _read_standing(self, key: _Key) -> _Moment:
        async with self._reads.snapshot() as connection:
            return await _moment(connection, key, await _events_of(connection, key))

    async def wait(self, caller: Caller, given: WaitInput) -> WaitAnswer:
        """The first event after `afterSeq`, or what stands when `seconds` are over. A final intent answers at once."""
        started = time.monotonic()
        (intent_id,) = given.intents
        asker = _Asker(caller.token_id, intent_id, caller)
        row = await self._seen(asker)
        key = _Key(intent_id, row.project_id, given.after_seq)

        async def look() -> _Moment | None:
            return await self._news(key)

        found = await wait_for(
            self._waiters,
            look,
            project_id=row.project_id,
            intent_ids=[intent_id],
            seconds=float(given.seconds),
            may=lambda: self._rights(asker),
        )
        moment = found or await self._standing(key)
        return self._answer(caller, given, moment, time.monotonic() - started)

    def _answer(self, caller: Caller, given: WaitInput, moment: _Moment, waited: float) -> WaitAnswer:
        records = moment.records
        detail = moment.details.get(caller.credential_helper)
        if detail is None:
            detail = self._reads.detail(caller, records, records.intent.project_id)
            moment.details[caller.credential_helper] = detail
        quiet = (datetime.now(UTC) - (moment.newest or records.intent.state_since)).total_seconds()
        stop = can_stop(waiting_for(records.intent, records.requests), quiet, given.seconds)
        full = len(moment.events) == MOST_EVENTS
        return WaitAnswer(
            **{
                **dict(detail),
                "next": self._reads.stop_step(caller, records) if stop else detail.next,
                # A page that is full may hide later events: go on from its last one.
                "after_seq": moment.events[-1].seq if full else detail.after_seq,
            },
            events=moment.events,
            waited_sec=round(waited, 3),
            can_stop=stop,
        )

    async def live_events(self, caller: Caller, project_ref: str, after_seq: int) -> AsyncIterator[Event]:
        """Every event of a project after `after_seq`, as it is committed, until the caller leaves.

        Refuses as soon as the caller's token or session ends or they leave the project: nothing that was committed
        after it is given.
        """
        project = (await self._reads.seen(caller, project_ref)).project
        while not self._waiters.stopped:

            async def look(after: int = after_seq) -> list[Event] | None:
                async with self._reads.snapshot() as connection:
                    await must_still_see(connection, caller, project.id)
                    return await events.read_after(connection, project.id, after, _PAGE) or None

            found = await wait_for(
                self._waiters, look, project_id=project.id, seconds=_LOOK_SEC, person_id=caller.person_id
            )
            for event in found or []:
                yield event
                after_seq = event.seq


async def _events_of(connection: asyncpg.Connection, key: _Key) -> list[Event]:
    return await events.read_after(
        connection, key.project_id, key.after_seq, MOST_EVENTS, intent_id=key.intent_id
    )


async def _moment(connection: asyncpg.Connection, key: _Key, found: list[Event]) -> _Moment:
    records = await read_intent(connection, key.intent_id)
    if records is None:
        raise LookupError(f"intent {key.intent_id} left the record")
    return _Moment(records, found, await events.newest_of_intent(connection, key.intent_id))
