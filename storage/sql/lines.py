"""The moves of a line and of its queue: its head, and why it stands still."""

from datetime import datetime

import asyncpg


async def move(connection: asyncpg.Connection, project_id: str, name: str, head: str) -> bool:
    """Record a line's new head. A queue that stood still because the line itself failed goes on with it: True then."""
    goes_on: bool = await connection.fetchval(
        "UPDATE line SET head = $3, paused = CASE WHEN before.stopped_by = 'line' THEN NULL ELSE line.paused END, "
        "stopped_by = nullif(before.stopped_by, 'line') "
        "FROM line AS before WHERE line.project_id = $1 AND line.name = $2 "
        "AND before.project_id = line.project_id AND before.name = line.name "
        "RETURNING before.stopped_by IS NOT DISTINCT FROM 'line'",
        project_id,
        name,
        head,
    )
    return goes_on


async def pause(connection: asyncpg.Connection, project_id: str, name: str, why: str, by: str) -> None:
    """Let a line's queue stand still: by its `owner`, by the `line` that fails its own checks, or `drained`."""
    await connection.execute(
        "UPDATE line SET paused = $3, stopped_by = $4, draining_since = NULL, draining_why = NULL "
        "WHERE project_id = $1 AND name = $2",
        project_id,
        name,
        why,
        by,
    )


async def resume(connection: asyncpg.Connection, project_id: str, name: str, now: datetime) -> None:
    """Let it move. What was red while the line itself failed is tested again."""
    await connection.execute(
        "UPDATE line SET paused = NULL, draining_since = NULL, draining_why = NULL, stopped_by = NULL, "
        "red_since = CASE WHEN stopped_by = 'line' THEN $3 ELSE red_since END WHERE project_id = $1 AND name = $2",
        project_id,
        name,
        now,
    )


async def drain(connection: asyncpg.Connection, project_id: str, name: str, why: str, now: datetime) -> None:
    """Land what is queued by now, then stand still."""
    await connection.execute(
        "UPDATE line SET draining_since = $4, draining_why = $3 WHERE project_id = $1 AND name = $2",
        project_id,
        name,
        why,
        now,
    )


async def set_untested(connection: asyncpg.Connection, project_id: str, name: str, untested: bool) -> None:
    """Say whether the line's head landed without checks."""
    await connection.execute(
        "UPDATE line SET untested = $3 WHERE project_id = $1 AND name = $2 AND untested <> $3",
        project_id,
        name,
        untested,
    )


async def waiting_for_checks(connection: asyncpg.Connection, project_id: str, name: str) -> list[str]:
    """The intents of a line whose own workflow has them checked before a person decides."""
    rows = await connection.fetch(
        "SELECT id FROM intent WHERE project_id = $1 AND line = $2 AND state = 'verifying' AND queued_at IS NULL "
        "ORDER BY number",
        project_id,
        name,
    )
    return [row["id"] for row in rows]
