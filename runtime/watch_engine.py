"""What the watchdog asks the engine: which workflows run that should. A handful of calls a round."""

import asyncio
import time
from collections.abc import Collection, Sequence
from datetime import timedelta

import structlog
from temporalio.client import Client, WorkflowExecutionStatus
from temporalio.service import RPCError, RPCStatusCode

from protocol.names import intent_workflow, line_workflow
from protocol.watch import LineFact

_AT_ONCE = 8
_MOST_LINES = 100
_MOST_INTENTS = 100
# A list of 5,000 workflows costs a quarter of a second of work, so it is asked for less often the longer it is.
_LIST_SEC_EACH = 1 / 250
_LIST_SEC_MOST = 60.0
_RUNNING = 'WorkflowType = "IntentWorkflow" AND ExecutionStatus = "Running"'

_log = structlog.get_logger("runtime.watch_engine")


class Engines:
    """One worker's questions to the engine. `answered`: whether it told all that it was asked in the last round."""

    FRESH = timedelta(seconds=15)
    """So young an intent may not be in the engine's list yet."""

    def __init__(self, client: Client) -> None:
        self.client = client
        self.answered = True
        self._suspects: set[str] = set()
        self._list_at = 0.0

    async def lost_intents(self, live: Sequence[str]) -> list[str]:
        """Those of these live intents for which no workflow runs, a hundred at most."""
        self.answered = True
        try:
            if time.monotonic() >= self._list_at:
                self._suspects |= set(live) - await self._listed()
                self._list_at = time.monotonic() + min(_LIST_SEC_MOST, len(live) * _LIST_SEC_EACH)
            self._suspects &= set(live)
            # The list lags a little behind; a workflow asked by its name does not.
            asked = sorted(self._suspects)[:_MOST_INTENTS]
            runs = await self._all_run([intent_workflow(intent_id) for intent_id in asked])
        except RPCError as problem:
            self._silent(problem)
            return []
        self._suspects -= {intent_id for intent_id, run in zip(asked, runs, strict=True) if run}
        return [intent_id for intent_id, run in zip(asked, runs, strict=True) if not run]

    async def with_workflows(self, lines: Sequence[LineFact]) -> list[LineFact]:
        """The same lines, each with whether a workflow serves it; those beyond a hundred stay unknown."""
        asked = lines[:_MOST_LINES]
        try:
            runs = await self._all_run([line_workflow(line.project_id, line.name) for line in asked])
        except RPCError as problem:
            self._silent(problem)
            return list(lines)
        told = [line.model_copy(update={"lost": not run}) for line, run in zip(asked, runs, strict=True)]
        return [*told, *lines[_MOST_LINES:]]

    def _silent(self, problem: RPCError) -> None:
        self.answered = False
        _log.warning("watch_engine.silent", problem=str(problem))

    async def _listed(self) -> set[str]:
        found: set[str] = set()
        async for workflow in self.client.list_workflows(_RUNNING, page_size=1000):
            found.add(workflow.id.removeprefix(intent_workflow("")))
        return found

    async def _all_run(self, names: Collection[str]) -> list[bool]:
        gate = asyncio.Semaphore(_AT_ONCE)

        async def runs(name: str) -> bool:
            async with gate:
                try:
                    found = await self.client.get_workflow_handle(name).describe()
                except RPCError as problem:
                    if problem.status is RPCStatusCode.NOT_FOUND:
                        return False
                    raise
            return found.status is WorkflowExecutionStatus.RUNNING

        return await asyncio.gather(*(runs(name) for name in names))
