"""What the board shows of a line's queue: the candidates under test with their checks, and since when it stands still."""

from datetime import datetime

import asyncpg

from protocol.wire import Record

_MOST_RUNS = 500


class BatchRun(Record):
    """One check of a candidate."""

    id: str
    name: str
    state: str


class Batch(Record):
    """A candidate under test, since when, with its checks so far. `numbers` are its members that still live, in all there
    are `members`; without any it is the line itself."""

    line: str
    line_head: str
    since: datetime
    members: int
    numbers: list[int]
    runs: list[BatchRun]


class Stop(Record):
    """Since when a line stands still or runs empty; `check_id` is the run that failed on the line itself."""

    since: datetime
    check_id: str | None


async def batches(connection: asyncpg.Connection, project_id: str) -> list[Batch]:
    """What is tested in a project now, by line and start."""
    rows = await connection.fetch(
        """
        WITH request AS (
            SELECT DISTINCT coalesce(nullif(request_id, ''), id) AS id FROM check_run
            WHERE project_id = $1 AND state = 'running'
        )
        SELECT request.id AS request, run.id, name, line, line_head, state, started_at FROM request
        JOIN check_run AS run ON (run.request_id <> '' AND run.request_id = request.id) OR run.id = request.id
        WHERE run.project_id = $1 ORDER BY line, started_at, run.id LIMIT $2
        """,
        project_id,
        _MOST_RUNS,
    )
    members = await _members(connection, [row["id"] for row in rows])
    found: dict[str, Batch] = {}
    for row in rows:
        live, count = members.get(row["id"], ([], 0))
        run = BatchRun(id=row["id"], name=row["name"], state=row["state"])
        before = found.get(row["request"])
        found[row["request"]] = Batch(
            line=row["line"],
            line_head=row["line_head"],
            since=before.since if before else row["started_at"],
            members=count,
            numbers=live,
            runs=[*(before.runs if before else ()), run],
        )
    return list(found.values())


async def _members(connection: asyncpg.Connection, check_ids: list[str]) -> dict[str, tuple[list[int], int]]:
    rows = await connection.fetch(
        "SELECT check_id, count(*) AS members, array_agg(number ORDER BY number) "
        "FILTER (WHERE intent.state NOT IN ('merged', 'withdrawn')) AS numbers "
        "FROM check_of_intent JOIN intent ON intent.id = intent_id WHERE check_id = ANY($1) GROUP BY check_id",
        check_ids,
    )
    return {row["check_id"]: (row["numbers"] or [], row["members"]) for row in rows}


async def latest_stop(connection: asyncpg.Connection, project_id: str, line: str) -> Stop | None:
    """When a line was last paused or drained, and over which run."""
    row = await connection.fetchrow(
        "SELECT created_at::timestamptz AS since, payload::jsonb ->> 'check_id' AS check_id FROM event "
        "WHERE project_id = $1 AND entity_id = $2 AND event_type IN ('line.paused', 'line.resumed', 'line.draining') "
        "ORDER BY seq DESC LIMIT 1",
        project_id,
        line,
    )
    return Stop(**dict(row)) if row else None
