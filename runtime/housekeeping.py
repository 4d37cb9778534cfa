"""What a host does now and then for its own disk: pack repositories, remove what killed checks left and old caches."""

import asyncio
from datetime import UTC, datetime, timedelta
from pathlib import Path

import asyncpg
import structlog

from activities.folders import Folders
from activities.runner.caches import sweep as sweep_caches
from storage.git.checkout import remove
from storage.git.errors import GitError
from storage.sql import artifacts, checks, live_log, projects, watch
from storage.sql.pool import RecordBusy, transaction

EVERY_SEC = 3600.0
# A step of checks ends after 25 hours: what was silent for longer was lost.
SILENT = timedelta(hours=26)
FILES_KEPT = timedelta(days=30)
FILES_BYTES = 2 * 1024**3
# Ended findings of the watchdog; the ledger keeps them.
FINDINGS_KEPT = timedelta(days=30)

_log = structlog.get_logger("runtime.housekeeping")


class Housekeeping:
    """The housekeeping of one host; a second worker on the same disk does no harm."""

    def __init__(self, pool: asyncpg.Pool, folders: Folders, host: str) -> None:
        self._pool = pool
        self._folders = folders
        self._host = host

    async def run(self) -> None:
        """Every hour, until cancelled; the first time after an hour, for a start has other things to do."""
        while True:
            await asyncio.sleep(EVERY_SEC)
            try:
                await self.once()
            except (RecordBusy, OSError, GitError) as problem:
                _log.warning("housekeeping.put_off", problem=f"{type(problem).__name__} {problem}")

    async def once(self) -> list[str]:
        """One pass; returns the names of the scratch folders that it removed."""
        removed = await self._remove_left_scratch()
        async with transaction(self._pool) as connection:
            await live_log.sweep(connection, datetime.now(UTC) - SILENT)
            await artifacts.sweep(connection, datetime.now(UTC) - FILES_KEPT, FILES_BYTES)
            await watch.forget_old(connection, datetime.now(UTC) - FINDINGS_KEPT)
        await asyncio.to_thread(sweep_caches, self._folders.caches())
        async with transaction(self._pool, readonly=True) as connection:
            hosted = await projects.of_host(connection, self._host)
        for project_id in hosted:
            await self._folders.repository(project_id).tidy()
        return removed

    async def _remove_left_scratch(self) -> list[str]:
        found = await asyncio.to_thread(_names_in, self._folders.scratch(""))
        async with transaction(self._pool, readonly=True) as connection:
            running = await checks.running_among(connection, found)
        left = [name for name in found if name not in running]
        for name in left:
            await remove(self._folders.scratch(name))
        return left


def _names_in(folder: Path) -> list[str]:
    return sorted(entry.name for entry in folder.iterdir()) if folder.is_dir() else []
