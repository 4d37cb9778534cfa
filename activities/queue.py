"""Short record steps of a line's queue: read it, and give intents back."""

from collections.abc import Collection

from temporalio import activity

from activities.change import change_project
from activities.store import Store
from activities.verdicts import checks_failed, checks_passed, does_not_merge
from protocol.checks import CheckDefinition
from protocol.projects import ProjectSettings
from protocol.queue import CheckOutcome, Conflicting, Member, QueueEntry, QueueSnapshot, Returned
from protocol.records import IntentRow
from rules.landing_order import landing_order
from rules.merge_message import merge_message
from storage.sql import intents, projects, queue
from storage.sql.pool import transaction

MOST_ENTRIES = 200


def definition_of(settings: ProjectSettings) -> CheckDefinition | None:
    """The project's check, or None when no test command is set."""
    if settings.test is None:
        return None
    return CheckDefinition(
        command=settings.test,
        timeout_sec=settings.timeout_sec,
        environment=tuple(settings.environment),
        network=settings.network,
    )


def entry_of(row: IntentRow, goes_after: Collection[str] = ()) -> QueueEntry:
    """What a candidate needs of an intent: its head, what it goes after, and what its merge commit will say."""
    return QueueEntry(
        intent_id=row.id,
        number=row.number,
        head=str(row.submitted_head),
        title=row.title,
        message=merge_message(row.number, row.title, row.goal, row.id, row.issue),
        author_name=row.person_name,
        author_email=f"{row.person_id}@gitring.invalid",
        goes_after=sorted(goes_after),
    )


class Queue:
    """The queue's rows. `public_url` goes into the sentences about logs; `slots` checks may run at once."""

    def __init__(self, store: Store, public_url: str, slots: int) -> None:
        self._store = store
        self._pool = store.pool
        self._public_url = public_url
        self._slots = slots

    @activity.defn(name="read_queue")
    async def read(self, project_id: str, line: str) -> QueueSnapshot:
        """One snapshot of a line's queue."""
        async with transaction(self._pool, isolation="repeatable_read", readonly=True) as connection:
            found = await projects.line(connection, project_id, line)
            rows = {row.id: row for row in await queue.queued(connection, project_id, line, MOST_ENTRIES)}
            goes_after = await queue.open_dependencies(connection, list(rows))
            marker = await queue.open_landing(connection, project_id, line)
        return QueueSnapshot(
            project_id=project_id,
            line=line,
            head=found.head if found else None,
            entries=[
                entry_of(rows[intent_id], goes_after.get(intent_id, ()))
                for intent_id in landing_order(list(rows), goes_after)
            ],
            paused=found.paused if found else None,
            open_landing=marker.id if marker else None,
            slots=self._slots,
        )

    @activity.defn(name="read_entry")
    async def read_one(self, intent_id: str) -> QueueSnapshot:
        """A snapshot that holds one submitted intent alone, for its checks before a person decides."""
        async with transaction(self._pool, isolation="repeatable_read", readonly=True) as connection:
            rows = await intents.many(connection, [intent_id])
            row = rows[intent_id]
            found = await projects.line(connection, row.project_id, row.line)
        return QueueSnapshot(
            project_id=row.project_id,
            line=row.line,
            head=found.head if found else None,
            entries=[entry_of(row)],
        )

    @activity.defn(name="return_failed")
    async def return_failed(self, project_id: str, member: Member, outcome: CheckOutcome) -> Returned:
        """Give an intent whose checks failed back to its agent."""
        async with change_project(self._store, project_id) as change:
            row = await intents.get(change.connection, member.intent_id)
            if row is not None and self._waits_for(row, member.head):
                await checks_failed(change, row, outcome, self._public_url)
        return Returned(wake_intents=sorted(change.wake_intents))

    @activity.defn(name="return_conflicting")
    async def return_conflicting(
        self, project_id: str, found: Conflicting, head: str, line_head: str
    ) -> Returned:
        """Give an intent that does not merge back to its agent, with the files named."""
        async with change_project(self._store, project_id) as change:
            row = await intents.get(change.connection, found.intent_id)
            if row is not None and self._waits_for(row, head):
                await does_not_merge(change, row, found, line_head)
        return Returned(wake_intents=sorted(change.wake_intents))

    @activity.defn(name="checks_passed")
    async def passed(self, project_id: str, member: Member) -> Returned:
        """Ask a person for the merge of an intent whose checks are green, or skipped."""
        async with change_project(self._store, project_id) as change:
            row = await intents.get(change.connection, member.intent_id)
            if row is not None and row.state == "verifying" and row.submitted_head == member.head:
                await checks_passed(change, row)
        return Returned(wake_intents=sorted(change.wake_intents), wake_line=change.wake_line)

    @staticmethod
    def _waits_for(row: IntentRow, head: str) -> bool:
        """True while the verdict is still awaited: a withdrawn or returned intent takes none."""
        return row.state in ("verifying", "queued") and row.submitted_head == head
