"""Lines of a project, as owners make, pause and resume them."""

import asyncio
from datetime import UTC, datetime

import asyncpg
import structlog
from temporalio.client import Client, WorkflowFailureError
from temporalio.service import RPCError

from gateway.access import must_own, see_project
from gateway.busy import RecordOrBusy
from gateway.engine import set_up_line, wake_line
from gateway.reads import Reads
from protocol.commands import CreateLineCommand, LineStart
from protocol.events import EventType
from protocol.projects import Caller, CreateLine, Line, LineList, PauseLine
from protocol.refusals import Refused, outcome_unknown, refused
from storage.sql import ledger, projects

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
                Line(name=row.name, head=row.head, paused=row.paused, queued=queued.get(row.name, 0))
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
        return await self._set(caller, project_ref, line, given.reason)

    async def resume(self, caller: Caller, project_ref: str, line: str) -> LineList:
        """Let the queue of a line move again."""
        return await self._set(caller, project_ref, line, None)

    async def _wake(self, start: LineStart) -> None:
        try:
            await wake_line(self._client, start)
        except RPCError as problem:
            # The resume is recorded; the sweep wakes every line that has something to land.
            _log.warning("lines.wake_put_off", line=start.line, problem=str(problem))

    async def _set(self, caller: Caller, project_ref: str, line: str, why: str | None) -> LineList:
        async with RecordOrBusy(self._pool) as connection:
            seen = await see_project(connection, caller, project_ref)
            must_own(seen, caller)
            project = seen.project
            if await projects.line(connection, project.id, line) is None:
                raise refused(
                    "unknown_line",
                    f"There is no line {line[:200]} in {project.slug}.",
                    "GET …/lines lists them.",
                    400,
                )
            await projects.pause_line(connection, project.id, line, why)
            kind = EventType.LINE_RESUMED if why is None else EventType.LINE_PAUSED
            await ledger.line_event(
                connection, project.id, line, kind, caller.token_name, why, datetime.now(UTC)
            )
        if why is None:
            await self._wake(LineStart(project_id=project.id, line=line, host=project.host))
        return await self.list(caller, project_ref)
