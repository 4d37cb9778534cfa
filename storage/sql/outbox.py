"""The outbox: which committed events the relay has still to publish. A trigger fills it."""

from collections.abc import Sequence

import asyncpg

from protocol.events import Event
from storage.sql.events import event_of

CHANNEL = "gitring_outbox"
"""The NOTIFY channel that tells of new rows."""


async def pending(connection: asyncpg.Connection, limit: int) -> list[tuple[str, Event]]:
    """At most `limit` unpublished events, each with its project id, in (project, seq) order."""
    rows = await connection.fetch(
        "SELECT event.* FROM outbox JOIN event USING (project_id, seq)"
        " ORDER BY outbox.project_id, outbox.seq LIMIT $1",
        limit,
    )
    return [(row["project_id"], event_of(row)) for row in rows]


async def done(connection: asyncpg.Connection, rows: Sequence[tuple[str, Event]]) -> None:
    """Take these published events out of the outbox; rows already gone are no error."""
    await connection.execute(
        "DELETE FROM outbox USING unnest($1::text[], $2::bigint[]) AS sent (project_id, seq)"
        " WHERE outbox.project_id = sent.project_id AND outbox.seq = sent.seq",
        [project_id for project_id, _ in rows],
        [event.seq for _, event in rows],
    )
