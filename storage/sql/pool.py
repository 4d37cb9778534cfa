"""Connections to the record, and the bounds that keep a slow record from holding its callers.

RecordBusy        nothing was written: no free connection, a lock or a statement past its time,
                  a record that cannot be reached. The same call may work later.
OutcomeUnknown    the connection was lost while COMMIT was under way.
UnknownProject    the record has no such project.
"""

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any, Literal, NamedTuple, cast

import asyncpg

ACQUIRE_SECONDS = 3.0
LOCK_SECONDS = 3.0
STATEMENT_SECONDS = 10.0
CONNECT_SECONDS = 5.0

# A process that stops in the middle of a transaction would hold its project's row for ever.
_IDLE_IN_TRANSACTION_MS = 15_000
# A frozen server never runs its own statement timer, so the client keeps one too, a little later.
_CLIENT_GRACE_SECONDS = 2.0

Isolation = Literal["read_committed", "repeatable_read", "serializable"]

_LOST = (
    ConnectionError,
    TimeoutError,
    asyncpg.PostgresConnectionError,
    asyncpg.AdminShutdownError,
    asyncpg.CrashShutdownError,
    asyncpg.CannotConnectNowError,
    asyncpg.IdleInTransactionSessionTimeoutError,
)
_ROLLED_BACK = (
    asyncpg.LockNotAvailableError,
    asyncpg.QueryCanceledError,
    asyncpg.DeadlockDetectedError,
    asyncpg.SerializationError,
)


class RecordBusy(Exception):
    """The record did not answer in time and nothing was written; send the same call again shortly."""


class OutcomeUnknown(Exception):
    """The connection broke during COMMIT: the write is whole or absent, and a read must tell which."""


class UnknownProject(LookupError):
    """The record holds no project with this id."""


class ProjectCounters(NamedTuple):
    """The locked row of a project: the ledger's last seq and hash, and the intents numbered so far."""

    event_seq: int
    event_hash: str
    intent_count: int


def _to_json(value: Any) -> str:
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False)


async def prepare_connection(connection: asyncpg.Connection) -> None:
    """Let `json` and `jsonb` columns travel as Python values on this connection."""
    for name in ("json", "jsonb"):
        await connection.set_type_codec(name, encoder=_to_json, decoder=json.loads, schema="pg_catalog")


async def _nothing_to_reset(connection: asyncpg.Connection) -> None:
    """Save the round trip after each use: what a transaction sets ends with it, and nobody listens, locks or opens
    cursors for longer on a pooled connection."""


async def open_pool(
    dsn: str,
    *,
    min_size: int = 1,
    max_size: int = 10,
    application_name: str = "gitring",
    statement_timeout: float = STATEMENT_SECONDS,
    lock_timeout: float = LOCK_SECONDS,
) -> asyncpg.Pool:
    """A pool on the record at `dsn`; both timeouts are seconds and end the statement, not the pool.

    Raises RecordBusy when the record cannot be reached.
    """
    try:
        return await asyncpg.create_pool(
            dsn,
            min_size=min_size,
            max_size=max_size,
            init=prepare_connection,
            reset=_nothing_to_reset,
            timeout=CONNECT_SECONDS,
            command_timeout=statement_timeout + _CLIENT_GRACE_SECONDS,
            server_settings={
                "application_name": application_name,
                "statement_timeout": _milliseconds(statement_timeout),
                "lock_timeout": _milliseconds(lock_timeout),
                "idle_in_transaction_session_timeout": str(_IDLE_IN_TRANSACTION_MS),
                "timezone": "UTC",
            },
        )
    except (OSError, *_LOST, asyncpg.TooManyConnectionsError) as problem:
        raise _unreachable(problem) from problem


@asynccontextmanager
async def transaction(
    pool: asyncpg.Pool,
    *,
    isolation: Isolation = "read_committed",
    readonly: bool = False,
    acquire_timeout: float = ACQUIRE_SECONDS,
) -> AsyncIterator[asyncpg.Connection]:
    """One transaction on one connection: committed at the end of the block, rolled back by an exception.

    For a read of several tables use `isolation="repeatable_read", readonly=True`: one snapshot.
    Raises RecordBusy (nothing was written) or OutcomeUnknown (lost during COMMIT).
    """
    proxy = await _acquire(pool, acquire_timeout)
    connection = cast(asyncpg.Connection, proxy)
    body_done = False
    try:
        async with (
            connection.transaction(isolation=isolation, readonly=readonly),
            _hang_up_when_late(connection),
        ):
            yield connection
            body_done = True
    except _ROLLED_BACK as problem:
        raise RecordBusy(f"the record gave up: {problem}") from problem
    except (*_LOST, asyncpg.InterfaceError) as problem:
        if isinstance(problem, asyncpg.InterfaceError) and not _is_gone(connection):
            raise
        if isinstance(problem, TimeoutError) and not _is_gone(connection):
            connection.terminate()
        if body_done and not readonly:
            raise OutcomeUnknown("the connection to the record broke during COMMIT") from problem
        raise RecordBusy(
            f"the connection to the record broke: {type(problem).__name__} {problem}"
        ) from problem
    finally:
        await pool.release(proxy)


@asynccontextmanager
async def _hang_up_when_late(connection: asyncpg.Connection) -> AsyncIterator[None]:
    """A server that let the client's timer run out would not hear the ROLLBACK either."""
    try:
        yield
    except TimeoutError:
        connection.terminate()
        raise


def _is_gone(connection: asyncpg.Connection) -> bool:
    try:
        return connection.is_closed()
    except asyncpg.InterfaceError:  # the pool took the broken connection back
        return True


async def lock_project(
    connection: asyncpg.Connection, project_id: str, *, timeout: float = LOCK_SECONDS
) -> ProjectCounters:
    """Take the project's row lock until this transaction ends, and read its counters under it.

    `timeout` (seconds) bounds this wait and every later lock wait of the transaction.
    Raises RecordBusy past it, UnknownProject, or RuntimeError outside a transaction.
    """
    if not connection.is_in_transaction():
        raise RuntimeError("lock_project needs a transaction: its lock would be gone at once")
    await connection.execute("SELECT set_config('lock_timeout', $1, true)", _milliseconds(timeout))
    try:
        row = await connection.fetchrow(
            "SELECT event_seq, event_hash, intent_count FROM project_counter WHERE project_id = $1 FOR UPDATE",
            project_id,
        )
    except asyncpg.LockNotAvailableError as problem:
        raise RecordBusy(f"project {project_id} was locked for more than {timeout:g} s") from problem
    if row is None:
        raise UnknownProject(project_id)
    return ProjectCounters(*row)


async def _acquire(pool: asyncpg.Pool, seconds: float) -> Any:
    try:
        return await pool.acquire(timeout=seconds)
    except (OSError, *_LOST, asyncpg.TooManyConnectionsError) as problem:
        raise _unreachable(problem) from problem


def _unreachable(problem: BaseException) -> RecordBusy:
    if isinstance(problem, TimeoutError):
        return RecordBusy("the record had no free connection in time")
    return RecordBusy(f"the record cannot be reached: {problem}")


def _milliseconds(seconds: float) -> str:
    return str(max(1, round(seconds * 1000)))
