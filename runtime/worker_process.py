"""`gitring worker`: runs the workflows, the record's steps, this host's Git and its checks; and the relay."""

import asyncio
import os
from concurrent.futures import ThreadPoolExecutor
from contextlib import AsyncExitStack
from datetime import timedelta

from temporalio import workflow
from temporalio.worker import Worker
from temporalio.worker.workflow_sandbox import SandboxedWorkflowRunner, SandboxRestrictions

from activities.check_ground import Ground
from activities.checks import Checks
from activities.folders import Folders
from activities.foremerge.acceptance import ForemergeAcceptance
from activities.foremerge.changesets import ForemergeChangeSets
from activities.foremerge.landings import ForemergeLandings
from activities.foremerge.records import ForemergeRecords
from activities.foremerge.validations import ForemergeValidations
from activities.live_log import LiveLogs
from activities.merges import Merges
from activities.parsing.parsers import Parsers
from activities.pushes import Pushes
from activities.queue import Queue
from activities.records import Records
from activities.reviews import Reviews
from activities.setup import Lines, Setup
from activities.store import Store
from activities.symbols import Symbols
from activities.wakes import Wakes
from bus.live import LiveRinger
from bus.relay import Relay
from protocol.names import INTENTS_QUEUE, checks_queue, git_queue
from protocol.states import Mediation
from runtime.connections import Connections, address, connections
from runtime.heartbeats import Heartbeats
from runtime.housekeeping import Housekeeping
from runtime.processes import run
from runtime.settings import Settings
from runtime.sweep import Sweep
from runtime.watch_engine import Engines
from runtime.watchdog import Watchdog
from workflows.index import IndexWorkflow
from workflows.intent import IntentWorkflow
from workflows.line import LineWorkflow
from workflows.setup import LineSetupWorkflow, ProjectSetupWorkflow

WORKFLOWS = [IntentWorkflow, LineWorkflow, ProjectSetupWorkflow, LineSetupWorkflow, IndexWorkflow]
OURS = ("protocol", "rules", "activities", "storage", "workflows")
STOP = timedelta(seconds=10)
CANCEL_HEARD = timedelta(seconds=1)


def workers(found: Connections, settings: Settings, parsers: Parsers) -> list[Worker]:
    """The three workers of a host: workflows and records, Git, checks."""
    store = Store(found.pool, Mediation(settings.mediation))
    folders = Folders(settings.data_dir)
    records, reviews = Records(store), Reviews(store)
    queue = Queue(store, settings.url, settings.check_slots)
    wakes = Wakes(found.temporal)
    pushes, merges = Pushes(store, folders, parsers), Merges(store, folders)
    setup = Setup(store, folders, settings.import_private)
    lines = Lines(store, folders)
    ringer = LiveRinger(found.link)
    ground = Ground(found.pool, folders, LiveLogs(found.pool, ringer.ring), settings.check_user)
    checks = Checks(store, folders, settings.check_slots, settings.check_environment, ground)
    symbols = Symbols(found.pool, folders, parsers)
    validations = ForemergeValidations(store, folders, checks.slots, settings.check_user)
    return [
        Worker(
            found.temporal,
            task_queue=INTENTS_QUEUE,
            workflows=WORKFLOWS,
            activities=[
                records.admit,
                records.update_plan,
                records.submit,
                records.withdraw,
                records.ack,
                records.decide,
                records.look,
                reviews.comment,
                reviews.suggest,
                reviews.settle,
                reviews.accept_drift,
                reviews.land_now,
                ForemergeRecords(store).apply,
                queue.read,
                queue.read_one,
                queue.return_failed,
                queue.return_conflicting,
                queue.passed,
                queue.line_failed,
                queue.line_proven,
                queue.end_drain,
                wakes.wake_intents,
                wakes.wake_line,
                wakes.wake_index,
            ],
            # A history that this code cannot replay ends its run at once; the sweep rebuilds it from the record.
            workflow_failure_exception_types=[workflow.NondeterminismError],
            workflow_runner=sandbox(),
            max_cached_workflows=2000,
            interceptors=[Heartbeats()],
            graceful_shutdown_timeout=STOP,
        ),
        Worker(
            found.temporal,
            task_queue=git_queue(settings.host_name),
            activities=[
                pushes.record,
                pushes.catch_up,
                merges.build,
                merges.land,
                merges.finish_landing,
                merges.adopt_line,
                setup.make_repository,
                setup.record_project,
                lines.begin,
                symbols.index_line,
                ForemergeChangeSets(store, folders).publish,
                ForemergeAcceptance(store, folders).accept,
                ForemergeLandings(store, folders).record_commit,
            ],
            max_concurrent_activities=max(4, 2 * (os.cpu_count() or 1)),
            interceptors=[Heartbeats()],
            graceful_shutdown_timeout=STOP,
        ),
        Worker(
            found.temporal,
            task_queue=checks_queue(settings.host_name),
            activities=[checks.run, validations.validate],
            # Each of them tests one tree; what runs at once is bounded by the slots that its checks take.
            max_concurrent_activities=max(16, 4 * settings.check_slots),
            graceful_shutdown_timeout=timedelta(0),
            # A cancel comes with the answer to a heartbeat, and a cancelled check is to be gone within 5 s.
            max_heartbeat_throttle_interval=CANCEL_HEARD,
            default_heartbeat_throttle_interval=CANCEL_HEARD,
        ),
    ]


def sweep_of(found: Connections, settings: Settings) -> Sweep:
    """The sweep of this host."""
    return Sweep(found.pool, found.temporal, Folders(settings.data_dir), settings.host_name)


def watchdog_of(found: Connections, settings: Settings) -> Watchdog:
    """The watchdog of this host."""
    store = Store(found.pool, Mediation(settings.mediation))
    return Watchdog(store, Engines(found.temporal), settings.host_name)


def sandbox() -> SandboxedWorkflowRunner:
    """The workflow sandbox without importing our own rooms anew for every run."""
    return SandboxedWorkflowRunner(restrictions=SandboxRestrictions.default.with_passthrough_modules(*OURS))


async def work(settings: Settings, stopping: asyncio.Event) -> None:
    """Work until told to stop; then finish what is short and leave what is long to its retry."""
    asyncio.get_running_loop().set_default_executor(ThreadPoolExecutor(8, "gitring"))
    async with connections(settings, "worker", pool_size=24) as found, AsyncExitStack() as running:
        parsers = await running.enter_async_context(Parsers())
        for worker in workers(found, settings, parsers):
            await running.enter_async_context(worker)
        async with asyncio.TaskGroup() as group:
            relay = group.create_task(Relay(address(settings, "database_url"), found.link).run())
            sweep = group.create_task(sweep_of(found, settings).run(stopping))
            folders = Folders(settings.data_dir)
            house = group.create_task(Housekeeping(found.pool, folders, settings.host_name).run())
            watchdog = group.create_task(watchdog_of(found, settings).run())
            say_ready(settings)
            await stopping.wait()
            for task in (relay, sweep, house, watchdog):
                task.cancel()


def say_ready(settings: Settings) -> None:
    """Tell whoever started this process that it works."""
    if settings.ready_fd is not None:
        os.write(settings.ready_fd, b"ready\n")
        os.close(settings.ready_fd)


def main() -> None:
    """Run the worker with the settings of the environment."""
    run("worker", work)
