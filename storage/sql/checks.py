"""Check runs, their logs, and the memory of results per inputs, definition and environment."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, NamedTuple

import asyncpg

from protocol.queue import CheckRunOutcome
from protocol.records import CheckRow
from storage.sql import live_log

_COLUMNS = """check_run.id, check_run.project_id, name, line, line_head, commit_id, tree, definition, state, exit_code,
    summary, failure, tries, flaky, started_at, finished_at"""
_OUTCOME = "id AS check_id, name, state, summary, failure, tries, flaky"
# One run of each check at least, whatever it was; of the others the newest.
_NEWEST = 10


class ResultKey(NamedTuple):
    """What a result hangs on: equal keys end alike, so that a run is not repeated."""

    project_id: str
    inputs: str
    definition: str
    environment: str


async def start(
    connection: asyncpg.Connection,
    *,
    check_id: str,
    key: ResultKey,
    name: str,
    request_id: str,
    line: str,
    line_head: str,
    commit_id: str,
    tree: str,
    command: str | None,
    now: datetime,
) -> None:
    """Record that a run began; the same id begins again."""
    await connection.execute(
        "INSERT INTO check_run (id, project_id, inputs, definition, environment, name, request_id, line, line_head, "
        "commit_id, tree, command, state, started_at) "
        "VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, 'running', $13) "
        "ON CONFLICT (id) DO UPDATE SET state = 'running', started_at = $13, finished_at = NULL",
        check_id,
        *key,
        name,
        request_id,
        line,
        line_head,
        commit_id,
        tree,
        command,
        now,
    )


async def finish(
    connection: asyncpg.Connection,
    check_id: str,
    *,
    state: str,
    exit_code: int | None,
    summary: str,
    failure: dict[str, Any] | None,
    log: bytes,
    timed_out: bool,
    tries: int,
    flaky: Sequence[str],
    now: datetime,
) -> None:
    """Record how a run ended, with its log."""
    await connection.execute(
        "UPDATE check_run SET state = $2, exit_code = $3, summary = $4, failure = $5, log_bytes = $6, finished_at = $7, "
        "timed_out = $8, tries = $9, flaky = $10 WHERE id = $1",
        check_id,
        state,
        exit_code,
        summary,
        failure,
        len(log),
        now,
        timed_out,
        tries,
        list(flaky),
    )
    await connection.execute(
        "INSERT INTO check_log (check_id, content) VALUES ($1, $2) ON CONFLICT (check_id) DO UPDATE SET content = $2",
        check_id,
        log,
    )
    await live_log.end(connection, [check_id])


async def cancel_running(
    connection: asyncpg.Connection, request_id: str, why: str, now: datetime
) -> list[tuple[str, str]]:
    """Close the runs of a request that nobody will finish; (id, name) of each."""
    rows = await connection.fetch(
        "UPDATE check_run SET state = 'cancelled', summary = $2, finished_at = $3 "
        "WHERE request_id = $1 AND state = 'running' RETURNING id, name",
        request_id,
        why,
        now,
    )
    await live_log.end(connection, [row["id"] for row in rows])
    return [(row["id"], row["name"]) for row in rows]


async def of_request(connection: asyncpg.Connection, request_id: str) -> list[tuple[str, CheckRunOutcome]]:
    """The runs of a request that were not cancelled, each with the digest of its definition."""
    rows = await connection.fetch(
        f"SELECT {_OUTCOME}, definition FROM check_run WHERE request_id = $1 AND state <> 'cancelled'",
        request_id,
    )
    return [(row["definition"], CheckRunOutcome(**dict(row))) for row in rows]


async def remembered(
    connection: asyncpg.Connection, key: ResultKey, red_since: datetime | None = None
) -> CheckRunOutcome | None:
    """The newest verdict under this key. A run that timed out says too little to be remembered, and so does a red
    one from before `red_since`."""
    row = await connection.fetchrow(
        f"SELECT {_OUTCOME} FROM check_run WHERE project_id = $1 AND inputs = $2 AND definition = $3 "
        "AND environment = $4 AND state IN ('passed', 'failed') AND NOT timed_out "
        "AND (state = 'passed' OR $5::timestamptz IS NULL OR finished_at > $5) ORDER BY finished_at DESC LIMIT 1",
        *key,
        red_since,
    )
    return CheckRunOutcome(**dict(row), reused=True) if row else None


async def red_and_green(
    connection: asyncpg.Connection, key: ResultKey, red_since: datetime | None = None
) -> set[str]:
    """The failing tests ('' where none was named) of red runs under a key that has a green one too; red ones from
    before `red_since` had another cause."""
    rows = await connection.fetch(
        "SELECT state, coalesce(failure->>'test', '') AS test FROM check_run WHERE project_id = $1 AND inputs = $2 "
        "AND definition = $3 AND environment = $4 AND (state = 'passed' OR state = 'failed' "
        "AND ($5::timestamptz IS NULL OR finished_at > $5))",
        *key,
        red_since,
    )
    if not any(row["state"] == "passed" for row in rows):
        return set()
    return {row["test"] for row in rows if row["state"] == "failed"}


async def attach(
    connection: asyncpg.Connection, check_id: str, heads: Mapping[str, str], reused: bool, now: datetime
) -> None:
    """Say that a run speaks of these intents, each at a head."""
    await connection.execute(
        "INSERT INTO check_of_intent (check_id, intent_id, head, reused, created_at) "
        "SELECT $1, id, head, $4, $5 FROM unnest($2::text[], $3::text[]) AS member (id, head) "
        "ON CONFLICT (check_id, intent_id) DO UPDATE SET head = excluded.head, reused = $4, created_at = $5",
        check_id,
        list(heads.keys()),
        list(heads.values()),
        reused,
        now,
    )


async def of_intent(connection: asyncpg.Connection, intent_id: str) -> list[CheckRow]:
    """The newest runs that speak of an intent, newest first: ten, and the newest of each check in any case."""
    rows = await connection.fetch(
        f"SELECT * FROM (SELECT {_COLUMNS}, head, reused, created_at, "
        "row_number() OVER (PARTITION BY name ORDER BY created_at DESC) AS of_name, "
        "row_number() OVER (ORDER BY created_at DESC) AS of_all "
        "FROM check_of_intent JOIN check_run ON check_run.id = check_id WHERE intent_id = $1) AS ranked "
        "WHERE of_name = 1 OR of_all <= $2 ORDER BY created_at DESC, started_at DESC, id DESC",
        intent_id,
        _NEWEST,
    )
    return [CheckRow(**dict(row)) for row in rows]


async def get(connection: asyncpg.Connection, check_id: str) -> CheckRow | None:
    """One run."""
    row = await connection.fetchrow(
        f"SELECT {_COLUMNS}, commit_id AS head, false AS reused FROM check_run WHERE id = $1", check_id
    )
    return CheckRow(**dict(row)) if row else None


async def log_of(connection: asyncpg.Connection, check_id: str) -> bytes:
    """A run's log; empty while it runs."""
    content: bytes | None = await connection.fetchval(
        "SELECT content FROM check_log WHERE check_id = $1", check_id
    )
    return content or b""


async def running_among(connection: asyncpg.Connection, check_ids: Sequence[str]) -> set[str]:
    """Which of these runs have no verdict yet."""
    rows = await connection.fetch(
        "SELECT id FROM check_run WHERE id = ANY($1) AND state = 'running'", list(check_ids)
    )
    return {row["id"] for row in rows}
