"""What is known of a line's queue when somebody asks about one intent in it."""

import asyncpg

from protocol.records import IntentRow, QueueSight
from storage.sql import queue

MOST = 200
# So many candidates that were really tested say how long one takes.
_SAMPLE = 20


async def sight_of_queue(connection: asyncpg.Connection, row: IntentRow) -> QueueSight | None:
    """The queue around an intent; None when it does not stand in one."""
    if row.queued_at is None:
        return None
    now = await _now(connection, row)
    queued = await queue.order(connection, row.project_id, row.line, MOST, now["read_at"])
    after = await queue.open_dependencies(connection, [intent_id for intent_id, _ in queued])
    tested = now["commit_id"]
    return QueueSight(
        queued=queued,
        goes_after={intent_id: sorted(on) for intent_id, on in after.items()},
        read_at=now["read_at"],
        check_sec=now["check_sec"],
        tested_since=now["tested_since"],
        tested_with=await _members(connection, tested, row.number) if tested else [],
        running_since=None if tested else now["running_since"],
    )


# The median of how long the latest candidates of a line were tested, all their checks together.
_TYPICAL_SEC = f"""
    SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY took) FROM (
        SELECT extract(epoch FROM max(finished_at) - min(started_at))::float8 AS took FROM (
            SELECT commit_id, started_at, finished_at FROM check_run
            WHERE project_id = $1 AND line = $2 AND state IN ('passed', 'failed')
            ORDER BY started_at DESC LIMIT {_SAMPLE}
        ) AS latest GROUP BY commit_id
    ) AS candidates
"""


async def _now(connection: asyncpg.Connection, row: IntentRow) -> asyncpg.Record:
    """The clock, what tests the intent now and since when, what else runs on its line, how long a test takes."""
    found = await connection.fetchrow(
        f"""
        SELECT clock_timestamp() AS read_at, ({_TYPICAL_SEC}) AS check_sec, tested.started_at AS tested_since,
               tested.commit_id, (SELECT min(started_at) FROM check_run
                                  WHERE project_id = $1 AND line = $2 AND state = 'running') AS running_since
        FROM (SELECT 1) AS one LEFT JOIN LATERAL (
            SELECT check_run.started_at, check_run.commit_id FROM check_of_intent
            JOIN check_run ON check_run.id = check_id
            WHERE intent_id = $3 AND check_run.state = 'running' ORDER BY check_run.started_at LIMIT 1
        ) AS tested ON true
        """,
        row.project_id,
        row.line,
        row.id,
    )
    assert found is not None
    return found


async def typical_sec(connection: asyncpg.Connection, project_id: str, line: str) -> float | None:
    """The median of how long the latest candidates were tested, all their checks together."""
    found: float | None = await connection.fetchval(_TYPICAL_SEC, project_id, line)
    return found


async def _members(connection: asyncpg.Connection, commit: str, but: int) -> list[int]:
    rows = await connection.fetch(
        "SELECT DISTINCT number FROM check_run JOIN check_of_intent ON check_id = check_run.id "
        "JOIN intent ON intent.id = intent_id WHERE commit_id = $1 AND check_run.state = 'running' AND number <> $2 "
        "ORDER BY number",
        commit,
        but,
    )
    return [row["number"] for row in rows]
