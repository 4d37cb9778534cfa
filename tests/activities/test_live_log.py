"""A check's output on its way to the record: bounded whatever is printed, and never in the run's way."""

import asyncio
from datetime import UTC, datetime

import asyncpg

from activities.live_log import LiveLogs
from protocol.live import LOG_LIMIT
from storage.sql import live_log
from storage.sql.pool import transaction
from tests.storage.sql.ledger import new_project
from tests.storage.sql.test_live_log import run_of


class Rings:
    """Counts rings; `heard` waits for one that finds what it wants in the record."""

    def __init__(self, pool: asyncpg.Pool, check_id: str) -> None:
        self._pool = pool
        self._check_id = check_id
        self._rung = asyncio.Event()

    async def ring(self, project_id: str, check_id: str) -> None:
        """One ring."""
        assert check_id == self._check_id
        self._rung.set()

    async def heard(self, written: int) -> live_log.LiveRow:
        """The row once so much was written."""
        async with asyncio.timeout(30):
            while True:
                await self._rung.wait()
                self._rung.clear()
                async with transaction(self._pool, readonly=True) as connection:
                    row = await live_log.live(connection, self._check_id)
                if row is not None and row.written >= written:
                    return row


async def test_a_flood_is_counted_whole_and_kept_up_to_the_logs_limit(pool: asyncpg.Pool) -> None:
    project_id = await new_project(pool)
    check_id = await run_of(pool, project_id)
    rings = Rings(pool, check_id)
    line = b"ok 1 - one\n" * 5_000
    async with LiveLogs(pool, rings.ring).of(project_id, check_id) as on_output:
        for _ in range(60):
            on_output(line)
        on_output(b"the end")
        row = await rings.heard(60 * len(line) + 7)
    assert row.progress["lines"] == 300_001
    assert row.tail.endswith(b"\nthe end") and len(row.tail) == live_log.TAIL_BYTES
    async with transaction(pool, readonly=True) as connection:
        assert len(await live_log.printed(connection, check_id, 0, 2 * LOG_LIMIT)) == LOG_LIMIT


async def test_a_second_try_begins_a_log_of_its_own(pool: asyncpg.Pool) -> None:
    project_id = await new_project(pool)
    check_id = await run_of(pool, project_id)
    rings = Rings(pool, check_id)
    live = LiveLogs(pool, rings.ring)
    began = []
    for text in (b"first\n", b"second\n"):
        async with live.of(project_id, check_id) as on_output:
            on_output(text)
            began.append((await rings.heard(len(text))).began_at)
    async with transaction(pool, readonly=True) as connection:
        assert await live_log.printed(connection, check_id, 0, 100) == b"second\n"
    assert began[0] < began[1] <= datetime.now(UTC)
