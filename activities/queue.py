"""Short record steps of a line's queue: read it, and give intents back."""

from collections.abc import Collection, Mapping

import asyncpg
from temporalio import activity

from activities.change import change_project, utc_now
from activities.store import Store
from activities.verdicts import checks_failed, checks_passed, does_not_merge, line_failed_text
from protocol.events import EventType
from protocol.queue import CheckOutcome, Conflicting, Member, QueueEntry, QueueSnapshot, Returned
from protocol.records import IntentRow
from rules.landing_order import landing_order, who_meets
from rules.merge_message import merge_message
from rules.queue_plan import NARROWEST
from storage.sql import intents, lines, places, projects, queue
from storage.sql.pool import transaction
from storage.sql.symbols import edges_of

MOST_ENTRIES = 200
MOST_FILES = 5000
MOST_OUTSIDE = 200


def entry_of(row: IntentRow, goes_after: Collection[str] = (), meets: Collection[str] = ()) -> QueueEntry:
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
        meets=sorted(meets),
        at=int((row.queued_at or row.state_since).timestamp()),
        emergency=row.emergency,
        outside=row.outside[:MOST_OUTSIDE],
        since=row.declared_base,
    )


async def _meets(
    connection: asyncpg.Connection, project_id: str, line: str, rows: Mapping[str, IntentRow]
) -> dict[str, set[str]]:
    """Who meets whom in the queue: by a conflict, or by an import of a file that the other changes."""
    if len(rows) <= NARROWEST:
        return {}
    changed: dict[str, set[str]] = {}
    for place in await places.of_intents(connection, list(rows)):
        if place.role == "change":
            changed.setdefault(place.intent_id, set()).add(place.path)
    files = sorted({path for paths in changed.values() for path in paths})[:MOST_FILES]
    edges = await edges_of(connection, project_id, line, files)
    return who_meets(await queue.conflicting_pairs(connection, list(rows)), changed, edges.imports)


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
        now = utc_now()
        async with transaction(self._pool, isolation="repeatable_read", readonly=True) as connection:
            found = await projects.line(connection, project_id, line)
            draining = found.draining_since if found else None
            queued = await queue.queued(connection, project_id, line, MOST_ENTRIES, now, until=draining)
            rows = {row.id: row for row in queued}
            goes_after = await queue.open_dependencies(connection, list(rows))
            meets = await _meets(connection, project_id, line, rows)
            marker = await queue.open_landing(connection, project_id, line)
        entries = [
            entry_of(rows[intent_id], goes_after.get(intent_id, ()), meets.get(intent_id, ()))
            for intent_id in landing_order(list(rows), goes_after)
        ]
        return QueueSnapshot(
            project_id=project_id,
            line=line,
            head=found.head if found else None,
            entries=entries,
            paused=found.paused if found else None,
            open_landing=marker.id if marker else None,
            slots=self._slots,
            red_since=found.red_since if found else None,
            line_failed=found is not None and found.stopped_by == "line",
            untested=found is not None and found.untested,
            drained=draining is not None and not entries and marker is None,
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
            red_since=found.red_since if found else None,
        )

    @activity.defn(name="return_failed")
    async def return_failed(
        self, project_id: str, member: Member, outcome: CheckOutcome, clashes_with: int | None = None
    ) -> Returned:
        """Give an intent whose checks failed back to its agent; `clashes_with` landed, and only with it they fail."""
        async with change_project(self._store, project_id) as change:
            row = await intents.get(change.connection, member.intent_id)
            if row is not None and self._waits_for(row, member.head):
                await checks_failed(change, row, outcome, self._public_url, clashes_with)
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

    @activity.defn(name="line_failed")
    async def line_failed(self, project_id: str, line: str, head: str, outcome: CheckOutcome) -> None:
        """The checks fail on the line itself at `head`: its queue stands still, and nobody is blamed."""
        async with change_project(self._store, project_id) as change:
            found = await projects.line(change.connection, project_id, line)
            if found is None or found.head != head or found.paused is not None:
                return
            why = line_failed_text(line, head, outcome)
            await lines.pause(change.connection, project_id, line, why, "line")
            await lines.set_untested(change.connection, project_id, line, False)
            change.emit(
                EventType.LINE_PAUSED, "Line", line, None, reason=why, check_id=outcome.check_id, head=head
            )

    @activity.defn(name="line_proven")
    async def line_proven(self, project_id: str, line: str, head: str) -> None:
        """What landed without checks passes them."""
        async with change_project(self._store, project_id) as change:
            found = await projects.line(change.connection, project_id, line)
            if found is not None and found.head == head:
                await lines.set_untested(change.connection, project_id, line, False)

    @activity.defn(name="end_drain")
    async def end_drain(self, project_id: str, line: str) -> None:
        """The last of what was to land has landed: the queue stands still until an owner resumes it."""
        async with change_project(self._store, project_id) as change:
            found = await projects.line(change.connection, project_id, line)
            if found is None or found.draining_since is None:
                return
            why = f"drained: {found.draining_why or 'an owner let it run empty'}"
            await lines.pause(change.connection, project_id, line, why, "drained")
            change.emit(EventType.LINE_PAUSED, "Line", line, None, reason=why)

    @staticmethod
    def _waits_for(row: IntentRow, head: str) -> bool:
        """True while the verdict is still awaited: a withdrawn or returned intent takes none."""
        return row.state in ("verifying", "queued") and row.submitted_head == head
