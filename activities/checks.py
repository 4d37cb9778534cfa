"""Run the project's checks on one tree, or answer what is remembered of it."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

from temporalio import activity

from activities.change import Change, change_project
from activities.folders import Folders
from activities.queue import definition_of
from activities.runner.check import run_check
from activities.runner.isolation import Isolation
from activities.runner.launched import Watching
from activities.store import Store
from protocol.checks import CheckDefinition, CheckState, RunResult
from protocol.events import EventType
from protocol.ids import CommitId
from protocol.queue import CheckOutcome, CheckRequest, Member
from storage.git.checkout import checkout_tree, remove
from storage.sql import checks

_HEARTBEAT_SEC = 4.0
_LOG_LIMIT = 1024 * 1024
NO_TESTS = "No tests ran: no test command is set for this project, so a person approves the merge."


class Checks:
    """Check runs of one host."""

    def __init__(self, store: Store, folders: Folders) -> None:
        self._store = store
        self._pool = store.pool
        self._folders = folders

    @activity.defn(name="run_checks")
    async def run(self, request: CheckRequest) -> CheckOutcome:
        """The verdict on `request.tree`. A tree with a verdict under the same definition is not tested again."""
        async with change_project(self._store, request.project_id) as change:
            definition = definition_of(change.project.settings)
            if definition is None:
                return await self._skip(change, request)
            if known := await self._remembered(change, request, definition):
                return known
            await self._begin(change, request, definition)
        try:
            result, log = await self._execute(request, definition)
        except asyncio.CancelledError:
            await asyncio.shield(self._cancelled(request))
            raise
        async with change_project(self._store, request.project_id) as change:
            await self._finish(change, request, result, log)
        return CheckOutcome(
            check_id=request.check_id, state=result.state, summary=result.summary, failure=result.failure
        )

    async def _skip(self, change: Change, request: CheckRequest) -> CheckOutcome:
        await self._begin(change, request, None)
        result = RunResult(state=CheckState.SKIPPED, summary=NO_TESTS)
        await self._finish(change, request, result, b"")
        return CheckOutcome(check_id=request.check_id, state=CheckState.SKIPPED, summary=NO_TESTS)

    async def _remembered(
        self, change: Change, request: CheckRequest, definition: CheckDefinition
    ) -> CheckOutcome | None:
        known = await checks.remembered(
            change.connection, request.project_id, request.tree, definition.digest()
        )
        if known is None:
            return None
        outcome = CheckOutcome(
            check_id=known["id"],
            state=known["state"],
            summary=known["summary"],
            failure=known["failure"],
            reused=True,
        )
        for member in request.members:
            await checks.attach(
                change.connection, outcome.check_id, member.intent_id, member.head, True, change.now
            )
        _tell(
            change,
            request.members,
            EventType.CHECK_FINISHED,
            outcome.check_id,
            state=outcome.state,
            reused=True,
        )
        return outcome

    async def _begin(self, change: Change, request: CheckRequest, definition: CheckDefinition | None) -> None:
        await checks.start(
            change.connection,
            check_id=request.check_id,
            project_id=request.project_id,
            line=request.line,
            line_head=request.line_head,
            commit_id=request.commit,
            tree=request.tree,
            definition=definition.digest() if definition else "",
            command=definition.command if definition else None,
            now=change.now,
        )
        for member in request.members:
            await checks.attach(
                change.connection, request.check_id, member.intent_id, member.head, False, change.now
            )
        if definition is not None:
            _tell(
                change,
                request.members,
                EventType.CHECK_STARTED,
                request.check_id,
                line_head=request.line_head,
            )

    async def _execute(self, request: CheckRequest, definition: CheckDefinition) -> tuple[RunResult, bytes]:
        scratch = self._folders.scratch(request.check_id)
        await remove(scratch)
        scratch.mkdir(parents=True)
        try:
            async with _heartbeats():
                tree = scratch / "tree"
                await checkout_tree(
                    self._folders.repository(request.project_id), CommitId(request.commit), tree
                )
                log = scratch / "log"
                result = await run_check(
                    definition,
                    tree,
                    log,
                    watching=Watching(heartbeat=lambda written: activity.heartbeat(written)),
                    isolation=Isolation(no_network=not definition.network),
                    log_limit=_LOG_LIMIT,
                    scratch=scratch,
                )
                return result, _read(log)
        finally:
            await asyncio.shield(remove(scratch))

    async def _finish(self, change: Change, request: CheckRequest, result: RunResult, log: bytes) -> None:
        await checks.finish(
            change.connection,
            request.check_id,
            state=result.state,
            exit_code=result.exit_code,
            summary=result.summary,
            failure=result.failure.model_dump(mode="json") if result.failure else None,
            log=log,
            timed_out=result.timed_out,
            now=change.now,
        )
        _tell(
            change,
            request.members,
            EventType.CHECK_FINISHED,
            request.check_id,
            state=result.state,
            summary=result.summary[:500],
        )

    async def _cancelled(self, request: CheckRequest) -> None:
        """Say that the run was stopped; a stop of the whole worker leaves it to the retry."""
        if activity.is_worker_shutdown():
            return
        async with change_project(self._store, request.project_id) as change:
            result = RunResult(
                state=CheckState.CANCELLED, summary="Stopped: the intent no longer waits for it."
            )
            await self._finish(change, request, result, b"")


def _tell(
    change: Change, members: Sequence[Member], event_type: EventType, check_id: str, **payload: object
) -> None:
    for member in members:
        change.emit(event_type, "Check", check_id, member.intent_id, head=member.head, **payload)


def _read(log: Path) -> bytes:
    return log.read_bytes() if log.exists() else b""


@asynccontextmanager
async def _heartbeats() -> AsyncIterator[None]:
    """Tell the server that the run lives, so that a cancel arrives and a lost worker is noticed."""

    async def beat() -> None:
        while True:
            activity.heartbeat()
            await asyncio.sleep(_HEARTBEAT_SEC)

    task = asyncio.create_task(beat())
    try:
        yield
    finally:
        task.cancel()
