"""Send one command to its intent's workflow and bring the answer home, whatever the engine does meanwhile.

The record settles every doubt: a command that committed has its answer saved under its id, and sending it
again can only find that answer.
"""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
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

from gateway.busy import RecordOrBusy
from gateway.engine import start_intent, until_ready
from protocol.commands import Command, Declare, IntentStart
from protocol.foremerge.commands import ForemergeCommand, ForemergeOperation
from protocol.names import INTENTS_QUEUE, intent_workflow
from protocol.records import IntentRow
from protocol.refusals import Refusal, Refused, busy, outcome_unknown, refused
from rules.states import why_closed
from storage.sql import commands, intents
from workflows.details import plain
from workflows.intent import IntentWorkflow

ENGINE_SEC = 12.0
# A crowd waits here, where giving up means that nothing was done, and not inside the engine, where nobody can tell.
# Sixteen under way keep the engine as busy as a hundred do, with half the longest wait.
AT_ONCE = 16
TURN_SEC = 10.0

Answer = dict[str, Any]

_log = structlog.get_logger("gateway.commands")


class StaleClaim(Exception):
    """The first call with this requestId was refused and its workflow has ended: the claim is worth nothing."""


class Sender:
    """Updates of intents' workflows; each is given up after `seconds`."""

    def __init__(self, pool: asyncpg.Pool, client: Client, seconds: float = ENGINE_SEC) -> None:
        self._pool = pool
        self._client = client
        self._seconds = seconds
        self._turns = asyncio.Semaphore(AT_ONCE)

    async def send(
        self, command: Command, update: str, *, tool: str, row: IntentRow | None, repeatable: bool
    ) -> Answer:
        """The command's answer. Raises Refused; `outcome_unknown` only when the record does not know it either."""
        try:
            async with self._turn(), asyncio.timeout(self._seconds):
                must_live(row)
                return await until_ready(lambda: self._attempt(command, update))
        except WorkflowUpdateFailedError as failed:
            refusal = _refusal_of(failed)
            if refusal is not None:
                raise refusal from failed
            problem: Exception = failed
        except (TimeoutError, WorkflowUpdateRPCTimeoutOrCancelledError, RPCError) as trouble:
            problem = trouble
        saved = await self._saved_if_told(command)
        if saved is not None:
            return saved
        _log.warning("commands.outcome_unknown", tool=tool, problem=f"{type(problem).__name__} {problem}")
        raise outcome_unknown(tool, repeatable) from problem

    @asynccontextmanager
    async def _turn(self) -> AsyncIterator[None]:
        """One of AT_ONCE turns; `busy` when none comes free in time."""
        try:
            async with asyncio.timeout(TURN_SEC):
                await self._turns.acquire()
        except TimeoutError as problem:
            raise busy("The engine") from problem
        try:
            yield
        finally:
            self._turns.release()

    async def _attempt(self, command: Command, update: str) -> Answer:
        if isinstance(command, Declare):
            return await self._begin(command, update, command.input.title)
        if isinstance(command, ForemergeCommand) and command.operation is ForemergeOperation.PUBLISH_INTENT:
            return await self._begin(command, update, str(command.given.get("summary", "")))
        return await self._update(command, update)

    async def _begin(self, command: Command, update: str, title: str) -> Answer:
        """An intent's first update, which starts its workflow."""
        operation = WithStartWorkflowOperation(
            IntentWorkflow.run,
            IntentStart(intent_id=command.intent_id, project_id=command.project_id, host=command.host),
            id=intent_workflow(command.intent_id),
            task_queue=INTENTS_QUEUE,
            id_conflict_policy=WorkflowIDConflictPolicy.USE_EXISTING,
            id_reuse_policy=WorkflowIDReusePolicy.REJECT_DUPLICATE,
            static_summary=plain(title),
        )
        try:
            answer: Answer = await self._client.execute_update_with_start_workflow(
                update,
                command,
                id=command.command_id,
                start_workflow_operation=operation,
                result_type=dict[str, Any],
            )
            return answer
        except WorkflowAlreadyStartedError:
            saved = await self._saved(command)
        if saved is not None:
            return saved
        raise StaleClaim

    async def _update(self, command: Command, update: str) -> Answer:
        try:
            return await self._execute(command, update)
        except RPCError as problem:
            if problem.status is not RPCStatusCode.NOT_FOUND:
                raise
        # No such workflow runs: this command ended it, or another did, or it was lost and is rebuilt.
        saved = await self._saved(command)
        if saved is not None:
            return saved
        async with RecordOrBusy(self._pool) as connection:
            must_live(await intents.get(connection, command.intent_id))
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

    async def _saved(self, command: Command) -> Answer | None:
        async with RecordOrBusy(self._pool) as connection:
            saved = await commands.answer_of(connection, command.command_id)
        answer: Answer | None = saved.get("answer") if saved else None
        return answer

    async def _saved_if_told(self, command: Command) -> Answer | None:
        try:
            return await self._saved(command)
        except Refused:
            # The record cannot be asked either, so nobody knows.
            return None


def must_live(row: IntentRow | None) -> None:
    """Refuse a command on a final intent: its workflow has ended, so the record answers."""
    if row is not None and row.state.final:
        raise refused("wrong_state", *(why_closed(row, ()) or ("The intent is final.", "")))


def _refusal_of(failed: WorkflowUpdateFailedError) -> Refused | None:
    cause = failed.cause
    if isinstance(cause, ApplicationError) and cause.details:
        return Refused(Refusal(**cause.details[0]))
    return None
