"""Wake workflows: news for intents, and one coalesced signal for a line's queue.

A wake carries no data: whoever wakes reads the record. So a lost or doubled wake costs nothing but time.
"""

import asyncio
from collections.abc import Coroutine
from typing import Any

from temporalio import activity
from temporalio.client import Client
from temporalio.common import WorkflowIDConflictPolicy, WorkflowIDReusePolicy
from temporalio.service import RPCError, RPCStatusCode

from protocol.commands import IntentStart, LineStart
from protocol.names import INTENTS_QUEUE, index_workflow, intent_workflow, line_workflow

_AT_ONCE = 16


class Wakes:
    """Signals from activities, through the worker's own client."""

    def __init__(self, client: Client) -> None:
        self._client = client
        self._sending: dict[str, asyncio.Lock] = {}
        self._waiting: dict[str, asyncio.Task[None]] = {}

    @activity.defn(name="wake_intents")
    async def wake_intents(self, intent_ids: list[str]) -> None:
        """Tell each intent's workflow to look at the record; one that ended needs no telling."""
        gate = asyncio.Semaphore(_AT_ONCE)

        async def wake(intent_id: str) -> None:
            async with gate:
                try:
                    await self._client.get_workflow_handle(intent_workflow(intent_id)).signal("news")
                except RPCError as problem:
                    # Gone or never started: the sweep rebuilds it from the record if the intent still lives.
                    if problem.status is not RPCStatusCode.NOT_FOUND:
                        raise

        await _all(*(wake(intent_id) for intent_id in intent_ids))

    @activity.defn(name="wake_index")
    async def wake_index(self, start: LineStart) -> None:
        """Have a line's imports indexed in the background."""
        await start_index(self._client, start)

    @activity.defn(name="wake_line")
    async def wake_line(self, start: LineStart) -> None:
        """Wake a line's queue, starting its workflow when there is none.

        One workflow takes only a handful of signals a second, so wakes that come while one is being sent
        share the next.
        """
        key = line_workflow(start.project_id, start.line)
        lock = self._sending.setdefault(key, asyncio.Lock())
        waiting = self._waiting.get(key)
        if waiting is None:
            waiting = self._waiting[key] = asyncio.create_task(self._send(key, lock, start))
        await asyncio.shield(waiting)

    async def _send(self, key: str, lock: asyncio.Lock, start: LineStart) -> None:
        """Wait until the signal before is sent; whoever came until then shares this one."""
        async with lock:
            del self._waiting[key]
            await start_line(self._client, start)


async def _all(*waits: Coroutine[Any, Any, None]) -> None:
    async with asyncio.TaskGroup() as group:
        for wait in waits:
            group.create_task(wait)


async def start_line(client: Client, start: LineStart) -> None:
    """Signal a line's workflow, starting it when it does not run."""
    at = line_workflow(start.project_id, start.line)
    await _signal_or_start(client, "LineWorkflow", start, at, "wake", f"Merge queue of {start.line}")


async def start_index(client: Client, start: LineStart) -> None:
    """Have a line indexed: by the indexing that runs, or by a new one."""
    at = index_workflow(start.project_id, start.line)
    await _signal_or_start(client, "IndexWorkflow", start, at, "wake", f"Imports of {start.line}")


async def start_intent(client: Client, start: IntentStart) -> None:
    """Signal an intent's workflow, rebuilding it from the record when it does not run."""
    at = intent_workflow(start.intent_id)
    await _signal_or_start(client, "IntentWorkflow", start, at, "news", "Rebuilt from the record")


async def _signal_or_start(
    client: Client, workflow: str, start: LineStart | IntentStart, at: str, signal: str, summary: str
) -> None:
    await client.start_workflow(
        workflow,
        start,
        id=at,
        task_queue=INTENTS_QUEUE,
        id_conflict_policy=WorkflowIDConflictPolicy.USE_EXISTING,
        id_reuse_policy=WorkflowIDReusePolicy.ALLOW_DUPLICATE,
        start_signal=signal,
        static_summary=summary,
    )
