"""The output of running checks, piece by piece, and how far they are."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any, NamedTuple

import asyncpg

TAIL_BYTES = 16 * 1024
"""How much of the last output stands by itself, so that a glance reads one row."""


class LiveRow(NamedTuple):
    """Where a running check stands; `began_at` tells one try of it from the next."""

    began_at: datetime
    written: int
    progress: dict[str, Any]
    tail: bytes


async def begin(connection: asyncpg.Connection, check_id: str, now: datetime) -> None:
    """A try of a run begins: what an earlier one printed is forgotten."""
    await connection.execute("DELETE FROM check_progress WHERE check_id = $1", check_id)
    await connection.execute(
        "INSERT INTO check_progress (check_id, began_at, written_at) VALUES ($1, $2, $2)", check_id, now
    )


async def append(
    connection: asyncpg.Connection,
    check_id: str,
    began_at: datetime,
    *,
    start: int,
    content: bytes,
    written: int,
    progress: dict[str, Any],
    tail: bytes,
    now: datetime,
) -> bool:
    """Add the piece that begins at byte `start`. False, and nothing is kept, when this try is over."""
    found = await connection.fetchval(
        "UPDATE check_progress SET written = $3, progress = $4, tail = $5, written_at = $6 "
        "WHERE check_id = $1 AND began_at = $2 RETURNING true",
        check_id,
        began_at,
        written,
        progress,
        tail,
        now,
    )
    if found and content:
        await connection.execute(
            # A piece whose commit was in doubt comes again, and may have grown.
            "INSERT INTO check_output (check_id, start, content) VALUES ($1, $2, $3) "
            "ON CONFLICT (check_id, start) DO UPDATE SET content = $3",
            check_id,
            start,
            content,
        )
    return bool(found)


async def live(connection: asyncpg.Connection, check_id: str) -> LiveRow | None:
    """Where a running check stands; None before its first sign and after its end."""
    row = await connection.fetchrow(
        "SELECT began_at, written, progress, tail FROM check_progress WHERE check_id = $1", check_id
    )
    return LiveRow(*row) if row else None


async def printed(connection: asyncpg.Connection, check_id: str, after: int, limit: int) -> bytes:
    """What was printed after byte `after`, at least one piece of it when there is any, about `limit` bytes at most."""
    rows = await connection.fetch(
        "SELECT start, content FROM (SELECT start, content, coalesce(sum(length(content)) OVER "
        "(ORDER BY start ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING), 0) AS before FROM check_output "
        "WHERE check_id = $1 AND start + length(content) > $2) AS piece WHERE before < $3 ORDER BY start",
        check_id,
        after,
        limit,
    )
    if not rows:
        return b""
    return b"".join(row["content"] for row in rows)[max(0, after - rows[0]["start"]) :]


async def intents_of(connection: asyncpg.Connection, check_id: str) -> list[str]:
    """The intents that a run speaks of: their events tell of its end."""
    rows = await connection.fetch("SELECT intent_id FROM check_of_intent WHERE check_id = $1", check_id)
    return [row["intent_id"] for row in rows]


async def end(connection: asyncpg.Connection, check_ids: Sequence[str]) -> None:
    """These runs ended. One that has no log of its own, as it was stopped, keeps what it printed so far."""
    await connection.execute(
        "INSERT INTO check_log (check_id, content) SELECT check_id, string_agg(content, ''::bytea ORDER BY start) "
        "FROM check_output WHERE check_id = ANY($1) GROUP BY check_id ON CONFLICT (check_id) DO NOTHING",
        list(check_ids),
    )
    await connection.execute("DELETE FROM check_progress WHERE check_id = ANY($1)", list(check_ids))


async def sweep(connection: asyncpg.Connection, silent_since: datetime) -> int:
    """Remove what ended runs, and those that said nothing since then, left; how many runs that were."""
    gone = await connection.fetch(
        "DELETE FROM check_progress USING check_run WHERE check_run.id = check_id "
        "AND (state <> 'running' OR written_at < $1) RETURNING check_id",
        silent_since,
    )
    return len(gone)
