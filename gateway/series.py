"""Series of numbers that intents reserve from: listed for all, created by owners."""

from datetime import UTC, datetime

import asyncpg

from gateway.access import must_own, see_project
from gateway.busy import RecordOrBusy
from gateway.reads import Reads
from protocol.claims import claim_key
from protocol.projects import Caller, CreateSeries, Series, SeriesList
from protocol.refusals import refused
from storage.sql import claims, ledger
from storage.sql.pool import lock_project

MOST_SERIES = 100


class SeriesOfProjects:
    """The series of projects."""

    def __init__(self, pool: asyncpg.Pool, reads: Reads) -> None:
        self._pool = pool
        self._reads = reads

    async def list(self, caller: Caller, project_ref: str) -> SeriesList:
        """All series, by prefix, each with the number that is given next."""
        async with self._reads.snapshot() as connection:
            seen = await see_project(connection, caller, project_ref)
            rows = await claims.series_of(connection, seen.project.id, MOST_SERIES)
        return SeriesList(series=[Series(**row._asdict()) for row in rows])

    async def create(self, caller: Caller, project_ref: str, given: CreateSeries) -> SeriesList:
        """Create a series. Its numbers only grow, so one is never given twice."""
        now = datetime.now(UTC)
        async with RecordOrBusy(self._pool) as connection:
            seen = await see_project(connection, caller, project_ref)
            must_own(seen, caller)
            # A declare may be reserving a name that would pass for one of the new numbers.
            await lock_project(connection, seen.project.id)
            await _must_fit(connection, seen.project.id, given)
            made = await claims.add_series(
                connection,
                project_id=seen.project.id,
                key=claim_key(given.prefix),
                prefix=given.prefix,
                first=given.next,
                created_by=caller.person_id,
                now=now,
            )
            if not made:
                raise refused(
                    "exists",
                    f"A series {given.prefix} exists already; prefixes are the same whatever their case.",
                    "Choose another prefix; GET …/series lists those there are.",
                )
            await ledger.series_created(
                connection, seen.project.id, given.prefix, given.next, caller.token_name, now
            )
        return await self.list(caller, project_ref)


async def _must_fit(connection: asyncpg.Connection, project_id: str, given: CreateSeries) -> None:
    if await claims.series_count(connection, project_id) >= MOST_SERIES:
        raise refused(
            "exists",
            f"The project has {MOST_SERIES} series, and that is the most.",
            "Reserve from one of them.",
        )
    held = await claims.name_like_a_number(connection, project_id, claim_key(given.prefix))
    if held is not None:
        name, number = held
        raise refused(
            "claim_held",
            f"Intent #{number} holds the name {name}, which would read as a number of {given.prefix}.",
            f"Choose another prefix, or wait until #{number} is merged or withdrawn.",
        )
