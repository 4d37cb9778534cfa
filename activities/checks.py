"""Run the project's checks on one tree, or answer what is remembered of it."""

import asyncio
from collections.abc import AsyncIterator, Collection, Mapping
from contextlib import asynccontextmanager

from temporalio import activity

from activities.check_ground import Ground
from activities.check_host import environment_digest
from activities.check_rows import CheckRows, Opened
from activities.check_runs import CheckRuns
from activities.check_slots import Flights, Slots
from activities.folders import Folders
from activities.store import Store
from protocol.checks import CheckDefinition
from protocol.queue import CheckOutcome, CheckRequest, CheckRunOutcome
from rules.check_outcomes import outcome_of, unmet_need
from rules.check_paths import literal_part, matcher
from storage.git.inputs import inputs_digest
from storage.sql.checks import ResultKey

# With the worker's throttle, a cancel arrives within two seconds.
_HEARTBEAT_SEC = 1.0


class Checks:
    """The checks of one host: `slots` bounds what runs at once, `environment` is the operator's word for the machine."""

    def __init__(
        self,
        store: Store,
        folders: Folders,
        slots: int,
        environment: str | None = None,
        ground: Ground | None = None,
    ) -> None:
        self._folders = folders
        ground = ground or Ground(store.pool, folders)
        self._host = (environment or "", ground.account)
        self._rows = CheckRows(store)
        self._runs = CheckRuns(folders, ground)
        self.slots = Slots(slots)
        self._flights: Flights[CheckRunOutcome] = Flights()

    @activity.defn(name="run_checks")
    async def run(self, request: CheckRequest) -> CheckOutcome:
        """The verdict on `request.tree`. A check with a verdict on the same inputs is not run again.

        Checks run side by side as far as `needs` and the slots allow, and all of them to their end: one red
        check stops only those that need it.
        """
        opened = await self._rows.open(request)
        if not opened.definitions:
            return await self._rows.nothing_to_run(request)
        try:
            async with heartbeats():
                return outcome_of(await self._run_all(request, opened))
        except asyncio.CancelledError:
            # A stop of the whole worker leaves its runs to the retry.
            if not activity.is_worker_shutdown():
                await asyncio.shield(self._rows.close_running(request))
            raise

    async def _run_all(self, request: CheckRequest, opened: Opened) -> list[CheckRunOutcome]:
        tasks: dict[str, asyncio.Task[CheckRunOutcome]] = {}
        for definition in opened.definitions:
            done = opened.finished.get(definition.name)
            work = _known(done) if done else self._one(request, definition, tasks)
            tasks[definition.name] = asyncio.create_task(work)
        try:
            await asyncio.wait(tasks.values(), return_when=asyncio.FIRST_EXCEPTION)
        finally:
            await _end(tasks.values())
        failed = [task for task in tasks.values() if not task.cancelled() and task.exception()]
        return [task.result() for task in failed or tasks.values()]

    async def _one(
        self,
        request: CheckRequest,
        definition: CheckDefinition,
        tasks: Mapping[str, asyncio.Task[CheckRunOutcome]],
    ) -> CheckRunOutcome:
        needed = [tasks[name] for name in definition.needs]
        if needed:
            await asyncio.wait(needed)
        if why := unmet_need(definition, [task.result() for task in needed]):
            return await self._rows.skip(request, definition, why)
        key = await self._key(request, definition)
        run, own = await self._flights.join(key, lambda: self._lead(request, definition, key))
        return run if own else await self._rows.reuse(request, run)

    async def _lead(
        self, request: CheckRequest, definition: CheckDefinition, key: ResultKey
    ) -> CheckRunOutcome:
        """Look the result up, or make it; nobody else on this host does the same meanwhile."""
        if known := await self._rows.remembered(request, key):
            return known
        async with self.slots.taken(definition.slots):
            check_id = await self._rows.begin(request, definition, key)
            ran = await self._runs.run(request, definition, check_id)
        return await self._rows.finish(request, definition, key, check_id, ran)

    async def _key(self, request: CheckRequest, definition: CheckDefinition) -> ResultKey:
        return ResultKey(
            request.project_id,
            await self._inputs(request, definition),
            definition.digest(),
            environment_digest(definition, self._host),
        )

    async def _inputs(self, request: CheckRequest, definition: CheckDefinition) -> str:
        if not definition.paths:
            return request.tree
        return await inputs_digest(
            self._folders.repository(request.project_id),
            request.tree,
            [literal_part(path) for path in definition.paths],
            matcher(definition.paths),
        )


async def _known(run: CheckRunOutcome) -> CheckRunOutcome:
    return run


async def _end(tasks: Collection[asyncio.Task[CheckRunOutcome]]) -> None:
    """Stop what still runs, and return only when all of its processes are gone."""
    for task in tasks:
        task.cancel()
    await asyncio.wait(tasks)


@asynccontextmanager
async def heartbeats() -> AsyncIterator[None]:
    """Tell the server that the runs live, so that a cancel arrives and a lost worker is noticed."""

    async def beat() -> None:
        while True:
            activity.heartbeat()
            await asyncio.sleep(_HEARTBEAT_SEC)

    task = asyncio.create_task(beat())
    try:
        yield
    finally:
        task.cancel()
