"""Events of writes that belong to no intent."""

from collections.abc import Sequence
from datetime import datetime

import asyncpg

from protocol.events import EventType, NewEvent
from storage.sql import events
from storage.sql.pool import lock_project


async def settings_changed(
    connection: asyncpg.Connection, project_id: str, actor: str, fields: Sequence[str], now: datetime
) -> None:
    """Note in the ledger which settings of a project were changed; takes the project lock."""
    await lock_project(connection, project_id)
    event = NewEvent(
        event_type=EventType.SETTINGS_CHANGED,
        entity_type="Project",
        entity_id=project_id,
        agent_id=actor,
        payload={"fields": list(fields)},
    )
    await events.append(connection, project_id, [event], now)
