"""`gitring_wait`: registered before reading, rung by NATS, answered from the record."""

import time
from collections.abc import AsyncIterator
from datetime import UTC, datetime
from typing import NamedTuple

from bus.coalesce import Coalesced
from bus.wait import wait_for
from bus.waiters import Waiters
from gateway.reads import Reads
from protocol.answers import WaitAnswer
from protocol.events import Event
from protocol.intents import WaitInput
from protocol.projects import Caller
from protocol.records import IntentRecords
from rules.waiting import can_stop, waiting_for
from storage.sql import events
from storage.sql.snapshot import read_intent

MOST_EVENTS = 50
_PAGE = 500


class _Moment(NamedTuple):
    """One intent at one moment, with the events after a seq."""

    records: IntentRecords
    events: list[Event]
    newest: datetime | None


class _Key(NamedTuple):
    intent_id: str
    project_id: str
    after_seq: int


class Waits:
    """Held calls of this process."""

    def __init__(self, reads: Reads, waiters: Waiters) -> None:
        self._reads = reads
        self._waiters = waiters
        # A thousand waiters of one intent rung by one event share a read.
        self._moment = Coalesced(self._read)

    async def _read(self, key: _Key) -> _Moment:
        async with self._reads.snapshot() as connection:
            found = await events.read_after(
                connection, key.project_id, key.after_seq, MOST_EVENTS, intent_id=key.intent_id
            )
            records = await read_intent(connection, key.intent_id)
            newest = await events.newest_of_intent(connection, key.intent_id)
        if records is None:
            raise LookupError(f"intent {key.intent_id} left the record")
        return _Moment(records, found, newest)

    async def wait(self, caller: Caller, given: WaitInput) -> WaitAnswer:
        """The first event after `afterSeq`, or what stands when `seconds` are over. A final intent answers at once."""
        started = time.monotonic()
        row = (await self._reads.seen_intent(caller, given.intent_id)).intent
        key = _Key(given.intent_id, row.project_id, given.after_seq)
        last: list[_Moment] = []

        async def look() -> _Moment | None:
            moment = await self._moment(key)
            last[:] = [moment]
            news = bool(moment.events) or moment.records.intent.state.final
            return moment if news else None

        found = await wait_for(
            self._waiters,
            look,
            project_id=row.project_id,
            intent_ids=[given.intent_id],
            seconds=float(given.seconds),
        )
        return self._answer(caller, given, found or last[0], time.monotonic() - started)

    def _answer(self, caller: Caller, given: WaitInput, moment: _Moment, waited: float) -> WaitAnswer:
        records = moment.records
        detail = self._reads.detail(caller, records, records.intent.project_id)
        quiet = (datetime.now(UTC) - (moment.newest or records.intent.state_since)).total_seconds()
        stop = can_stop(waiting_for(records.intent, records.requests), quiet, given.seconds)
        full = len(moment.events) == MOST_EVENTS
        return WaitAnswer(
            **{
                **dict(detail),
                # A page that is full may hide later events: go on from its last one.
                "after_seq": moment.events[-1].seq if full else detail.after_seq,
            },
            events=moment.events,
            waited_sec=round(waited, 3),
            can_stop=stop,
        )

    async def live_events(self, caller: Caller, project_ref: str, after_seq: int) -> AsyncIterator[Event]:
        """Every event of a project after `after_seq`, as it is committed, until the caller leaves."""
        project = (await self._reads.seen(caller, project_ref)).project
        loop_time = 30.0
        while not self._waiters.stopped:

            async def look(after: int = after_seq) -> list[Event] | None:
                async with self._reads.snapshot() as connection:
                    return await events.read_after(connection, project.id, after, _PAGE) or None

            found = await wait_for(self._waiters, look, project_id=project.id, seconds=loop_time)
            for event in found or []:
                yield event
                after_seq = event.seq
