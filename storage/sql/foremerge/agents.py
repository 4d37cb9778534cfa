"""Agents that registered, and those that stand for tokens of gitring's own face."""

from collections.abc import Sequence
from datetime import datetime

import asyncpg

from protocol.foremerge.records import AgentRow

_COLUMNS = (
    "id, project_id, person_id, token_id, of_gitring, name, model, capabilities, worktree, git_branch, git_head, "
    "registered_at, last_seen_at"
)


async def add(connection: asyncpg.Connection, row: AgentRow) -> None:
    """Record an agent."""
    await connection.execute(
        f"INSERT INTO fm_agent ({_COLUMNS}) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13) "
        "ON CONFLICT (project_id, token_id) WHERE of_gitring DO UPDATE SET last_seen_at = excluded.last_seen_at",
        *row.model_dump().values(),
    )


async def get(connection: asyncpg.Connection, agent_id: str) -> AgentRow | None:
    """One agent."""
    row = await connection.fetchrow(f"SELECT {_COLUMNS} FROM fm_agent WHERE id = $1", agent_id)
    return AgentRow(**dict(row)) if row else None


async def many(connection: asyncpg.Connection, agent_ids: Sequence[str]) -> dict[str, AgentRow]:
    """Several agents by id."""
    rows = await connection.fetch(f"SELECT {_COLUMNS} FROM fm_agent WHERE id = ANY($1)", list(agent_ids))
    return {row["id"]: AgentRow(**dict(row)) for row in rows}


async def of_project(connection: asyncpg.Connection, project_id: str) -> list[AgentRow]:
    """Every agent of a project, the first one first."""
    rows = await connection.fetch(
        f"SELECT {_COLUMNS} FROM fm_agent WHERE project_id = $1 ORDER BY registered_at, id", project_id
    )
    return [AgentRow(**dict(row)) for row in rows]


async def are_there(connection: asyncpg.Connection, project_id: str) -> bool:
    """Whether anybody works with this face in a project; only then is it told of gitring's own intents."""
    found: bool = await connection.fetchval(
        "SELECT EXISTS (SELECT FROM fm_agent WHERE project_id = $1)", project_id
    )
    return found


async def seen(connection: asyncpg.Connection, agent_id: str, now: datetime) -> None:
    """The agent made a call of its own."""
    await connection.execute(
        "UPDATE fm_agent SET last_seen_at = greatest(last_seen_at, $2) WHERE id = $1", agent_id, now
    )


async def bound_folder(connection: asyncpg.Connection, project_id: str) -> str | None:
    """The repository folder of its host that the project is bound to."""
    found: str | None = await connection.fetchval(
        "SELECT common_dir FROM fm_binding WHERE project_id = $1", project_id
    )
    return found


async def task(
    connection: asyncpg.Connection,
    *,
    task_id: str,
    project_id: str,
    key: str,
    title: str,
    agent_id: str,
    now: datetime,
) -> str:
    """The id of the task with this key, made if it is new."""
    found: str = await connection.fetchval(
        "INSERT INTO fm_task (id, project_id, task_key, title, created_by, created_at) VALUES ($1, $2, $3, $4, $5, $6) "
        "ON CONFLICT (project_id, task_key) DO UPDATE SET task_key = excluded.task_key RETURNING id",
        task_id,
        project_id,
        key,
        title,
        agent_id,
        now,
    )
    return found
