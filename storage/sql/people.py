"""People."""

from collections.abc import Sequence
from datetime import datetime

import asyncpg

from protocol.people import Member


async def add(connection: asyncpg.Connection, person_id: str, name: str, now: datetime) -> None:
    """Record a person."""
    await connection.execute(
        "INSERT INTO person (id, name, created_at) VALUES ($1, $2, $3)", person_id, name, now
    )


async def first_owner(connection: asyncpg.Connection) -> str | None:
    """The id of the person the server was set up for, or None on a new record."""
    found: str | None = await connection.fetchval("SELECT id FROM person ORDER BY created_at, id LIMIT 1")
    return found


async def name_of(connection: asyncpg.Connection, person_id: str) -> str:
    """A person's name."""
    name: str = await connection.fetchval("SELECT name FROM person WHERE id = $1", person_id)
    return name


async def one_bootstrap_at_a_time(connection: asyncpg.Connection) -> None:
    """Hold back other first starts on this record until the transaction ends."""
    await connection.execute("SELECT pg_advisory_xact_lock(hashtext('gitring-bootstrap'))")


async def add_member(connection: asyncpg.Connection, project_id: str, person_id: str, role: str) -> None:
    """Make a person a member of a project."""
    await connection.execute(
        "INSERT INTO member (project_id, person_id, role) VALUES ($1, $2, $3)", project_id, person_id, role
    )


async def owned_throughout(connection: asyncpg.Connection, person_id: str, owner_id: str) -> bool:
    """Whether the person is a member of at least one project, and of none that `owner_id` does not own."""
    owned: bool = await connection.fetchval(
        "SELECT count(*) > 0 AND bool_and(EXISTS (SELECT 1 FROM member AS mine WHERE mine.project_id = theirs.project_id "
        "AND mine.person_id = $2 AND mine.role = 'owner')) FROM member AS theirs WHERE theirs.person_id = $1",
        person_id,
        owner_id,
    )
    return owned


async def names_of(connection: asyncpg.Connection, person_ids: Sequence[str]) -> dict[str, str]:
    """The names of these people, by id."""
    if not person_ids:
        return {}
    rows = await connection.fetch("SELECT id, name FROM person WHERE id = ANY($1)", list(person_ids))
    return {row["id"]: row["name"] for row in rows}


async def member(connection: asyncpg.Connection, project_id: str, person_id: str) -> Member | None:
    """A member of a project, or None."""
    row = await connection.fetchrow(
        "SELECT person.id, name, role FROM member JOIN person ON person.id = person_id "
        "WHERE project_id = $1 AND person_id = $2",
        project_id,
        person_id,
    )
    return Member(**dict(row)) if row else None


async def set_role(connection: asyncpg.Connection, project_id: str, person_id: str, role: str) -> None:
    """Give a member another role."""
    await connection.execute(
        "UPDATE member SET role = $3 WHERE project_id = $1 AND person_id = $2", project_id, person_id, role
    )


async def remove_member(connection: asyncpg.Connection, project_id: str, person_id: str) -> None:
    """Take a person out of a project."""
    await connection.execute(
        "DELETE FROM member WHERE project_id = $1 AND person_id = $2", project_id, person_id
    )


async def owner_count(connection: asyncpg.Connection, project_id: str) -> int:
    """How many owners a project has."""
    return int(
        await connection.fetchval(
            "SELECT count(*) FROM member WHERE project_id = $1 AND role = 'owner'", project_id
        )
    )


async def keep_owner(connection: asyncpg.Connection, project_id: str) -> None:
    """Let the owner whom texts name be one of the owners there are: when it is none, the longest known of them."""
    await connection.execute(
        "UPDATE project SET owner_id = (SELECT person_id FROM member JOIN person ON person.id = person_id "
        "WHERE project_id = $1 AND role = 'owner' ORDER BY created_at, person.id LIMIT 1) "
        "WHERE id = $1 AND NOT EXISTS (SELECT 1 FROM member WHERE project_id = $1 "
        "AND person_id = project.owner_id AND role = 'owner')",
        project_id,
    )
