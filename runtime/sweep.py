"""Compare the record with the workflows, and start or wake what is missing.

A workflow is progress, the record is truth: an intent whose workflow is gone, was lost with the engine's
disk, or cannot replay is rebuilt from the record and goes on. Runs at each start of a worker, then now and
then, because nothing rings when a workflow is lost.
"""

import asyncio

import asyncpg
import structlog
from temporalio.client import Client
from temporalio.service import RPCError

from activities.folders import Folders
from activities.wakes import start_intent, start_line
from protocol.commands import IntentStart, LineStart
from protocol.ids import IntentId
from protocol.names import intent_workflow
from storage.sql import commands, intents, projects
from storage.sql.intents import LiveIntent
from storage.sql.pool import RecordBusy, transaction
from workflows.details import STATE

SWEEP_SEC = 60.0
_AT_ONCE = 8
_RUNNING = 'WorkflowType = "IntentWorkflow" AND ExecutionStatus = "Running"'

_log = structlog.get_logger("runtime.sweep")


class Sweep:
    """The sweep of one worker; several at once do no harm, because every start is by id."""

    def __init__(self, pool: asyncpg.Pool, client: Client, folders: Folders, host: str) -> None:
        self._pool = pool
        self._client = client
        self._folders = folders
        self._host = host

    async def run(self, stopping: asyncio.Event) -> None:
        """Sweep at once and then now and then, until told to stop."""
        while not stopping.is_set():
            try:
                await self.once()
            except (RPCError, RecordBusy, OSError) as problem:
                _log.warning("sweep.put_off", problem=f"{type(problem).__name__} {problem}")
            try:
                async with asyncio.timeout(SWEEP_SEC):
                    await stopping.wait()
            except TimeoutError:
                continue

    async def once(self) -> list[str]:
        """One pass; returns the ids of the intents that were woken or rebuilt."""
        async with transaction(self._pool) as connection:
            live = await intents.live_everywhere(connection)
            queues = await projects.lines_with_queue(connection)
        shown = await self._shown_states() if live else {}
        # Waking each of a thousand workflows makes each replay its history: half a minute in which nobody is served.
        behind = [found for found in live if shown.get(found.intent_id) != found.state]
        gate = asyncio.Semaphore(_AT_ONCE)

        async def wake(found: LiveIntent) -> None:
            start = IntentStart(
                intent_id=found.intent_id, project_id=found.project_id, host=found.host, resumed=True
            )
            async with gate:
                await start_intent(self._client, start)

        async with asyncio.TaskGroup() as group:
            for found in behind:
                group.create_task(wake(found))
            for project_id, line, host in queues:
                group.create_task(
                    start_line(self._client, LineStart(project_id=project_id, line=line, host=host))
                )
        await self._catch_up_pushes()
        async with transaction(self._pool) as connection:
            await commands.forget_old(connection)
        return [found.intent_id for found in behind]

    async def _shown_states(self) -> dict[str, str | None]:
        """The state that each running intent workflow shows to operators: the last that it took over from the record."""
        shown: dict[str, str | None] = {}
        async for found in self._client.list_workflows(_RUNNING, page_size=1000):
            intent_id = found.id.removeprefix(intent_workflow(""))
            shown[intent_id] = found.typed_search_attributes.get(STATE)
        return shown

    async def _catch_up_pushes(self) -> None:
        """Refs of this host's intents that moved without a record: a gateway died between the two."""
        async with transaction(self._pool, readonly=True) as connection:
            heads = await intents.live_heads(connection, self._host)
        by_project: dict[str, dict[str, str | None]] = {}
        for intent_id, project_id, head in heads:
            by_project.setdefault(project_id, {})[intent_id] = head
        for project_id, known in by_project.items():
            refs = await self._folders.repository(project_id).intent_refs()
            for intent_id in known.keys() & refs.keys():
                if refs[IntentId(intent_id)] != known[intent_id]:
                    _log.info("sweep.push_unrecorded", intent=intent_id)
                    await self._client.get_workflow_handle(intent_workflow(intent_id)).signal(
                        "push_unrecorded"
                    )
