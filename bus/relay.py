"""The relay: carries committed events from the outbox to JetStream, each at least once, in seq order.

Any number may run; a session lock in the record lets one work while the others wait for it. Everything
about the record happens on the connection that holds the lock, so a relay that lost its lock can no
longer mark anything as published.
"""

import asyncio
from contextlib import suppress

import asyncpg
import structlog
from nats import errors

from bus.connect import Link
from bus.publish import NoStream, NotStored, Publisher
from bus.stream import ensure_stream
from storage.sql.outbox import done, pending
from storage.sql.relay_seat import open_seat, take_seat

_log = structlog.get_logger("bus.relay")

BATCH = 256
SWEEP_SECONDS = 5.0

_FIRST_PAUSE = 0.1
_LONGEST_PAUSE = 5.0
_CLOSE_SECONDS = 2.0

# TimeoutError and ConnectionError are OSErrors.
# A connection that is ended in the middle of an operation may leave the driver with an error of its own.
_RECORD_TROUBLE = (OSError, asyncpg.PostgresError, asyncpg.InterfaceError, asyncpg.InternalClientError)


class Relay:
    """One relay process's work; `run` it until it is cancelled."""

    def __init__(
        self, dsn: str, link: Link, *, batch: int = BATCH, sweep_seconds: float = SWEEP_SECONDS
    ) -> None:
        self._dsn = dsn
        self._link = link
        self._publisher = Publisher(link)
        self._batch = batch
        self._sweep_seconds = sweep_seconds
        self._bell = asyncio.Event()
        self._gap = asyncio.Event()
        self._askers: list[asyncio.Future[None]] = []
        self._pause = _FIRST_PAUSE
        self._holding = asyncio.Event()
        self._published = 0

    @property
    def holding(self) -> bool:
        """Whether this relay is the one that works."""
        return self._holding.is_set()

    @property
    def published(self) -> int:
        """Events this relay has published since it was made, repeats counted."""
        return self._published

    async def held(self) -> None:
        """Return as soon as this relay is the one that works."""
        await self._holding.wait()

    async def caught_up(self) -> None:
        """Return when everything committed before this call is in the stream; needs `run` running."""
        asked: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._askers.append(asked)
        self._bell.set()
        await asked

    async def run(self) -> None:
        """Relay until cancelled, through restarts of NATS and of the record."""
        forget = self._link.on_gap(self._gap.set)
        try:
            await self._publisher.start()
            while True:
                await self._serve_once()
        finally:
            forget()
            await self._publisher.stop()

    async def _serve_once(self) -> None:
        try:
            await self._serve()
        except _RECORD_TROUBLE as problem:
            _log.warning("relay.record_lost", error=f"{type(problem).__name__}: {problem}")
            self._gap.clear()
            await self._rest()

    async def _serve(self) -> None:
        """One session: wait for the seat, then work on it until the record or the caller ends it."""
        connection = await open_seat(self._dsn, self._bell.set)
        try:
            await take_seat(connection)
            _log.info("relay.holding")
            self._holding.set()
            self._pause = _FIRST_PAUSE
            await self._make_stream()
            await self._work(connection)
        finally:
            self._holding.clear()
            with suppress(*_RECORD_TROUBLE):  # a connection that cannot be closed well is already gone
                await connection.close(timeout=_CLOSE_SECONDS)

    async def _work(self, connection: asyncpg.Connection) -> None:
        while True:
            self._bell.clear()
            asked_before = len(self._askers)
            rows = await pending(connection, self._batch)
            if not rows:
                self._answer(asked_before)
                await _within(self._sweep_seconds, self._bell)
                continue
            self._gap.clear()
            progress = await self._publisher.publish_in_order(rows)
            if progress.acked:
                await done(connection, rows[: progress.acked])
                self._published += progress.acked
                self._pause = _FIRST_PAUSE
            if progress.problem is not None:
                await self._recover(progress.problem)

    async def _recover(self, problem: NotStored) -> None:
        """Wait until another try makes sense: the connection stands again, or a growing pause is over."""
        _log.warning("relay.not_published", error=f"{type(problem).__name__}: {problem}")
        if not self._link.is_up:
            await self._link.up()
            return
        if isinstance(problem, NoStream):
            await self._make_stream()
        await self._rest()

    async def _rest(self) -> None:
        await _within(self._pause, self._gap)
        self._pause = min(self._pause * 2, _LONGEST_PAUSE)

    async def _make_stream(self) -> None:
        await self._link.up()
        try:
            await ensure_stream(self._link.jetstream)
        except errors.Error as problem:
            _log.error("relay.no_stream", error=f"{type(problem).__name__}: {problem}")

    def _answer(self, count: int) -> None:
        for asked in self._askers[:count]:
            if not asked.done():
                asked.set_result(None)
        del self._askers[:count]


async def _within(seconds: float, event: asyncio.Event) -> None:
    """Return when `event` is set or after `seconds`, whichever is first."""
    with suppress(TimeoutError):
        async with asyncio.timeout(seconds):
            await event.wait()
