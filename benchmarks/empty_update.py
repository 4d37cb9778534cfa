"""The yardstick of a declare: a workflow whose update does nothing, on the same Temporal server."""

import time
import uuid
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from temporalio import workflow
from temporalio.client import Client, WithStartWorkflowOperation
from temporalio.common import WorkflowIDConflictPolicy
from temporalio.contrib.pydantic import pydantic_data_converter
from temporalio.worker import Worker

from benchmarks.stack import Stack

QUEUE = "bench-empty"


@workflow.defn
class EmptyWorkflow:
    """Stays open, as an intent does."""

    def __init__(self) -> None:
        self._over = False

    @workflow.run
    async def run(self) -> None:
        """Wait for the end of the measurement."""
        await workflow.wait_condition(lambda: self._over)

    @workflow.update
    async def nothing(self) -> str:
        """The empty update."""
        return "done"

    @workflow.signal
    def end(self) -> None:
        """Complete."""
        self._over = True


class EmptyUpdates:
    """Starts an empty workflow with an update, again and again."""

    def __init__(self, client: Client) -> None:
        self._client = client
        self._ids: list[str] = []

    async def once(self) -> float:
        """One update-with-start; the seconds it took."""
        workflow_id = f"bench-{uuid.uuid4()}"
        began = time.perf_counter()
        await self._client.execute_update_with_start_workflow(
            EmptyWorkflow.nothing,
            start_workflow_operation=WithStartWorkflowOperation(
                EmptyWorkflow.run,
                id=workflow_id,
                task_queue=QUEUE,
                id_conflict_policy=WorkflowIDConflictPolicy.USE_EXISTING,
            ),
        )
        seconds = time.perf_counter() - began
        self._ids.append(workflow_id)
        return seconds


@asynccontextmanager
async def empty_updates(stack: Stack) -> AsyncIterator[EmptyUpdates]:
    """A client and a worker of our own on the stack's Temporal, with the product's data converter."""
    client = await Client.connect(
        stack.connection["temporal"],
        namespace=stack.connection["temporal_namespace"],
        data_converter=pydantic_data_converter,
    )
    async with Worker(client, task_queue=QUEUE, workflows=[EmptyWorkflow], max_cached_workflows=2000):
        yield EmptyUpdates(client)
