"""Projects, their lines and members."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

import asyncpg

from protocol.projects import ProjectSettings
from protocol.records import LineRow, ProjectRow

_PROJECT = """
    SELECT project.id, slug, owner_id, person.name AS owner_name, host, default_line, settings, project.created_at
    FROM project JOIN person ON person.id = owner_id
"""

_LINE = "project_id, name, head, paused, stopped_by, red_since, draining_since, draining_why, untested"


async def add(
    connection: asyncpg.Connection,
    *,
    project_id: str,
    slug: str,
    owner_id: str,
    host: str,
    default_line: str,
    settings: ProjectSettings,
    lines: dict[str, str | None],
    now: datetime,
) -> bool:
    """Record a project with its lines and its owner; False when the slug is taken."""
    made = await connection.fetchval(
        "INSERT INTO project (id, slug, owner_id, host, default_line, settings, created_at) "
        "VALUES ($1, $2, $3, $4, $5, $6, $7) ON CONFLICT (slug) DO NOTHING RETURNING id",
        project_id,
        slug,
        owner_id,
        host,
        default_line,
        settings.model_dump(mode="json"),
        now,
    )
    if made is None:
        return False
    await connection.execute("INSERT INTO project_counter (project_id) VALUES ($1)", project_id)
    await connection.execute(
        "INSERT INTO member (project_id, person_id, role) VALUES ($1, $2, 'owner')", project_id, owner_id
    )
    for name, head in lines.items():
        await add_line(connection, project_id, name, head, now)
    return True


async def add_line(
    connection: asyncpg.Connection, project_id: str, name: str, head: str | None, now: datetime
) -> None:
    """Record a line."""
    await connection.execute(
        "INSERT INTO line (project_id, name, head, created_at) VALUES ($1, $2, $3, $4)",
        project_id,
        name,
        head,
        now,
    )


async def find(connection: asyncpg.Connection, ref: str) -> ProjectRow | None:
    """A project by id or slug."""
    row = await connection.fetchrow(f"{_PROJECT} WHERE project.id = $1 OR slug = $1", ref)
    return _project(row) if row else None


async def of_person(
    connection: asyncpg.Connection, person_id: str, named: Sequence[str] | None
) -> list[ProjectRow]:
    """The projects a person is a member of; with `named`, only those of them."""
    rows = await connection.fetch(
        f"{_PROJECT} JOIN member ON member.project_id = project.id AND member.person_id = $1 "
        "WHERE $2::text[] IS NULL OR project.id = ANY($2) ORDER BY slug",
        person_id,
        None if named is None else list(named),
    )
    return [_project(row) for row in rows]


async def role_of(connection: asyncpg.Connection, project_id: str, person_id: str) -> str | None:
    """A person's role in a project: owner, writer, viewer, or None."""
    role: str | None = await connection.fetchval(
        "SELECT role FROM member WHERE project_id = $1 AND person_id = $2", project_id, person_id
    )
    return role


async def live_counts(connection: asyncpg.Connection, project_ids: Sequence[str]) -> dict[str, int]:
    """How many intents are live, by project."""
    rows = await connection.fetch(
        "SELECT project_id, count(*) AS live FROM intent WHERE project_id = ANY($1) "
        "AND state NOT IN ('merged', 'withdrawn') GROUP BY project_id",
        list(project_ids),
    )
    return {row["project_id"]: row["live"] for row in rows}


async def change_settings(connection: asyncpg.Connection, project_id: str, settings: ProjectSettings) -> None:
    """Replace a project's settings."""
    await connection.execute(
        "UPDATE project SET settings = $2 WHERE id = $1", project_id, settings.model_dump(mode="json")
    )


async def line(connection: asyncpg.Connection, project_id: str, name: str) -> LineRow | None:
    """One line."""
    row = await connection.fetchrow(
        f"SELECT {_LINE} FROM line WHERE project_id = $1 AND name = $2",
        project_id,
        name,
    )
    return LineRow(**dict(row)) if row else None


async def lines(connection: asyncpg.Connection, project_id: str) -> list[LineRow]:
    """All lines of a project."""
    rows = await connection.fetch(
        f"SELECT {_LINE} FROM line WHERE project_id = $1 ORDER BY created_at, name",
        project_id,
    )
    return [LineRow(**dict(row)) for row in rows]


async def queue_lengths(connection: asyncpg.Connection, project_id: str) -> dict[str, int]:
    """How many intents stand in each line's queue."""
    rows = await connection.fetch(
        "SELECT line, count(*) AS queued FROM intent WHERE project_id = $1 AND queued_at IS NOT NULL GROUP BY line",
        project_id,
    )
    return {row["line"]: row["queued"] for row in rows}


async def lines_with_queue(connection: asyncpg.Connection) -> list[tuple[str, str, str]]:
    """(project, line, host) of every line that has something to land."""
    rows = await connection.fetch(
        "SELECT DISTINCT intent.project_id, intent.line, project.host FROM intent "
        "JOIN project ON project.id = intent.project_id WHERE queued_at IS NOT NULL "
        "UNION SELECT line.project_id, line.name, project.host FROM line "
        "JOIN project ON project.id = line.project_id WHERE untested OR draining_since IS NOT NULL "
        "UNION SELECT landing.project_id, landing.line, project.host FROM landing "
        "JOIN project ON project.id = landing.project_id WHERE landing.state = 'prepared'"
    )
    return [(row[0], row[1], row[2]) for row in rows]


def _project(row: Any) -> ProjectRow:
    values = dict(row)
    return ProjectRow(**{**values, "settings": ProjectSettings(**values["settings"])})


async def of_host(connection: asyncpg.Connection, host: str) -> list[str]:
    """The projects whose repositories a host owns."""
    rows = await connection.fetch("SELECT id FROM project WHERE host = $1 ORDER BY id", host)
    return [row["id"] for row in rows]


async def may_create(connection: asyncpg.Connection, person_id: str) -> bool:
    """True for the person the server was set up for, and for whoever owns a project."""
    found: bool = await connection.fetchval(
        "SELECT $1 = (SELECT id FROM person ORDER BY created_at, id LIMIT 1) "
        "OR EXISTS (SELECT FROM member WHERE person_id = $1 AND role = 'owner')",
        person_id,
    )
    return found
