"""The operations behind both doors of this face: reads from the record, writes through workflows or one transaction."""

from collections.abc import AsyncIterator
from contextlib import aclosing
from datetime import UTC, datetime
from typing import Protocol, cast

import asyncpg
from temporalio.client import Client

from gateway.foremerge.binding import bind_project
from gateway.foremerge.checking import check
from gateway.foremerge.graph import semantic_graph
from gateway.foremerge.status import status_report
from gateway.foremerge.surface import Visit
from gateway.foremerge.visits import seen_project
from gateway.foremerge.work_reads import ForemergeReads
from gateway.foremerge.writes import ForemergeWrites
from gateway.reads import Reads
from protocol.events import Event
from protocol.foremerge.changesets import ChangeSet, GetChangeSetInput
from protocol.foremerge.conflicts import ConflictReport
from protocol.foremerge.intents import PublishedIntent, PublishIntentInput
from protocol.foremerge.ledger import Graph
from protocol.foremerge.operators import (
    Binding,
    BindingQuery,
    BindInput,
    CheckInferringInput,
    MessagesRead,
    PublishInferringInput,
    ReadMessagesInput,
)
from protocol.foremerge.queries import AttemptsQuery, GraphQuery
from protocol.foremerge.validations import ValidationAttempt
from protocol.foremerge.work import StatusInput, StatusReport
from protocol.projects import Caller
from rules.foremerge.refusing import missing
from storage.sql.foremerge import agents, changesets


class OfGitring(Protocol):
    """What this face takes from gitring's own operations (`gateway.operations.Operations`)."""

    async def authenticate(self, raw_token: str) -> Caller:
        """Whose token this is; refuses `unauthenticated`."""
        ...

    def live_events(self, caller: Caller, project_ref: str, after_seq: int) -> AsyncIterator[Event]:
        """Every event as it is committed."""
        ...


class ForemergeOperations(ForemergeReads, ForemergeWrites):
    """One gateway process's operations of this face (`gateway.foremerge.surface.ForemergeSurface`)."""

    def __init__(self, pool: asyncpg.Pool, client: Client, gitring: OfGitring, *, public_url: str) -> None:
        ForemergeReads.__init__(self, pool)
        ForemergeWrites.__init__(self, pool, client, public_url=public_url)
        self._snapshots = Reads(pool, public_url)
        self._gitring = gitring

    async def authenticate(self, raw_token: str) -> Caller:
        """Whose token this is: the tokens are gitring's."""
        return await self._gitring.authenticate(raw_token)

    async def status(self, visit: Visit, given: StatusInput) -> StatusReport:
        """`status`."""
        return await status_report(self._snapshots, visit, given.inbox_of)

    async def graph(self, visit: Visit, given: GraphQuery) -> Graph:
        """The semantic graph."""
        return await semantic_graph(self._snapshots, visit)

    async def get_changeset(self, visit: Visit, given: GetChangeSetInput) -> ChangeSet:
        """`get_changeset`."""
        async with self._snapshots.snapshot() as connection:
            return await _changeset(connection, visit, given.id)

    async def validation_attempts(self, visit: Visit, given: AttemptsQuery) -> list[ValidationAttempt]:
        """Every run of a check on a ChangeSet, the newest first."""
        async with self._snapshots.snapshot() as connection:
            found = await _changeset(connection, visit, given.changeset_id)
            return await changesets.attempts(connection, found.id)

    async def publish_inferring(self, visit: Visit, given: PublishInferringInput) -> PublishedIntent:
        """`publish_intent` for the command, whose scopes may come without an operation."""
        declared = PublishIntentInput(
            **{name: getattr(given, name) for name in PublishIntentInput.model_fields}
        )
        return await self.publish_intent(visit, declared, given.undeclared)

    async def read_messages(self, visit: Visit, given: ReadMessagesInput) -> MessagesRead:
        """An agent has read these messages."""
        return MessagesRead(read=await self.mark_read(visit, given.agent_id, given.message_ids))

    async def check_inferring(self, visit: Visit, given: CheckInferringInput) -> ConflictReport:
        """`check_conflicts` for the command, whose scopes may come without an operation."""
        async with self._snapshots.snapshot() as connection:
            project = (await seen_project(connection, visit)).project
            return await check(connection, project, given, datetime.now(UTC), given.undeclared)

    async def binding(self, visit: Visit, given: BindingQuery) -> Binding:
        """What the project is bound to."""
        async with self._snapshots.snapshot() as connection:
            project = (await seen_project(connection, visit)).project
            return Binding(
                project_id=project.id, common_dir=await agents.bound_folder(connection, project.id)
            )

    async def bind(self, visit: Visit, given: BindInput) -> Binding:
        """Bind the project to a repository on the server's disk."""
        return await bind_project(self._pool, visit, given)

    async def live_events(self, visit: Visit, after_seq: int) -> AsyncIterator[Event]:
        """Every event of the project as it is committed."""
        async with self._snapshots.snapshot() as connection:
            project = (await seen_project(connection, visit)).project
        events = self._gitring.live_events(visit.caller, project.id, after_seq)
        async with aclosing(cast(Closable, events)):
            async for event in events:
                yield event


class Closable(Protocol):
    """An iterator that is closed when its reader leaves."""

    async def aclose(self) -> None:
        """Close it."""
        ...


async def _changeset(connection: asyncpg.Connection, visit: Visit, changeset_id: str) -> ChangeSet:
    project = (await seen_project(connection, visit)).project
    found = await changesets.get(connection, changeset_id)
    if found is None or found.project_id != project.id:
        raise missing(f"ChangeSet {changeset_id[:100]}", "Find it with query_work.")
    return found.changeset
