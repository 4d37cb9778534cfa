"""People."""

from datetime import datetime

import asyncpg


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
