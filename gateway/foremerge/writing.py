"""One write of this face that concerns no intent's workflow: a transaction under the project's lock, with its events."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

import asyncpg

from gateway.access import must_live, must_write
from gateway.busy import RecordOrBusy
from gateway.foremerge.surface import Visit
from gateway.foremerge.visits import seen_project
from protocol.events import EventType, NewEvent
from protocol.foremerge.records import AgentRow, WorkRow
from protocol.projects import Caller
from protocol.records import ProjectRow
from rules.foremerge.stored import must_act, must_be_there
from storage.sql import events
from storage.sql.foremerge import agents, work
from storage.sql.pool import lock_project


@dataclass
class Write:
    """The transaction of one call."""

    connection: asyncpg.Connection
    project: ProjectRow
    caller: Caller
    now: datetime
    actor: str | None = None
    new_events: list[NewEvent] = field(default_factory=list)

    def emit(
        self, event_type: EventType, entity: str, entity_id: str, intent_id: str | None, /, **payload: Any
    ) -> None:
        """Note an event, to be written at the end of the transaction, in this order."""
        self.new_events.append(
            NewEvent(
                event_type=event_type,
                entity_type=entity,
                entity_id=entity_id,
                intent_id=intent_id,
                agent_id=self.actor,
                payload=payload,
            )
        )

    async def actor_of(self, agent_id: str) -> AgentRow:
        """The agent that acts; its call is noted, and events are in its name."""
        found = await agents.get(self.connection, agent_id)
        row = must_act(found, agent_id, self.project.id, self.caller.person_id)
        await agents.seen(self.connection, row.id, self.now)
        self.actor = row.id
        return row

    async def work_of(self, intent_id: str) -> WorkRow:
        """An intent of the project."""
        return must_be_there(await work.get(self.connection, intent_id), intent_id, self.project.id)


@asynccontextmanager
async def writing(pool: asyncpg.Pool, visit: Visit) -> AsyncIterator[Write]:
    """Open a write on the visit's project; an exception leaves nothing behind."""
    async with RecordOrBusy(pool) as connection:
        seen = await seen_project(connection, visit)
        must_write(seen, visit.caller)
        await lock_project(connection, seen.project.id)
        await must_live(connection, visit.caller)
        write = Write(connection, seen.project, visit.caller, datetime.now(UTC))
        yield write
        await events.append(connection, seen.project.id, write.new_events, write.now)
