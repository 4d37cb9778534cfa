"""A hand on the record from outside: a row lock as a stuck process holds it, and traps inside a transaction."""

import asyncio
import secrets
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress

import asyncpg

PATIENCE = 75.0
_PACE = 0.03


async def observed(ask: Callable[[], Awaitable[bool]], patience: float = PATIENCE) -> None:
    """Return once `ask` says yes. For facts of other processes, which have no bell for us to hear."""
    never = asyncio.Event()
    async with asyncio.timeout(patience):
        while not await ask():
            with suppress(TimeoutError):
                async with asyncio.timeout(_PACE):
                    await never.wait()


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


class Trap:
    """Stops whoever does one thing to one project, in the middle of the transaction that does it."""

    def __init__(self, connection: asyncpg.Connection, table: str, key: int) -> None:
        self._connection = connection
        self._table = table
        self._key = key
        self._open = True

    async def set(self, operation: str, project_id: str) -> None:
        """Arm it. Statements that touch the project's rows of the table wait inside, for ten seconds at most."""
        await self._connection.execute("SELECT pg_advisory_lock($1)", self._key)
        await self._connection.execute(
            f"CREATE FUNCTION trap_{self._key}() RETURNS trigger LANGUAGE plpgsql SET lock_timeout = 0 AS $$ "
            f"BEGIN PERFORM pg_advisory_xact_lock({self._key}); RETURN NEW; END $$"
        )
        await self._connection.execute(
            f"CREATE TRIGGER trap_{self._key} BEFORE {operation} ON {self._table} FOR EACH ROW "
            f"WHEN (NEW.project_id = '{project_id}') EXECUTE FUNCTION trap_{self._key}()"
        )

    async def caught(self) -> None:
        """Return once somebody is inside."""
        await observed(self.holds)

    async def holds(self) -> bool:
        """Whether somebody is inside now."""
        found = await self._connection.fetchval(
            "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND NOT granted AND objid = $1",
            self._key,
        )
        return bool(found)

    async def let_go(self) -> None:
        """Let everybody go on."""
        if self._open:
            self._open = False
            await self._connection.execute("SELECT pg_advisory_unlock($1)", self._key)

    async def take_away(self) -> None:
        """Catch nobody more. Waits for those inside this and any other trap on the table."""
        await self._connection.execute(f"DROP FUNCTION IF EXISTS trap_{self._key} CASCADE")

    async def forget(self, dsn: str) -> None:
        """Take it away after the record was killed, which broke this trap's own connection."""
        self._open = False
        connection = await asyncpg.connect(dsn)
        await connection.execute(f"DROP FUNCTION trap_{self._key} CASCADE")
        await connection.close()


@asynccontextmanager
async def trap(dsn: str, operation: str, table: str, project_id: str) -> AsyncIterator[Trap]:
    """A trap at `operation` (INSERT, UPDATE or UPDATE OF a column) on the project's rows of `table`."""
    connection = await asyncpg.connect(dsn)
    found = Trap(connection, table, secrets.randbelow(2**31))
    try:
        await found.set(operation, project_id)
        yield found
        if not connection.is_closed():
            await release(found)
    finally:
        await connection.close()


async def release(*traps: Trap) -> None:
    """Let everybody go on, and catch nobody more."""
    for each in traps:
        await each.let_go()
    for each in traps:
        await each.take_away()


async def all_caught(traps: list[Trap]) -> None:
    """Return once somebody is inside each of the traps at the same moment."""

    async def caught() -> bool:
        return all(await asyncio.gather(*(each.holds() for each in traps)))

    await observed(caught)
