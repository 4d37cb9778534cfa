"""A project in the record alone: intents declared, pushed and ended without workflows or Git."""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

import asyncpg

from activities.change import change_project
from activities.declares import add_intent, pushed_places, set_places
from activities.neighbours import settle
from activities.records import end_intents
from activities.store import Store
from protocol.commands import Declare
from protocol.ids import new_id
from protocol.intents import DeclareInput
from protocol.projects import Caller, ProjectSettings, TokenKind
from protocol.records import ConflictRow, IntentRow, PlaceRow
from protocol.states import Mediation, State
from storage.sql import conflicts, intents, people, places, projects, tokens
from storage.sql.pool import RecordBusy, transaction

HEAD = "a" * 40


@dataclass
class World:
    """One project; every method is one transaction, as a command is."""

    store: Store
    project_id: str
    caller: Caller
    woken: list[set[str]] = field(default_factory=list)

    async def declare(self, change: Sequence[str], use: Sequence[str] = (), **more: Any) -> IntentRow:
        """A new intent; its row as it is after the rules spoke."""
        plan = {
            "summary": "s",
            "scope": {"change": [{"path": p} for p in change], "use": [{"path": p} for p in use]},
        }
        given = DeclareInput(**{"title": "Work", "goal": "g", "plan": plan, **more})
        command = Declare(
            command_id=new_id("cmd"),
            caller=self.caller,
            public_url="http://gitring.test",
            project_id=self.project_id,
            host="here",
            intent_id=new_id("int"),
            input=given,
        )
        while True:
            with suppress(RecordBusy):  # nothing was written: again, as a workflow would
                async with change_project(self.store, self.project_id) as changing:
                    await add_intent(changing, command)
                break
        self.woken.append(changing.wake_intents)
        return await self.row(command.intent_id)

    async def push(self, row: IntentRow, paths: Sequence[str]) -> None:
        """Record that an intent's pushes change these paths."""
        async with change_project(self.store, self.project_id) as changing:
            now = await self.row(row.id)
            await set_places(changing, now, "pushed", pushed_places([(path, "") for path in paths]))
            await settle(changing, now)
        self.woken.append(changing.wake_intents)

    async def end(self, row: IntentRow, state: State) -> None:
        """Withdraw or land an intent."""
        async with change_project(self.store, self.project_id) as changing:
            await changing.move(await self.row(row.id), state)
            await end_intents(changing, [row.id])
        self.woken.append(changing.wake_intents)

    async def row(self, intent_id: str) -> IntentRow:
        """An intent as the record has it now."""
        async with transaction(self.store.pool, acquire_timeout=60) as connection:
            found = await intents.get(connection, intent_id)
        assert found is not None
        return found

    async def live(self) -> list[IntentRow]:
        """All live intents."""
        async with transaction(self.store.pool) as connection:
            return await intents.live(connection, self.project_id, 0, 1000)

    async def conflicts(self) -> list[ConflictRow]:
        """All open conflicts."""
        ids = [row.id for row in await self.live()]
        async with transaction(self.store.pool) as connection:
            return await conflicts.open_of(connection, ids)

    async def places(self) -> list[PlaceRow]:
        """All places of live intents."""
        ids = [row.id for row in await self.live()]
        async with transaction(self.store.pool) as connection:
            return await places.of_intents(connection, ids)


async def make_world(pool: asyncpg.Pool, mediation: Mediation = Mediation.HOLD) -> World:
    """A project with one line and one agent, in which no plan needs a review."""
    now = datetime.now(UTC)
    person, project = new_id("per"), new_id("prj")
    settings = ProjectSettings(plan_review="never", mediation=mediation)  # type: ignore[arg-type]
    async with transaction(pool) as connection:
        await people.add(connection, person, "Ana Ruiz", now)
        token, _ = await tokens.create(
            connection, kind=TokenKind.AGENT, name="claude", person_id=person, project_ids=[project], now=now
        )
        await projects.add(
            connection,
            project_id=project,
            slug=project[-20:].lower(),
            owner_id=person,
            host="here",
            default_line="main",
            settings=settings,
            lines={"main": HEAD},
            now=now,
        )
    caller = Caller(
        token_id=token,
        kind=TokenKind.AGENT,
        token_name="claude",
        person_id=person,
        person_name="Ana Ruiz",
        project_ids=[project],
    )
    return World(Store(pool), project, caller)
