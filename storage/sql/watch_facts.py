"""What the watchdog looks at, in a few reads that cost little however many intents live."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

import asyncpg

from protocol.projects import ProjectSettings
from protocol.watch import CheckFact, LineFact, LiveFact, LostFact, QueuedFact, StandFact
from storage.sql.queue import AGES_AFTER, open_dependencies

# Bounds of one look; what lies beyond is found when the first of it is set right.
MOST_LINES = 500
MOST_QUEUED = 200
MOST_GREEN = 32
MOST_CHECKS = 1000
MOST_LIVES = 1000
# Among so many runs of a line that began last is the one that ended last.
_LATEST_RUNS = 32

# What an agent or a person does with an intent.
_MOVES = "('intent.plan_changed', 'intent.pushed', 'intent.submitted', 'change_request.closed', 'decision.recorded')"
_LAST = (
    "(SELECT created_at::timestamptz FROM event WHERE project_id = line.project_id AND entity_id = line.name "
    "AND {0} ORDER BY seq DESC LIMIT 1)"
)


async def lines(connection: asyncpg.Connection, now: datetime) -> list[LineFact]:
    """Every line that has something to land, with its queue."""
    rows = await connection.fetch(
        f"""
        SELECT line.project_id, host, line.name, settings, paused, stopped_by, draining_since,
               {_LAST.format("event_type IN ('line.paused', 'line.resumed', 'line.draining')")} AS switched_at,
               {_LAST.format("event_type = 'line.moved'")} AS moved_at,
               (SELECT created_at FROM landing WHERE project_id = line.project_id AND landing.line = line.name
                AND landing.state = 'prepared') AS landing_since,
               (SELECT count(*) FROM check_run WHERE project_id = line.project_id AND check_run.line = line.name
                AND check_run.state = 'running') AS running,
               (SELECT max(finished_at) FROM (
                   SELECT finished_at FROM check_run WHERE project_id = line.project_id AND check_run.line = line.name
                   ORDER BY started_at DESC LIMIT $2) AS latest) AS tested_at
        FROM line JOIN project ON project.id = line.project_id
        WHERE (line.project_id, line.name) IN (SELECT project_id, line FROM intent WHERE queued_at IS NOT NULL)
           OR untested OR draining_since IS NOT NULL
           OR (line.project_id, line.name) IN (SELECT project_id, line FROM landing WHERE state = 'prepared')
        ORDER BY line.project_id, line.name LIMIT $1
        """,
        MOST_LINES,
        _LATEST_RUNS,
    )
    queues = await _queues(connection, now)
    return [
        LineFact(
            **{**dict(row), "settings": ProjectSettings(**row["settings"])},
            queue=queues.get((row["project_id"], row["name"]), []),
        )
        for row in rows
    ]


async def _queues(connection: asyncpg.Connection, now: datetime) -> dict[tuple[str, str], list[QueuedFact]]:
    rows = await connection.fetch(
        "SELECT id, project_id, line, number, state, queued_at, state_since, emergency, place FROM ("
        "SELECT *, row_number() OVER (PARTITION BY project_id, line ORDER BY emergency IS NULL, "
        "(priority = 'high' OR queued_at < $1) DESC, queued_at, number) AS place FROM intent "
        "WHERE queued_at IS NOT NULL) AS queued WHERE place <= $2 ORDER BY project_id, line, place",
        now - AGES_AFTER,
        MOST_QUEUED,
    )
    after = await open_dependencies(connection, [row["id"] for row in rows])
    green = await _green(connection, [row["id"] for row in rows if row["place"] <= MOST_GREEN])
    found: dict[tuple[str, str], list[QueuedFact]] = {}
    for row in rows:
        names, at = green.get(row["id"], ([], None))
        found.setdefault((row["project_id"], row["line"]), []).append(
            QueuedFact(
                **{**dict(row), "emergency": row["emergency"] is not None},
                goes_after=sorted(after.get(row["id"], ())),
                green=names,
                green_at=at,
            )
        )
    return found


async def _green(
    connection: asyncpg.Connection, intent_ids: Sequence[str]
) -> dict[str, tuple[list[str], datetime]]:
    """By queued intent with nothing but green results since its line last moved: the names of the checks, and when the
    last of them was known. Results of a candidate that is not whole any more do not count."""
    rows = await connection.fetch(
        f"""
        SELECT intent.id, array_agg(newest.name) AS names, max(newest.at) AS at
        FROM intent JOIN line ON line.project_id = intent.project_id AND line.name = intent.line
        CROSS JOIN LATERAL (SELECT {_LAST.format("event_type = 'line.moved'")} AS at) AS moved
        CROSS JOIN LATERAL (
            SELECT DISTINCT ON (run.name) run.name, run.state IN ('passed', 'skipped') AS good,
                   greatest(run.finished_at, own.created_at) AS at, own.check_id, own.created_at
            FROM check_of_intent AS own JOIN check_run AS run ON run.id = own.check_id
            WHERE own.intent_id = intent.id AND own.head = intent.submitted_head
              AND own.created_at > coalesce(moved.at, '-infinity') AND run.state <> 'running'
            ORDER BY run.name, own.created_at DESC
        ) AS newest
        WHERE intent.id = ANY($1)
        GROUP BY intent.id
        HAVING bool_and(good) AND NOT bool_or(EXISTS (
            SELECT FROM check_of_intent AS other JOIN intent AS member ON member.id = other.intent_id
            WHERE other.check_id = newest.check_id AND other.created_at = newest.created_at
              AND (member.queued_at IS NULL OR member.submitted_head IS DISTINCT FROM other.head)))
        """,
        list(intent_ids),
    )
    return {row["id"]: (row["names"], row["at"]) for row in rows}


async def checks(connection: asyncpg.Connection) -> list[CheckFact]:
    """Every run without a verdict."""
    rows = await connection.fetch(
        "SELECT run.id, run.project_id, host, run.line, run.name, settings, started_at, began_at, "
        "written_at AS wrote_at, ARRAY(SELECT number FROM check_of_intent JOIN intent ON intent.id = intent_id "
        "WHERE check_id = run.id ORDER BY number) AS numbers FROM check_run AS run "
        "JOIN project ON project.id = run.project_id LEFT JOIN check_progress ON check_id = run.id "
        "WHERE run.state = 'running' ORDER BY started_at LIMIT $1",
        MOST_CHECKS,
    )
    return [CheckFact(**{**dict(row), "settings": ProjectSettings(**row["settings"])}) for row in rows]


async def stands(connection: asyncpg.Connection) -> list[StandFact]:
    """All that queued intents wait for, directly or not, while it is not queued itself."""
    edges = (
        "SELECT intent_id AS follower, on_id AS ahead FROM depends_on WHERE intent_id = {0} UNION ALL "
        "SELECT second_id, first_id FROM conflict WHERE second_id = {0} AND state = 'open' AND verdict = 'hold'"
    )
    rows = await connection.fetch(
        f"""
        WITH RECURSIVE reach (id) AS (
            SELECT on_id FROM depends_on JOIN intent ON intent.id = intent_id WHERE queued_at IS NOT NULL
            UNION
            SELECT edge.ahead FROM reach CROSS JOIN LATERAL ({edges.format("reach.id")}) AS edge
        )
        SELECT intent.id, number, state, queued_at IS NOT NULL AS queued,
               ARRAY(SELECT on_id FROM depends_on WHERE intent_id = intent.id ORDER BY on_id) AS goes_after,
               ARRAY(SELECT first_id FROM conflict WHERE second_id = intent.id AND conflict.state = 'open'
                     AND verdict = 'hold' ORDER BY first_id) AS held_by
        FROM reach JOIN intent USING (id) WHERE state NOT IN ('merged', 'withdrawn') LIMIT $1
        """,
        MOST_LIVES,
    )
    return [StandFact(**dict(row)) for row in rows]


async def lives(connection: asyncpg.Connection, now: datetime, still_since: datetime) -> list[LiveFact]:
    """Live intents that may have nobody: whose token ended, whose person may not write, and those still since then; and
    submitted ones that are checked outside the queue, where that is not paused."""
    rows = await connection.fetch(
        f"""
        WITH suspect AS (
            SELECT intent.*, token.revoked_at, token.expires_at, token.name AS token_name, role FROM intent
            JOIN token ON token.id = token_id
            LEFT JOIN member ON member.project_id = intent.project_id AND member.person_id = intent.person_id
            WHERE state IN ('plan_review', 'active', 'held', 'verifying') AND (
                CASE WHEN state = 'verifying' THEN queued_at IS NULL
                ELSE revoked_at IS NOT NULL OR expires_at <= $1 OR coalesce(role, 'viewer') = 'viewer' OR state_since < $2 END)
            ORDER BY state <> 'verifying', state_since LIMIT $3
        )
        SELECT suspect.id, suspect.project_id, number, suspect.line, state, state_since, revoked_at, expires_at, role,
               coalesce((SELECT created_at::timestamptz FROM event WHERE intent_id = suspect.id AND event_type IN {_MOVES}
                         ORDER BY seq DESC LIMIT 1), suspect.created_at) AS moved_at,
               EXISTS (SELECT FROM change_request WHERE intent_id = suspect.id AND kind = 'plan' AND blocking
                       AND closed_at IS NULL) AS sent_back,
               (SELECT max(finished_at) FROM check_of_intent JOIN check_run ON check_run.id = check_id
                WHERE intent_id = suspect.id) AS checked_at,
               EXISTS (SELECT FROM check_of_intent JOIN check_run ON check_run.id = check_id
                       WHERE intent_id = suspect.id AND check_run.state = 'running') AS checks_running,
               ARRAY(SELECT number FROM (
                   SELECT intent_id AS id FROM depends_on WHERE on_id = suspect.id
                   UNION SELECT second_id FROM conflict WHERE first_id = suspect.id AND state = 'open' AND verdict = 'hold'
               ) AS waiter JOIN intent AS other USING (id) WHERE other.state NOT IN ('merged', 'withdrawn')
               ORDER BY number) AS waited_on_by
        FROM suspect JOIN line ON line.project_id = suspect.project_id AND line.name = suspect.line
        WHERE state <> 'verifying' OR paused IS NULL
        """,
        now,
        still_since,
        MOST_LIVES,
    )
    return [_live(row, now) for row in rows]


def _live(row: Any, now: datetime) -> LiveFact:
    gone, gone_at = None, None
    if row["revoked_at"] is not None:
        gone, gone_at = "its agent's token was revoked", row["revoked_at"]
    elif row["expires_at"] is not None and row["expires_at"] <= now:
        gone, gone_at = "its agent's token has run out", row["expires_at"]
    elif row["role"] in (None, "viewer"):
        gone = "its person may not write in this project any more"
    fields = {name: row[name] for name in LiveFact.model_fields if name not in ("gone", "gone_at")}
    return LiveFact(**fields, gone=gone, gone_at=gone_at)


async def heard(connection: asyncpg.Connection) -> dict[str, datetime]:
    """When the worker of each host was last heard of."""
    return {row["host"]: row["heard_at"] for row in await connection.fetch("SELECT * FROM watch_host")}


async def live_ids(connection: asyncpg.Connection, born_before: datetime) -> list[str]:
    """Every live intent that was declared before then."""
    rows = await connection.fetch(
        "SELECT id FROM intent WHERE state NOT IN ('merged', 'withdrawn') AND created_at < $1", born_before
    )
    return [row["id"] for row in rows]


async def without_workflow(connection: asyncpg.Connection, intent_ids: Sequence[str]) -> list[LostFact]:
    """Those of these intents that live, as facts."""
    rows = await connection.fetch(
        "SELECT id, project_id, number, line, state_since AS since FROM intent "
        "WHERE id = ANY($1) AND state NOT IN ('merged', 'withdrawn')",
        list(intent_ids),
    )
    return [LostFact(**dict(row)) for row in rows]
