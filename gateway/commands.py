"""One command, exactly once: claim the requestId, send the update, give back the answer or the refusal.

The key of exactly-once is the command id. The activity saves its answer in the transaction of its write, so
whatever is killed in between, a repeat finds either the answer or a record in which nothing happened.
"""

import asyncio
import hashlib
import json
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

import asyncpg
import structlog
from temporalio.client import (
    Client,
    WithStartWorkflowOperation,
    WorkflowUpdateFailedError,
    WorkflowUpdateRPCTimeoutOrCancelledError,
)
from temporalio.common import WorkflowIDConflictPolicy, WorkflowIDReusePolicy
from temporalio.exceptions import ApplicationError, WorkflowAlreadyStartedError
from temporalio.service import RPCError, RPCStatusCode

from gateway.engine import start_intent
from protocol.commands import Command, Declare, IntentStart
from protocol.ids import new_id
from protocol.names import INTENTS_QUEUE, intent_workflow
from protocol.projects import Caller
from protocol.records import IntentRow, ProjectRow
from protocol.refusals import (
    Refusal,
    Refused,
    already_done,
    busy,
    outcome_unknown,
    refused,
    request_in_progress,
    request_reused,
)
from protocol.wire import Input
from rules.states import why_closed
from storage.sql import commands, intents
from storage.sql.pool import OutcomeUnknown, RecordBusy, transaction
from workflows.details import plain
from workflows.intent import IntentWorkflow

ENGINE_SEC = 12.0
CLAIM = timedelta(seconds=20)
REPEATED = "Answer of the first call with this requestId."

_log = structlog.get_logger("gateway.commands")


@dataclass(frozen=True)
class Call:
    """One write as it came in."""

    caller: Caller
    tool: str
    input: Input
    request_id: str | None
    project: ProjectRow
    intent_id: str
    command_id: str
    intent: IntentRow | None = None

    def digest(self) -> bytes:
        """Of the arguments as given, without the requestId itself."""
        given = self.input.model_dump(mode="json", by_alias=True, exclude_unset=True, exclude={"request_id"})
        text = json.dumps([self.intent_id if self.tool != "gitring_declare" else "", given], sort_keys=True)
        return hashlib.sha256(text.encode()).digest()


Build = Callable[[Call], Command]
Answer = dict[str, Any]


class Commands:
    """Sends commands of intents to their workflows."""

    def __init__(self, pool: asyncpg.Pool, client: Client) -> None:
        self._pool = pool
        self._client = client

    async def run(self, call: Call, build: Build, update: str) -> Answer:
        """The answer of a write, as JSON. Raises Refused, with `outcome_unknown` when nobody can tell."""
        if call.request_id is None:
            return await self._send(call, build, update)
        call, answer = await self._claim(call)
        if answer is not None:
            return answer
        try:
            answer = await self._send(call, build, update)
        except Refused as problem:
            unknown = problem.refusal.code in ("outcome_unknown", "busy")
            await self._let_go(call, forget=not unknown)
            raise
        return answer

    async def _claim(self, call: Call) -> tuple[Call, Answer | None]:
        async with self._record() as connection:
            claim = await commands.claim(
                connection,
                token_id=call.caller.token_id,
                tool=call.tool,
                request_id=str(call.request_id),
                digest=call.digest(),
                command_id=call.command_id,
                intent_id=call.intent_id,
                now=datetime.now(UTC),
                hold=CLAIM,
            )
            saved = await commands.answer_of(connection, claim.command_id)
        if not claim.same_arguments:
            raise request_reused()
        if saved is not None:
            return call, _repeated(saved, call.tool)
        if not claim.mine:
            raise request_in_progress(call.tool)
        found = Call(
            **{**call.__dict__, "command_id": claim.command_id, "intent_id": claim.intent_id},
        )
        return found, None

    async def _let_go(self, call: Call, *, forget: bool) -> None:
        try:
            async with self._record() as connection:
                await commands.let_go(
                    connection,
                    call.caller.token_id,
                    call.tool,
                    str(call.request_id),
                    datetime.now(UTC),
                    forget=forget,
                )
        except Refused:
            # The claim runs out by itself; the caller's own refusal says more than this one would.
            _log.warning("commands.claim_kept", tool=call.tool, until_sec=CLAIM.total_seconds())

    def _record(self) -> "RecordOrBusy":
        return RecordOrBusy(self._pool)

    async def _send(self, call: Call, build: Build, update: str) -> Answer:
        command = build(call)
        try:
            async with asyncio.timeout(ENGINE_SEC):
                if isinstance(command, Declare):
                    return await self._declare(command)
                _must_live(call.intent)
                return await self._update(command, update)
        except WorkflowUpdateFailedError as failed:
            raise _refusal_of(failed) from failed
        except (TimeoutError, WorkflowUpdateRPCTimeoutOrCancelledError, RPCError) as problem:
            _log.warning(
                "commands.outcome_unknown", tool=call.tool, problem=f"{type(problem).__name__} {problem}"
            )
            raise outcome_unknown(call.tool, call.request_id is not None) from problem

    async def _declare(self, command: Declare) -> Answer:
        operation = WithStartWorkflowOperation(
            IntentWorkflow.run,
            IntentStart(intent_id=command.intent_id, project_id=command.project_id, host=command.host),
            id=intent_workflow(command.intent_id),
            task_queue=INTENTS_QUEUE,
            id_conflict_policy=WorkflowIDConflictPolicy.USE_EXISTING,
            id_reuse_policy=WorkflowIDReusePolicy.REJECT_DUPLICATE,
            static_summary=plain(command.input.title),
        )
        try:
            answer: Answer = await self._client.execute_update_with_start_workflow(
                "declare",
                command,
                id=command.command_id,
                start_workflow_operation=operation,
                result_type=dict[str, Any],
            )
            return answer
        except WorkflowAlreadyStartedError:
            # The first call with this requestId was refused or has long ended; the record knows which.
            async with self._record() as connection:
                saved = await commands.answer_of(connection, command.command_id)
            if saved is not None:
                return _repeated(saved, "gitring_declare")
            fresh = command.model_copy(update={"command_id": new_id("cmd"), "intent_id": new_id("int")})
            return await self._declare(fresh)

    async def _update(self, command: Command, update: str) -> Answer:
        try:
            return await self._execute(command, update)
        except RPCError as problem:
            if problem.status is not RPCStatusCode.NOT_FOUND:
                raise
        # The workflow does not run: the intent became final, or its workflow was lost and is rebuilt.
        async with self._record() as connection:
            _must_live(await intents.get(connection, command.intent_id))
        await start_intent(
            self._client,
            IntentStart(
                intent_id=command.intent_id, project_id=command.project_id, host=command.host, resumed=True
            ),
        )
        return await self._execute(command, update)

    async def _execute(self, command: Command, update: str) -> Answer:
        handle = self._client.get_workflow_handle(intent_workflow(command.intent_id))
        answer: Answer = await handle.execute_update(
            update, command, id=command.command_id, result_type=dict[str, Any]
        )
        return answer


def _must_live(row: IntentRow | None) -> None:
    """Refuse a command on a final intent: its workflow has ended, so the record answers."""
    if row is not None and row.state.final:
        raise refused("wrong_state", *(why_closed(row, ()) or ("The intent is final.", "")))


class RecordOrBusy:
    """A transaction whose record trouble becomes a typed `busy`: nothing was done yet."""

    def __init__(self, pool: asyncpg.Pool) -> None:
        self._open = transaction(pool)

    async def __aenter__(self) -> asyncpg.Connection:
        try:
            return await self._open.__aenter__()
        except RecordBusy as problem:
            raise busy("The record") from problem

    async def __aexit__(self, *problem: Any) -> bool | None:
        try:
            return await self._open.__aexit__(*problem)
        except (RecordBusy, OutcomeUnknown) as trouble:
            raise busy("The record") from trouble


def _repeated(saved: Answer, tool: str) -> Answer:
    answer = saved.get("answer")
    if not isinstance(answer, dict):
        raise already_done(tool)
    return {**answer, "said": [REPEATED, *answer.get("said", [])]}


def _refusal_of(failed: WorkflowUpdateFailedError) -> Exception:
    cause = failed.cause
    if isinstance(cause, ApplicationError) and cause.details:
        return Refused(Refusal(**cause.details[0]))
    return failed
