"""What the record keeps of a tree's checks: a row a run, who it speaks of, and the events about it."""

from collections.abc import Sequence
from typing import NamedTuple

from activities.change import Change, change_project
from activities.check_runs import Ran
from activities.store import Store
from protocol.checks import CheckDefinition, CheckState
from protocol.events import EventType
from protocol.ids import new_id
from protocol.queue import CheckOutcome, CheckRequest, CheckRunOutcome, Member
from rules.check_outcomes import tried
from rules.check_plan import definitions_of
from storage.sql import checks, flaky, projects
from storage.sql.checks import ResultKey
from storage.sql.pool import transaction

NO_TESTS = "No tests ran: no test command is set for this project, so a person approves the merge."
_STOPPED = "Stopped: the intent no longer waits for it."
_LOST = "Stopped before its end, with the worker that ran it. It runs again."


class Opened(NamedTuple):
    """A request at its start: the checks to run, and how those ended that a lost try of it had finished."""

    definitions: list[CheckDefinition]
    finished: dict[str, CheckRunOutcome]


class CheckRows:
    """The record's side of check runs; each method is one transaction."""

    def __init__(self, store: Store) -> None:
        self._store = store

    async def open(self, request: CheckRequest) -> Opened:
        """Read what is to be run, and close what a lost try of this request left running."""
        async with transaction(self._store.pool, readonly=True) as connection:
            project = await projects.find(connection, request.project_id)
            before = await checks.of_request(connection, request.check_id)
        if project is None:
            raise LookupError(f"project {request.project_id} is not in the record")
        if any(run.state == CheckState.RUNNING for _, run in before):
            await self.close_running(request, _LOST)
        definitions = definitions_of(project.settings)
        digests = {(definition.name, definition.digest()) for definition in definitions}
        finished = {
            run.name: run
            for digest, run in before
            if run.state != CheckState.RUNNING and (run.name, digest) in digests
        }
        return Opened(definitions, finished)

    async def close_running(self, request: CheckRequest, why: str = _STOPPED) -> None:
        """Say that nobody will finish the runs of this request that are under way."""
        async with change_project(self._store, request.project_id) as change:
            for check_id, name in await checks.cancel_running(
                change.connection, request.check_id, why, change.now
            ):
                told = {"name": name, "state": CheckState.CANCELLED, "summary": why}
                _tell(change, request.members, EventType.CHECK_FINISHED, check_id, **told)

    async def nothing_to_run(self, request: CheckRequest) -> CheckOutcome:
        """Record that the project has no checks."""
        run = CheckRunOutcome(
            name="test", check_id=request.check_id, state=CheckState.SKIPPED, summary=NO_TESTS
        )
        await self._skipped(request, run, "", None)
        return CheckOutcome(**run.model_dump(include={"check_id", "state", "summary"}))

    async def skip(self, request: CheckRequest, definition: CheckDefinition, why: str) -> CheckRunOutcome:
        """Record that a check was not run, and why."""
        run = CheckRunOutcome(
            name=definition.name, check_id=new_id("chk"), state=CheckState.SKIPPED, summary=why
        )
        await self._skipped(request, run, definition.digest(), definition.command)
        return run

    async def _skipped(
        self, request: CheckRequest, run: CheckRunOutcome, digest: str, command: str | None
    ) -> None:
        key = ResultKey(request.project_id, "", digest, "")
        async with change_project(self._store, request.project_id) as change:
            await _start(change, request, run.check_id, run.name, command, key)
            await _finish(change, request, run)

    async def remembered(self, request: CheckRequest, key: ResultKey) -> CheckRunOutcome | None:
        """The verdict that is known under this key, now also of this request's members."""
        async with transaction(self._store.pool, readonly=True) as connection:
            known = await checks.remembered(connection, key, request.red_since)
        return await self.reuse(request, known) if known else None

    async def reuse(self, request: CheckRequest, known: CheckRunOutcome) -> CheckRunOutcome:
        """Say that another request's run speaks of this one's members too."""
        async with change_project(self._store, request.project_id) as change:
            await _attach(change, request, known.check_id, reused=True)
            told = {"name": known.name, "state": known.state, "reused": True}
            _tell(change, request.members, EventType.CHECK_FINISHED, known.check_id, **told)
        return known.model_copy(update={"reused": True})

    async def begin(self, request: CheckRequest, definition: CheckDefinition, key: ResultKey) -> str:
        """Record that a check begins; the id of its run."""
        check_id = new_id("chk")
        async with change_project(self._store, request.project_id) as change:
            await _start(change, request, check_id, definition.name, definition.command, key)
            told = {"name": definition.name, "line_head": request.line_head}
            _tell(change, request.members, EventType.CHECK_STARTED, check_id, **told)
        return check_id

    async def finish(
        self,
        request: CheckRequest,
        definition: CheckDefinition,
        key: ResultKey,
        check_id: str,
        ran: Ran,
    ) -> CheckRunOutcome:
        """Record how a check ended, and what it showed to be flaky."""
        result, name = ran.result, definition.name
        shown = [test or name for test in ran.flaky]
        run = CheckRunOutcome(
            name=name,
            check_id=check_id,
            state=result.state,
            summary=tried(result.summary, result.state, ran.tries, shown),
            failure=result.failure,
            tries=ran.tries,
            flaky=shown,
        )
        async with change_project(self._store, request.project_id) as change:
            await _finish(change, request, run, ran)
            tests = {*ran.flaky, *await checks.red_and_green(change.connection, key, request.red_since)}
            for test in sorted(tests):
                await flaky.seen(change.connection, key.project_id, name, test, request.tree, change.now)
                told = {"name": name, "test": test or None, "tries": ran.tries}
                _tell(change, request.members, EventType.CHECK_FLAKY, check_id, **told)
        return run


async def _start(
    change: Change, request: CheckRequest, check_id: str, name: str, command: str | None, key: ResultKey
) -> None:
    await checks.start(
        change.connection,
        check_id=check_id,
        key=key,
        name=name,
        request_id=request.check_id,
        line=request.line,
        line_head=request.line_head,
        commit_id=request.commit,
        tree=request.tree,
        command=command,
        now=change.now,
    )
    await _attach(change, request, check_id, reused=False)


async def _finish(
    change: Change, request: CheckRequest, run: CheckRunOutcome, ran: Ran | None = None
) -> None:
    await checks.finish(
        change.connection,
        run.check_id,
        state=run.state,
        exit_code=ran.result.exit_code if ran else None,
        summary=run.summary,
        failure=run.failure.model_dump(mode="json") if run.failure else None,
        log=ran.log if ran else b"",
        timed_out=ran.result.timed_out if ran else False,
        tries=run.tries,
        flaky=run.flaky,
        now=change.now,
    )
    told = {"name": run.name, "state": run.state, "summary": run.summary[:500]}
    _tell(change, request.members, EventType.CHECK_FINISHED, run.check_id, **told)


async def _attach(change: Change, request: CheckRequest, check_id: str, *, reused: bool) -> None:
    heads = {member.intent_id: member.head for member in request.members}
    if heads:
        await checks.attach(change.connection, check_id, heads, reused, change.now)


def _tell(
    change: Change, members: Sequence[Member], event_type: EventType, check_id: str, **payload: object
) -> None:
    for member in members:
        change.emit(event_type, "Check", check_id, member.intent_id, head=member.head, **payload)
