"""The relay's seat: a session-level advisory lock, so that of many relays exactly one works."""

from collections.abc import Callable

import asyncpg

from storage.sql.outbox import CHANNEL

# Any fixed number that no other advisory lock of this database uses.
SEAT = 7_316_405_127

# A statement that waits holds a snapshot, and a snapshot held for days keeps VACUUM from cleaning the
# outbox; so the wait in the queue is taken up anew every minute.
_WAIT_SECONDS = 60

_SETTINGS = {
    "application_name": "gitring-relay",
    "statement_timeout": "0",
    "lock_timeout": str(_WAIT_SECONDS * 1000),
    "idle_session_timeout": "0",
    # The seat of a machine that vanished is free again within half a minute.
    "tcp_keepalives_idle": "10",
    "tcp_keepalives_interval": "5",
    "tcp_keepalives_count": "4",
}


async def open_seat(dsn: str, ring: Callable[[], None]) -> asyncpg.Connection:
    """A connection that calls `ring` at each new outbox row, and when it breaks."""
    connection = await asyncpg.connect(dsn, timeout=5, command_timeout=30, server_settings=_SETTINGS)
    connection.add_termination_listener(lambda _: ring())
    await connection.add_listener(CHANNEL, lambda *_: ring())
    return connection


async def take_seat(connection: asyncpg.Connection) -> None:
    """Wait, queued in the server, until this session holds the seat; it is free when the session ends."""
    while True:
        try:
            await connection.execute("SELECT pg_advisory_lock($1)", SEAT, timeout=_WAIT_SECONDS + 15)
            return
        except asyncpg.LockNotAvailableError:
            continue
