"""What the watchdog does about a finding: wake or rebuild a workflow, or close a run that nobody will end."""

from activities.change import change_project
from activities.store import Store
from activities.wakes import start_intent, start_line
from protocol.checks import CheckState
from protocol.commands import IntentStart, LineStart
from protocol.events import EventType
from protocol.watch import Finding, Heal
from runtime.watch_engine import Engines
from storage.sql import live_log, projects, watch
from storage.sql.pool import transaction

_CLOSED = "Closed: it ran beyond its limit and nobody watched over it. The queue tests again."


class Heals:
    """One worker's remedies. All are wakes by id, so that two at once do no harm."""

    def __init__(self, store: Store, engines: Engines) -> None:
        self._store = store
        self._engines = engines

    async def heal(self, found: Finding) -> None:
        """Set right what one finding names, as far as a wake can. Raises RPCError when the engine does not answer."""
        async with transaction(self._store.pool, readonly=True) as connection:
            project = await projects.find(connection, found.project_id)
        assert project is not None
        if found.heal is Heal.CHECK:
            await self._close(found)
        if found.heal is Heal.INTENT and found.intent_id is not None:
            start = IntentStart(
                intent_id=found.intent_id, project_id=project.id, host=project.host, resumed=True
            )
            await start_intent(self._engines.client, start)
        else:
            line = LineStart(project_id=project.id, line=found.line, host=project.host)
            await start_line(self._engines.client, line)

    async def _close(self, found: Finding) -> None:
        """Give the run an end, told to all that it speaks of."""
        async with change_project(self._store, found.project_id) as change:
            name = await watch.close_run(change.connection, found.subject, _CLOSED, change.now)
            if name is None:
                return
            for intent_id in await live_log.intents_of(change.connection, found.subject):
                change.emit(
                    EventType.CHECK_FINISHED,
                    "Check",
                    found.subject,
                    intent_id,
                    name=name,
                    state=CheckState.CANCELLED,
                    summary=_CLOSED,
                )
