"""Events of writes that belong to no intent; each takes the project lock."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

import asyncpg

from protocol.events import EventType, NewEvent
from storage.sql import events
from storage.sql.pool import lock_project


async def settings_changed(
    connection: asyncpg.Connection, project_id: str, actor: str, fields: Sequence[str], now: datetime
) -> None:
    """Note which settings of a project were changed."""
    payload = {"fields": list(fields)}
    await _append(
        connection, project_id, EventType.SETTINGS_CHANGED, "Project", project_id, actor, payload, now
    )


async def line_event(
    connection: asyncpg.Connection,
    project_id: str,
    line: str,
    event_type: EventType,
    actor: str,
    reason: str | None,
    now: datetime,
) -> None:
    """Note that a line was paused or resumed."""
    payload = {"reason": reason} if reason else {}
    await _append(connection, project_id, event_type, "Line", line, actor, payload, now)


async def token_event(
    connection: asyncpg.Connection,
    project_id: str,
    token_id: str,
    event_type: EventType,
    actor: str,
    name: str,
    now: datetime,
) -> None:
    """Note that a token for the project was made or revoked; never the token itself."""
    await _append(connection, project_id, event_type, "Token", token_id, actor, {"name": name}, now)


async def member_added(
    connection: asyncpg.Connection,
    project_id: str,
    person_id: str,
    name: str,
    role: str,
    actor: str,
    now: datetime,
) -> None:
    """Note that a person became a member of a project."""
    payload = {"name": name, "role": role}
    await _append(connection, project_id, EventType.MEMBER_ADDED, "Person", person_id, actor, payload, now)


async def member_event(
    connection: asyncpg.Connection,
    project_id: str,
    event_type: EventType,
    person_id: str,
    name: str,
    role: str,
    actor: str,
    now: datetime,
) -> None:
    """Note that a member got this role, or was removed with it."""
    payload = {"name": name, "role": role}
    await _append(connection, project_id, event_type, "Person", person_id, actor, payload, now)


async def ask_event(
    connection: asyncpg.Connection,
    project_id: str,
    ask_id: str,
    event_type: EventType,
    actor: str,
    person: str,
    now: datetime,
) -> None:
    """Note that a person opened or closed an ask; its words are between them and their agents."""
    await _append(connection, project_id, event_type, "Ask", ask_id, actor, {"person": person}, now)


async def series_created(
    connection: asyncpg.Connection, project_id: str, prefix: str, first: int, actor: str, now: datetime
) -> None:
    """Note that a series of numbers was created."""
    await _append(
        connection, project_id, EventType.SERIES_CREATED, "Series", prefix, actor, {"next": first}, now
    )


async def _append(
    connection: asyncpg.Connection,
    project_id: str,
    event_type: EventType,
    entity_type: str,
    entity_id: str,
    actor: str,
    payload: dict[str, Any],
    now: datetime,
) -> None:
    await lock_project(connection, project_id)
    event = NewEvent(
        event_type=event_type, entity_type=entity_type, entity_id=entity_id, agent_id=actor, payload=payload
    )
    await events.append(connection, project_id, [event], now)
