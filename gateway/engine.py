"""What the gateway asks of Temporal besides updates: rebuild an intent's workflow, import a project."""

from temporalio.client import Client
from temporalio.common import WorkflowIDConflictPolicy, WorkflowIDReusePolicy

from protocol.commands import CreateProjectCommand, IntentStart, ProjectMade
from protocol.names import INTENTS_QUEUE, intent_workflow, setup_workflow
from workflows.intent import IntentWorkflow
from workflows.setup import ProjectSetupWorkflow


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
