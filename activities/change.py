"""One write: a transaction under the project's lock that collects its events and whom to wake.

Row and event commit together, in one order per project; whoever must hear of it (workflows, waiters) is
told only afterwards, by what the caller does with `wake_intents` and by the relay.
"""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

import asyncpg

from activities.store import Store
from protocol.events import EventType, NewEvent
from protocol.ids import new_id
from protocol.records import IntentRow, ProjectRow, RequestRow
from protocol.states import Mediation, State
from storage.sql import conflicts, events, intents, projects
from storage.sql.pool import lock_project, transaction


def utc_now() -> datetime:
    """The clock of the record."""
    return datetime.now(UTC)


@dataclass
class Change:
    """The transaction of one command."""

    connection: asyncpg.Connection
    project: ProjectRow
    now: datetime
    actor: str | None = None
    mode: Mediation = Mediation.HOLD
    new_events: list[NewEvent] = field(default_factory=list)
    wake_intents: set[str] = field(default_factory=set)
    wake_line: bool = False
    reserved: list[str] = field(default_factory=list)

    def emit(
        self, event_type: EventType, entity: str, entity_id: str, intent_id: str | None, /, **payload: Any
    ) -> None:
        """Note an event; it is written, in this order, by `flush`."""
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

    async def flush(self) -> None:
        """Write the events noted so far, so that a read in this transaction reflects them."""
        if self.new_events:
            await events.append(self.connection, self.project.id, self.new_events, self.now)
            self.new_events = []

    async def move(self, row: IntentRow, state: State, **why: Any) -> IntentRow:
        """Move an intent to `state`, with its event. Returns the row as it is now."""
        await intents.set_state(self.connection, row.id, state, self.now)
        return self.note_move(row, state, **why)

    def note_move(self, row: IntentRow, state: State, **why: Any) -> IntentRow:
        """Note that an intent moved to `state`, where the row itself is written by the caller."""
        self.emit(
            EventType.INTENT_STATE_CHANGED,
            "Intent",
            row.id,
            row.id,
            number=row.number,
            **{"from": row.state},
            to=state,
            **why,
        )
        return row.model_copy(update={"state": state, "state_since": self.now})

    async def ask(self, row: IntentRow, **fields: Any) -> RequestRow:
        """Open a change request on an intent."""
        defaults = {"from_kind": "gitring", "from_name": "gitring", "conflict_id": None, "check_id": None}
        request = RequestRow(
            id=new_id("chq"),
            project_id=self.project.id,
            intent_id=row.id,
            created_at=self.now,
            closed_at=None,
            **{**defaults, "place": None, "blocking": True, "head": row.head, **fields},
        )
        await conflicts.add_request(self.connection, request)
        self.emit(
            EventType.CHANGE_REQUEST_OPENED,
            "ChangeRequest",
            request.id,
            row.id,
            kind=request.kind,
            conflict_id=request.conflict_id,
            blocking=request.blocking,
        )
        return request

    async def close(self, request: RequestRow, how: str) -> None:
        """Close a change request."""
        await conflicts.close_request(self.connection, request.id, how, self.now)
        self.emit(EventType.CHANGE_REQUEST_CLOSED, "ChangeRequest", request.id, request.intent_id, how=how)


@asynccontextmanager
async def change_project(store: Store, project_id: str, actor: str | None = None) -> AsyncIterator[Change]:
    """Open a write on a project: lock, work, events, commit. An exception leaves nothing behind."""
    async with transaction(store.pool) as connection:
        await lock_project(connection, project_id)
        project = await projects.find(connection, project_id)
        if project is None:
            raise LookupError(f"project {project_id} is not in the record")
        mode = project.settings.mediation or store.mediation
        change = Change(connection, project, utc_now(), actor, mode)
        yield change
        await change.flush()
