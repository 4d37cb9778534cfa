"""The merge queue's rows, and the write-ahead marker of a landing."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import NamedTuple

import asyncpg

from protocol.queue import Merged
from protocol.records import IntentRow
from storage.sql import intents

# Whatever waited this long is as urgent as what was declared urgent, so that nobody waits for ever.
AGES_AFTER = timedelta(minutes=15)


class Landing(NamedTuple):
    """An open landing: the ref may or may not have moved yet."""

    id: str
    project_id: str
    line: str
    old_head: str
    new_head: str
    members: list[Merged]


async def queued(
    connection: asyncpg.Connection,
    project_id: str,
    line: str,
    limit: int,
    now: datetime,
    until: datetime | None = None,
) -> list[IntentRow]:
    """The queue of a line: what an owner lands at once, then what is urgent, then by time.

    Urgent is high priority, and whatever waited long. Dependencies are
    `open_dependencies`' business.
    """
    order_of_ids = [i for i, _ in await order(connection, project_id, line, limit, now, until)]
    rows = await intents.many(connection, order_of_ids)
    return [rows[intent_id] for intent_id in order_of_ids]


async def order(
    connection: asyncpg.Connection,
    project_id: str,
    line: str,
    limit: int,
    now: datetime,
    until: datetime | None = None,
) -> list[tuple[str, int]]:
    """(id, number) of the queue, in the order of `queued`."""
    rows = await connection.fetch(
        "SELECT id, number FROM intent WHERE project_id = $1 AND line = $2 AND queued_at IS NOT NULL "
        "AND ($5::timestamptz IS NULL OR queued_at <= $5) "
        "ORDER BY emergency IS NULL, (priority = 'high' OR queued_at < $4) DESC, queued_at, number LIMIT $3",
        project_id,
        line,
        limit,
        now - AGES_AFTER,
        until,
    )
    return [(row["id"], row["number"]) for row in rows]


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


async def conflicting_pairs(
    connection: asyncpg.Connection, intent_ids: Sequence[str]
) -> list[tuple[str, str]]:
    """Which of these intents have a conflict with each other, of any range."""
    rows = await connection.fetch(
        "SELECT first_id, second_id FROM conflict WHERE state = 'open' AND first_id = ANY ($1::text[]) "
        "AND second_id = ANY ($1::text[])",
        list(intent_ids),
    )
    return [(row["first_id"], row["second_id"]) for row in rows]


async def number_landed_as(connection: asyncpg.Connection, project_id: str, commit: str) -> int | None:
    """The number of the intent that landed with this merge commit."""
    found: int | None = await connection.fetchval(
        "SELECT number FROM intent WHERE project_id = $1 AND state = 'merged' AND merged_commit = $2",
        project_id,
        commit,
    )
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


async def was_abandoned(connection: asyncpg.Connection, landing_id: str) -> bool:
    """True for a landing that an earlier try gave up, because the ref stood elsewhere."""
    found: bool = await connection.fetchval(
        "SELECT EXISTS (SELECT FROM landing WHERE id = $1 AND state = 'abandoned')", landing_id
    )
    return found


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
