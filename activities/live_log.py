"""A running check's output on its way to the record: in batches, with a ring for whoever follows it.

The record is what counts and a ring may be lost. Trouble with either never ends a run: its whole log is kept
by the runner and recorded at the end.
"""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from datetime import UTC, datetime

import asyncpg
import structlog

from protocol.live import LOG_LIMIT
from rules.progress import Counter
from rules.progress.counting import MAX_OPEN_LINE
from storage.sql import live_log
from storage.sql.live_log import TAIL_BYTES
from storage.sql.pool import OutcomeUnknown, RecordBusy, transaction

BATCH_SEC = 0.25
BATCH_BYTES = 32 * 1024
_BUSY_SEC = 5.0
# Output that waits for the record beyond this is counted and not read for tests.
_MOST_WAITING = 256 * 1024

Ring = Callable[[str, str], Awaitable[None]]
"""Tells whoever follows a check (its project and its id) that there is something to read."""

OnOutput = Callable[[bytes], None]

_log = structlog.get_logger("activities.live_log")


async def _nobody(project_id: str, check_id: str) -> None:
    """A ring that nobody hears: followers then look by themselves, now and then."""


class LiveLogs:
    """The live logs of one host's checks."""

    def __init__(self, pool: asyncpg.Pool, ring: Ring = _nobody) -> None:
        self._pool = pool
        self._ring = ring

    @asynccontextmanager
    async def of(self, project_id: str, check_id: str) -> AsyncIterator[OnOutput]:
        """Takes the output of one try of a run for the length of the block; the run must be in the record."""
        output = _Output(self._pool, check_id)
        writing = asyncio.create_task(self._write(output, project_id, check_id))
        try:
            yield output.take
        finally:
            writing.cancel()
            await asyncio.wait([writing])
            if not writing.cancelled() and (problem := writing.exception()) is not None:
                _log.error("live_log.ended", check=check_id, exc_info=problem)

    async def _write(self, output: "_Output", project_id: str, check_id: str) -> None:
        patience = 0.0
        while True:
            await output.batch(patience)
            try:
                if not await output.write():
                    return
            except (RecordBusy, OutcomeUnknown, asyncpg.PostgresError) as problem:
                said = f"{type(problem).__name__} {problem}"
                _log.warning("live_log.put_off", check=check_id, problem=said)
                patience = _BUSY_SEC
            else:
                patience = BATCH_SEC
                await self._ring(project_id, check_id)


class _Output:
    """What one run printed and the record does not have yet."""

    def __init__(self, pool: asyncpg.Pool, check_id: str) -> None:
        self._pool = pool
        self._check_id = check_id
        self._began_at = datetime.now(UTC)
        self._begun = False
        self._counter = Counter()
        self._waiting: list[bytes] = []
        self._waiting_bytes = 0
        self._passed_lines, self._passed_rest = 0, b""
        self._taken = 0
        self._kept = bytearray()
        self._start = 0
        self._tail = b""
        self._some, self._enough = asyncio.Event(), asyncio.Event()
        self._some.set()  # the beginning is worth a row

    def take(self, data: bytes) -> None:
        """Take the next piece of output; never waits and never fails."""
        room = LOG_LIMIT - self._taken
        if room > 0:
            self._kept += data[:room]
        self._taken += len(data)
        self._tail = (self._tail + data[-TAIL_BYTES:])[-TAIL_BYTES:]
        if self._waiting_bytes < _MOST_WAITING:
            self._waiting.append(data)
        else:
            _, end, rest = data.rpartition(b"\n")
            self._passed_lines += data.count(b"\n")
            self._passed_rest = (rest if end else self._passed_rest + rest)[:MAX_OPEN_LINE]
        self._waiting_bytes += len(data)
        self._some.set()
        if self._waiting_bytes >= BATCH_BYTES:
            self._enough.set()

    async def batch(self, patience: float) -> None:
        """Return when there is output, and then enough of it or `patience` seconds gone."""
        await self._some.wait()
        with suppress(TimeoutError):  # the usual end of a batch
            async with asyncio.timeout(patience):
                await self._enough.wait()
        self._some.clear()
        self._enough.clear()

    async def write(self) -> bool:
        """Bring what came to the record. False when this try is over there; what could not be written waits on."""
        waiting, self._waiting, self._waiting_bytes = self._waiting, [], 0
        passed_over = (self._passed_lines, self._passed_rest)
        self._passed_lines, self._passed_rest = 0, b""
        await asyncio.to_thread(self._count, waiting, *passed_over)
        now, piece, written, tail = datetime.now(UTC), bytes(self._kept), self._taken, self._tail
        self._some.set()  # until it is written
        async with transaction(self._pool) as connection:
            if not self._begun:
                await live_log.begin(connection, self._check_id, self._began_at)
            going_on = await live_log.append(
                connection,
                self._check_id,
                self._began_at,
                start=self._start,
                content=piece,
                written=written,
                progress=self._counter.progress().model_dump(mode="json"),
                tail=tail,
                now=now,
            )
        self._begun = True
        self._start += len(piece)
        del self._kept[: len(piece)]
        if not self._waiting_bytes:
            self._some.clear()
        return going_on

    def _count(self, pieces: list[bytes], passed_lines: int, passed_rest: bytes) -> None:
        for piece in pieces:
            self._counter.feed(piece)
        self._counter.pass_over(passed_lines, passed_rest)
