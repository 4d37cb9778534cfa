"""Lines of a project, as owners make, pause and resume them."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime

import asyncpg
import structlog
from temporalio.client import Client, WorkflowFailureError
from temporalio.service import RPCError

from gateway.access import must_own, see_project
from gateway.busy import RecordOrBusy
from gateway.engine import set_up_line, start_intent, wake_line
from gateway.reads import Reads
from protocol.commands import CreateLineCommand, IntentStart, LineStart
from protocol.events import EventType
from protocol.projects import Caller, CreateLine, Line, LineList, PauseLine
from protocol.records import LineRow, ProjectRow
from protocol.refusals import Refused, outcome_unknown, refused
from storage.sql import ledger, lines, projects

ENGINE_SEC = 30.0

_log = structlog.get_logger("gateway.lines")


class Lines:
    """The lines of projects, and whether their queues move."""

    def __init__(self, pool: asyncpg.Pool, client: Client, reads: Reads) -> None:
        self._pool = pool
        self._client = client
        self._reads = reads

    async def list(self, caller: Caller, project_ref: str) -> LineList:
        """All lines, oldest first."""
        async with self._reads.snapshot() as connection:
            seen = await see_project(connection, caller, project_ref)
            rows = await projects.lines(connection, seen.project.id)
            queued = await projects.queue_lengths(connection, seen.project.id)
        return LineList(
            lines=[
                Line(
                    name=row.name,
                    head=row.head,
                    paused=row.paused,
                    stopped_by=row.stopped_by,
                    draining=row.draining_why if row.draining_since else None,
                    untested=row.untested,
                    queued=queued.get(row.name, 0),
                )
                for row in rows
            ]
        )

    async def create(self, caller: Caller, project_ref: str, given: CreateLine) -> LineList:
        """Begin a line from another line's head, or a commit."""
        seen = await self._reads.seen(caller, project_ref)
        must_own(seen, caller)
        command = CreateLineCommand(
            project_id=seen.project.id,
            host=seen.project.host,
            line=given.name,
            start=given.start,
            actor=caller.token_name,
        )
        try:
            async with asyncio.timeout(ENGINE_SEC):
                made = await set_up_line(self._client, command)
        except (TimeoutError, RPCError, WorkflowFailureError) as problem:
            raise outcome_unknown("POST …/lines", False) from problem
        if made.refusal is not None:
            raise Refused(made.refusal)
        return await self.list(caller, project_ref)

    async def pause(self, caller: Caller, project_ref: str, line: str, given: PauseLine) -> LineList:
        """Let the queue of a line stand still: what is being landed lands, nothing more begins."""
        async with self._owned_line(caller, project_ref, line) as change:
            await lines.pause(change.connection, change.project.id, line, given.reason, "owner")
            await change.tell(EventType.LINE_PAUSED, given.reason)
        return await self.list(caller, project_ref)

    async def drain(self, caller: Caller, project_ref: str, line: str, given: PauseLine) -> LineList:
        """Land what is queued by now, then let the queue stand still: what comes later waits."""
        async with self._owned_line(caller, project_ref, line) as change:
            if change.line.paused is not None:
                raise refused(
                    "wrong_state",
                    f"The queue of {line} stands still already: {change.line.paused}",
                    "Resume it first; then drain it.",
                )
            await lines.drain(change.connection, change.project.id, line, given.reason, change.now)
            await change.tell(EventType.LINE_DRAINING, given.reason)
        await self._wake(change, [])
        return await self.list(caller, project_ref)

    async def resume(self, caller: Caller, project_ref: str, line: str) -> LineList:
        """Let the queue of a line move again."""
        async with self._owned_line(caller, project_ref, line) as change:
            await lines.resume(change.connection, change.project.id, line, change.now)
            waiting = await lines.waiting_for_checks(change.connection, change.project.id, line)
            await change.tell(EventType.LINE_RESUMED, None)
        await self._wake(change, waiting)
        return await self.list(caller, project_ref)

    async def _wake(self, change: "LineChange", waiting: Sequence[str]) -> None:
        project = change.project
        try:
            start = LineStart(project_id=project.id, line=change.line.name, host=project.host)
            await wake_line(self._client, start)
            for intent_id in waiting:
                await start_intent(
                    self._client,
                    IntentStart(intent_id=intent_id, project_id=project.id, host=project.host, resumed=True),
                )
        except RPCError as problem:
            # It is recorded; the sweep wakes every line that has something to land.
            _log.warning("lines.wake_put_off", line=change.line.name, problem=str(problem))

    @asynccontextmanager
    async def _owned_line(self, caller: Caller, project_ref: str, line: str) -> AsyncIterator["LineChange"]:
        async with RecordOrBusy(self._pool) as connection:
            seen = await see_project(connection, caller, project_ref)
            must_own(seen, caller)
            project = seen.project
            found = await projects.line(connection, project.id, line)
            if found is None:
                raise refused(
                    "unknown_line",
                    f"There is no line {line[:200]} in {project.slug}.",
                    "GET …/lines lists them.",
                    400,
                )
            yield LineChange(connection, project, found, caller, datetime.now(UTC))


@dataclass(frozen=True)
class LineChange:
    """An owner's change of one line, in one transaction."""

    connection: asyncpg.Connection
    project: ProjectRow
    line: LineRow
    caller: Caller
    now: datetime

    async def tell(self, kind: EventType, why: str | None) -> None:
        """Note it in the ledger."""
        await ledger.line_event(
            self.connection, self.project.id, self.line.name, kind, self.caller.token_name, why, self.now
        )
