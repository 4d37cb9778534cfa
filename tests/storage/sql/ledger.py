"""A project in the record and events in its ledger, for tests about events."""

from datetime import UTC, datetime

import asyncpg

from protocol.events import Event, EventType, NewEvent
from protocol.ids import new_id
from storage.sql.events import append
from storage.sql.pool import lock_project, transaction

NOON = datetime(2030, 1, 2, 12, 0, 0, 5, tzinfo=UTC)


async def new_project(pool: asyncpg.Pool) -> str:
    """The id of a project that has just begun: no event, no intent."""
    person_id, project_id = new_id("per"), new_id("prj")
    async with transaction(pool) as connection:
        await connection.execute("INSERT INTO person VALUES ($1, 'Ana Ruiz', $2)", person_id, NOON)
        await connection.execute(
            "INSERT INTO project VALUES ($1, $2, $3, 'here', 'main', $4, $5)",
            project_id,
            project_id.lower(),
            person_id,
            {},
            NOON,
        )
        await connection.execute("INSERT INTO project_counter (project_id) VALUES ($1)", project_id)
    return project_id


def pushed(intent_id: str | None, **payload: object) -> NewEvent:
    """An event about `intent_id`."""
    return NewEvent(
        event_type=EventType.INTENT_PUSHED,
        entity_type="Intent",
        entity_id=intent_id or "none",
        intent_id=intent_id,
        agent_id="claude-code",
        payload=payload,
    )


async def commit(pool: asyncpg.Pool, project_id: str, *events: NewEvent) -> list[Event]:
    """Append `events` in one transaction under the project's lock."""
    async with transaction(pool) as connection:
        await lock_project(connection, project_id, timeout=20)
        return await append(connection, project_id, events, NOON)
