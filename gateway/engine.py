"""What the gateway asks of Temporal besides updates: rebuild an intent's workflow, import a project."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import TypeVar

from temporalio.client import Client
from temporalio.common import WorkflowIDConflictPolicy, WorkflowIDReusePolicy
from temporalio.service import RPCError, RPCStatusCode

from protocol.commands import (
    CreateLineCommand,
    CreateProjectCommand,
    IntentStart,
    LineMade,
    LineStart,
    ProjectMade,
)
from protocol.names import INTENTS_QUEUE, intent_workflow, line_workflow, setup_workflow
from workflows.intent import IntentWorkflow
from workflows.line import LineWorkflow
from workflows.setup import LineSetupWorkflow, ProjectSetupWorkflow

T = TypeVar("T")
_FIRST_PAUSE, _LONGEST_PAUSE = 0.05, 1.0


async def until_ready(attempt: Callable[[], Awaitable[T]]) -> T:
    """Repeat an update whose workflow task failed: news that came while it ended drops the update unseen.

    Only for updates that bear a repeat. Without end; the caller sets a limit.
    """
    pause = _FIRST_PAUSE
    while True:
        try:
            return await attempt()
        except RPCError as problem:
            if problem.status is not RPCStatusCode.FAILED_PRECONDITION:
                raise
        await asyncio.sleep(pause)
        pause = min(2 * pause, _LONGEST_PAUSE)


async def start_intent(client: Client, start: IntentStart) -> None:
    """Signal an intent's workflow, starting it from the record when it does not run."""
    await client.start_workflow(
        IntentWorkflow.run,
        start,
        id=intent_workflow(start.intent_id),
        task_queue=INTENTS_QUEUE,
        id_conflict_policy=WorkflowIDConflictPolicy.USE_EXISTING,
        id_reuse_policy=WorkflowIDReusePolicy.ALLOW_DUPLICATE,
        start_signal="news",
        static_summary="Rebuilt from the record",
    )


async def set_up_project(client: Client, command: CreateProjectCommand) -> ProjectMade:
    """Import a project and wait for it; a repeat of the same command joins the import that runs."""
    return await client.execute_workflow(
        ProjectSetupWorkflow.run,
        command,
        id=setup_workflow(command.project_id),
        task_queue=INTENTS_QUEUE,
        id_conflict_policy=WorkflowIDConflictPolicy.USE_EXISTING,
        static_summary=f"Import {command.slug}",
    )


async def set_up_line(client: Client, command: CreateLineCommand) -> LineMade:
    """Begin a line and wait for it."""
    return await client.execute_workflow(
        LineSetupWorkflow.run,
        command,
        id=f"{setup_workflow(command.project_id)}-{command.line}",
        task_queue=INTENTS_QUEUE,
        id_conflict_policy=WorkflowIDConflictPolicy.USE_EXISTING,
        static_summary="Begin a line",
    )


async def wake_line(client: Client, start: LineStart) -> None:
    """Signal a line's queue, starting its workflow when it does not run."""
    await client.start_workflow(
        LineWorkflow.run,
        start,
        id=line_workflow(start.project_id, start.line),
        task_queue=INTENTS_QUEUE,
        id_conflict_policy=WorkflowIDConflictPolicy.USE_EXISTING,
        id_reuse_policy=WorkflowIDReusePolicy.ALLOW_DUPLICATE,
        start_signal="wake",
        static_summary="Merge queue of a line",
    )
