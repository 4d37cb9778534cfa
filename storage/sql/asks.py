"""Asks: opened by a person, declared by an agent of theirs once, or closed. Every write takes the project's lock."""

from datetime import datetime
from typing import Any, NamedTuple

import asyncpg

_ASK = """
    SELECT ask.id, ask.project_id, project.slug AS project, ask.person_id, ask.text, ask.draft, ask.intent_id,
           intent.number AS number, ask.closed_at, ask.created_at
    FROM ask JOIN project ON project.id = ask.project_id LEFT JOIN intent ON intent.id = ask.intent_id
"""
_OPEN = "ask.project_id = $1 AND ask.person_id = $2 AND ask.intent_id IS NULL AND ask.closed_at IS NULL"


class AskRow(NamedTuple):
    """An ask; open while it has neither an intent nor a time at which it was closed."""

    id: str
    project_id: str
    project: str
    person_id: str
    text: str
    draft: dict[str, Any] | None
    intent_id: str | None
    number: int | None
    closed_at: datetime | None
    created_at: datetime


async def add(
    connection: asyncpg.Connection,
    *,
    ask_id: str,
    project_id: str,
    person_id: str,
    text: str,
    draft: dict[str, Any] | None,
    now: datetime,
) -> None:
    """Record an open ask."""
    await connection.execute(
        "INSERT INTO ask (id, project_id, person_id, text, draft, created_at) VALUES ($1, $2, $3, $4, $5, $6)",
        ask_id,
        project_id,
        person_id,
        text,
        draft,
        now,
    )


async def find(connection: asyncpg.Connection, ask_id: str) -> AskRow | None:
    """An ask by its id."""
    row = await connection.fetchrow(f"{_ASK} WHERE ask.id = $1", ask_id)
    return AskRow(*row) if row else None


async def open_of(
    connection: asyncpg.Connection, project_id: str, person_id: str, limit: int, after: str = ""
) -> list[AskRow]:
    """A person's open asks in a project, oldest first; those behind the id `after`."""
    rows = await connection.fetch(
        f'{_ASK} WHERE {_OPEN} AND ask.id COLLATE "C" > $4 ORDER BY ask.id COLLATE "C" LIMIT $3',
        project_id,
        person_id,
        limit,
        after,
    )
    return [AskRow(*row) for row in rows]


async def open_count(connection: asyncpg.Connection, project_id: str, person_id: str) -> int:
    """How many asks of a person are open in a project."""
    return int(await connection.fetchval(f"SELECT count(*) FROM ask WHERE {_OPEN}", project_id, person_id))


async def declare(connection: asyncpg.Connection, ask_id: str, intent_id: str) -> None:
    """Mark an open ask as declared by an intent."""
    await connection.execute("UPDATE ask SET intent_id = $2 WHERE id = $1", ask_id, intent_id)


async def close(connection: asyncpg.Connection, ask_id: str, now: datetime) -> None:
    """Mark an open ask as given up."""
    await connection.execute("UPDATE ask SET closed_at = $2 WHERE id = $1", ask_id, now)
