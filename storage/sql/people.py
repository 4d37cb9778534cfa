"""People."""

from collections.abc import Sequence
from datetime import datetime
from typing import NamedTuple

import asyncpg

from protocol.people import Member
from storage.sql.sessions import SESSION_IDLE


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


async def known_elsewhere(connection: asyncpg.Connection, project_id: str, owner_id: str) -> list[Member]:
    """People who are no members of a project, but of another one that `owner_id` owns too; by name, at most 200.

    `role` is the highest that they have there.
    """
    rows = await connection.fetch(
        "SELECT person.id, name, (array_agg(theirs.role ORDER BY "
        "array_position(ARRAY['owner', 'writer', 'viewer'], theirs.role)))[1] AS role FROM member AS mine "
        "JOIN member AS theirs ON theirs.project_id = mine.project_id JOIN person ON person.id = theirs.person_id "
        "WHERE mine.person_id = $2 AND mine.role = 'owner' AND NOT EXISTS (SELECT 1 FROM member "
        "WHERE project_id = $1 AND person_id = person.id) GROUP BY person.id, name ORDER BY name, person.id LIMIT 200",
        project_id,
        owner_id,
    )
    return [Member(**dict(row)) for row in rows]


class Presence(NamedTuple):
    """Where a member is signed in, and what acts for them: live sessions, when one was seen last, agents' tokens."""

    sessions: int
    seen_at: datetime | None
    tokens: int


async def presence(connection: asyncpg.Connection, project_id: str, now: datetime) -> dict[str, Presence]:
    """By member: their live browser sessions, and their agents' tokens that name the project."""
    rows = await connection.fetch(
        "SELECT member.person_id, here.sessions, here.seen_at, acting.tokens FROM member, "
        "LATERAL (SELECT count(*) AS sessions, max(seen_at) AS seen_at FROM session "
        "WHERE session.person_id = member.person_id AND ended_at IS NULL AND expires_at > $2 AND seen_at > $3) AS here, "
        "LATERAL (SELECT count(*) AS tokens FROM token WHERE token.person_id = member.person_id AND kind IN ('agent', 'mcp') "
        "AND revoked_at IS NULL AND (expires_at IS NULL OR expires_at > $2) AND $1 = ANY (project_ids)) AS acting "
        "WHERE member.project_id = $1",
        project_id,
        now,
        now - SESSION_IDLE,
    )
    return {row["person_id"]: Presence(row["sessions"], row["seen_at"], row["tokens"]) for row in rows}
