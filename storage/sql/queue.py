"""The merge queue's rows, and the write-ahead marker of a landing."""

from collections.abc import Sequence
from datetime import datetime
from typing import NamedTuple

import asyncpg

from protocol.queue import Merged
from protocol.records import IntentRow
from storage.sql import intents


class Landing(NamedTuple):
    """An open landing: the ref may or may not have moved yet."""

    id: str
    project_id: str
    line: str
    old_head: str
    new_head: str
    members: list[Merged]


async def queued(connection: asyncpg.Connection, project_id: str, line: str, limit: int) -> list[IntentRow]:
    """The queue of a line: high priority first, then by time. Dependencies are `open_dependencies`' business."""
    ids = await connection.fetch(
        "SELECT id FROM intent WHERE project_id = $1 AND line = $2 AND queued_at IS NOT NULL "
        "ORDER BY (priority = 'high') DESC, queued_at, number LIMIT $3",
        project_id,
        line,
        limit,
    )
    order = [row["id"] for row in ids]
    rows = await intents.many(connection, order)
    return [rows[intent_id] for intent_id in order]


async def open_dependencies(connection: asyncpg.Connection, intent_ids: Sequence[str]) -> dict[str, set[str]]:
    """What these intents go after and what has not landed yet (nor was withdrawn), by intent."""
    rows = await connection.fetch(
        "SELECT intent_id, on_id FROM depends_on JOIN intent AS needed ON needed.id = on_id "
        "WHERE intent_id = ANY ($1::text[]) AND needed.state NOT IN ('merged', 'withdrawn')",
        intent_ids,
    )
    found: dict[str, set[str]] = {}
    for row in rows:
        found.setdefault(row["intent_id"], set()).add(row["on_id"])
    return found


async def prepare(
    connection: asyncpg.Connection,
    *,
    landing_id: str,
    project_id: str,
    line: str,
    old_head: str,
    members: list[Merged],
    now: datetime,
) -> None:
    """Write the marker: from here on these intents land, whatever is killed."""
    await connection.execute(
        "INSERT INTO landing (id, project_id, line, old_head, new_head, members, state, created_at) "
        "VALUES ($1, $2, $3, $4, $5, $6, 'prepared', $7)",
        landing_id,
        project_id,
        line,
        old_head,
        members[-1].commit,
        [member.model_dump(mode="json") for member in members],
        now,
    )


async def open_landing(connection: asyncpg.Connection, project_id: str, line: str) -> Landing | None:
    """The line's marker that is not closed yet."""
    row = await connection.fetchrow(
        "SELECT id, project_id, line, old_head, new_head, members FROM landing "
        "WHERE project_id = $1 AND line = $2 AND state = 'prepared'",
        project_id,
        line,
    )
    if row is None:
        return None
    values = dict(row)
    return Landing(**{**values, "members": [Merged(**member) for member in values["members"]]})


async def is_landing(connection: asyncpg.Connection, project_id: str, line: str, intent_id: str) -> bool:
    """True while an open marker holds this intent."""
    found = await open_landing(connection, project_id, line)
    return found is not None and any(member.intent_id == intent_id for member in found.members)


async def close(connection: asyncpg.Connection, landing_id: str, state: str, now: datetime) -> None:
    """Close a marker as `landed` or `abandoned`."""
    await connection.execute(
        "UPDATE landing SET state = $2, closed_at = $3 WHERE id = $1", landing_id, state, now
    )
