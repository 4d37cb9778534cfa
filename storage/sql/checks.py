"""Check runs, their logs, and the memory of results per (tree, definition)."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

import asyncpg

from protocol.records import CheckRow

_COLUMNS = """check_run.id, check_run.project_id, line, line_head, commit_id, tree, definition, state, exit_code,
    summary, failure, started_at, finished_at"""


async def start(
    connection: asyncpg.Connection,
    *,
    check_id: str,
    project_id: str,
    line: str,
    line_head: str,
    commit_id: str,
    tree: str,
    definition: str,
    command: str | None,
    now: datetime,
) -> None:
    """Record that a run began; a retry of the same run begins it again."""
    await connection.execute(
        "INSERT INTO check_run (id, project_id, line, line_head, commit_id, tree, definition, command, state, "
        "started_at) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, 'running', $9) "
        "ON CONFLICT (id) DO UPDATE SET state = 'running', started_at = $9, finished_at = NULL",
        check_id,
        project_id,
        line,
        line_head,
        commit_id,
        tree,
        definition,
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
    now: datetime,
) -> None:
    """Record how a run ended, with its log."""
    await connection.execute(
        "UPDATE check_run SET state = $2, exit_code = $3, summary = $4, failure = $5, log_bytes = $6, finished_at = $7, "
        "timed_out = $8 "
        "WHERE id = $1",
        check_id,
        state,
        exit_code,
        summary,
        failure,
        len(log),
        now,
        timed_out,
    )
    await connection.execute(
        "INSERT INTO check_log (check_id, content) VALUES ($1, $2) ON CONFLICT (check_id) DO UPDATE SET content = $2",
        check_id,
        log,
    )


async def remembered(
    connection: asyncpg.Connection, project_id: str, tree: str, definition: str
) -> dict[str, Any] | None:
    """The newest verdict on a tree under a definition: id, state, summary, failure.

    A run that timed out says too little about the tree to be remembered.
    """
    row = await connection.fetchrow(
        "SELECT id, state, summary, failure FROM check_run WHERE project_id = $1 AND tree = $2 AND definition = $3 "
        "AND state IN ('passed', 'failed') AND NOT timed_out ORDER BY finished_at DESC LIMIT 1",
        project_id,
        tree,
        definition,
    )
    return dict(row) if row else None


async def attach(
    connection: asyncpg.Connection, check_id: str, intent_id: str, head: str, reused: bool, now: datetime
) -> None:
    """Say that a run speaks of an intent's head."""
    await connection.execute(
        "INSERT INTO check_of_intent (check_id, intent_id, head, reused, created_at) VALUES ($1, $2, $3, $4, $5) "
        "ON CONFLICT (check_id, intent_id) DO UPDATE SET head = $3, reused = $4, created_at = $5",
        check_id,
        intent_id,
        head,
        reused,
        now,
    )


async def of_intent(connection: asyncpg.Connection, intent_id: str, limit: int = 10) -> list[CheckRow]:
    """The runs that speak of an intent, newest first."""
    rows = await connection.fetch(
        f"SELECT {_COLUMNS}, head, reused FROM check_of_intent JOIN check_run ON check_run.id = check_id "
        "WHERE intent_id = $1 ORDER BY created_at DESC LIMIT $2",
        intent_id,
        limit,
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
