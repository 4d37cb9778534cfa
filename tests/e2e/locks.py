"""A hand on the record from outside: a project's row lock, held as a stuck process would hold it."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import asyncpg


@asynccontextmanager
async def project_locked(dsn: str, project_id: str) -> AsyncIterator[asyncpg.Connection]:
    """Hold the project's row lock for the length of the block; yields the connection that holds it."""
    connection = await asyncpg.connect(dsn)
    try:
        async with connection.transaction():
            await connection.execute(
                "SELECT event_seq FROM project_counter WHERE project_id = $1 FOR UPDATE", project_id
            )
            yield connection
    finally:
        await connection.close()
