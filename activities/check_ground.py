"""What a check of this host runs on: its user and limits, its kept folders, its live log, and what is kept of it."""

import asyncio
from datetime import UTC, datetime
from pathlib import Path

import asyncpg
import structlog
from temporalio import activity

from activities.folders import Folders
from activities.live_log import LiveLogs
from activities.runner.artifacts import Collected, collect
from activities.runner.caches import Cache, cache_folder
from activities.runner.check import run_check
from activities.runner.isolation import MIB, Isolation, Limits
from activities.runner.launched import Watching
from activities.runner.users import RunUsers
from protocol.checks import CheckDefinition, RunResult
from protocol.queue import CheckRequest
from storage.sql import artifacts
from storage.sql.pool import OutcomeUnknown, RecordBusy, transaction

_log = structlog.get_logger("activities.checks")


class Ground:
    """The ground of one host. `user` is the account that checks run as where the server is root."""

    def __init__(
        self, pool: asyncpg.Pool, folders: Folders, live: LiveLogs | None = None, user: str | None = None
    ) -> None:
        self._pool = pool
        self._folders = folders
        self._live = live or LiveLogs(pool)
        self._users = RunUsers(user)
        self.account = user or ""

    async def run(
        self,
        request: CheckRequest,
        definition: CheckDefinition,
        check_id: str,
        *,
        tree: Path,
        log: Path,
        scratch: Path,
        log_limit: int,
    ) -> RunResult:
        """One try of a check in the checkout `tree`, told live; its files are in the record when this returns."""
        async with self._live.of(request.project_id, check_id) as on_output:
            with self._users.one() as user:
                result = await run_check(
                    definition,
                    tree,
                    log,
                    watching=Watching(
                        heartbeat=lambda written: activity.heartbeat(written), on_output=on_output
                    ),
                    isolation=Isolation(no_network=not definition.network, user=user),
                    limits=limits_of(definition),
                    cache=self._cache(request, definition),
                    log_limit=log_limit,
                    scratch=scratch,
                )
        found = await asyncio.to_thread(collect, tree, definition.artifacts)
        await self._keep(check_id, found, result)
        return result

    def _cache(self, request: CheckRequest, definition: CheckDefinition) -> Cache | None:
        if not definition.cache:
            return None
        store = cache_folder(
            self._folders.caches(), request.project_id, request.line, definition.name, definition.cache
        )
        return Cache(store, definition.cache)

    async def _keep(self, check_id: str, found: Collected, result: RunResult) -> None:
        try:
            async with transaction(self._pool) as connection:
                await artifacts.keep(connection, check_id, found.files)
                await artifacts.keep_ground(
                    connection, check_id, result.isolation, found.left_out, datetime.now(UTC)
                )
        except (RecordBusy, OutcomeUnknown) as problem:
            # Not worth a second run: the verdict counts.
            _log.warning("check.files_not_kept", check=check_id, problem=str(problem))


def limits_of(definition: CheckDefinition) -> Limits:
    """What a check may use by its definition, all its processes together."""
    memory = definition.memory_mb
    return Limits(memory_bytes=memory * MIB if memory else None, cpu_sec=definition.cpu_sec)
