"""Build a candidate on a line's head, and land it: the steps that need the repository's disk.

Landing is three moves, each safe to repeat: a marker in the record (from here on it lands), the ref by
compare-and-swap, and one transaction that makes its members merged and closes the marker.
"""

from collections.abc import Sequence

from temporalio import activity

from activities.building import Building
from activities.change import Change, change_project
from activities.folders import Folders
from activities.neighbours import settle
from activities.store import Store
from protocol.events import EventType
from protocol.ids import CommitId
from protocol.queue import (
    BuildCandidate,
    Candidate,
    LandCandidate,
    Landed,
    LandingState,
    Merged,
    Returned,
)
from protocol.records import IntentRow
from protocol.states import State
from rules.places import ancestors
from storage.git.errors import StaleRef
from storage.git.names import line_ref
from storage.sql import conflicts, intents, lines, places, projects, queue
from storage.sql.foremerge import work
from storage.sql.pool import transaction


class Merges:
    """Git work of one host's lines."""

    def __init__(self, store: Store, folders: Folders) -> None:
        self._store = store
        self._pool = store.pool
        self._folders = folders

    @activity.defn(name="build_candidate")
    async def build(self, wanted: BuildCandidate) -> Candidate:
        """Merge the entries one on the other; those that conflict, or undo what landed, are left out and named.

        One that goes after such a one is left out without a word: it waits for the next round.
        """
        repository = self._folders.repository(wanted.project_id)
        return await Building(repository, self._pool, wanted).candidate()

    @activity.defn(name="land")
    async def land(self, wanted: LandCandidate) -> Landed:
        """Land a tested candidate, or say why it has to be built again."""
        async with change_project(self._store, wanted.project_id) as change:
            opened = await queue.open_landing(change.connection, wanted.project_id, wanted.line)
            if opened is None:
                if await queue.was_abandoned(change.connection, wanted.landing_id):
                    return Landed(state=LandingState.STALE)
                rows = await intents.many(change.connection, [m.intent_id for m in wanted.candidate.members])
                if _landed_before(rows, wanted.candidate.members):
                    return _landed_by_an_earlier_try(wanted.candidate.members)
                if not _still_queued(rows, wanted.candidate.members):
                    return Landed(state=LandingState.CHANGED)
                await lines.set_untested(change.connection, wanted.project_id, wanted.line, wanted.unchecked)
                await queue.prepare(
                    change.connection,
                    landing_id=wanted.landing_id,
                    project_id=wanted.project_id,
                    line=wanted.line,
                    old_head=wanted.candidate.line_head,
                    members=wanted.candidate.members,
                    now=change.now,
                )
        return await self.finish_landing(wanted.project_id, wanted.line)

    @activity.defn(name="finish_landing")
    async def finish_landing(self, project_id: str, line: str) -> Landed:
        """Carry an open marker to its end: the ref, then the record."""
        async with transaction(self._pool) as connection:
            marker = await queue.open_landing(connection, project_id, line)
        if marker is None:
            return Landed(state=LandingState.CHANGED)
        moved, actual = await self._move_ref(marker)
        async with change_project(self._store, project_id) as change:
            still_open = await queue.open_landing(change.connection, project_id, line)
            if still_open is None or still_open.id != marker.id:
                return (
                    _landed_by_an_earlier_try(marker.members) if moved else Landed(state=LandingState.STALE)
                )
            if not moved:
                await queue.close(change.connection, marker.id, "abandoned", change.now)
                await _adopt(change, marker.line, marker.old_head, actual)
                return Landed(state=LandingState.STALE)
            await record_landing(change, marker)
        return Landed(
            state=LandingState.LANDED, merged=marker.members, wake_intents=sorted(change.wake_intents)
        )

    @activity.defn(name="adopt_line")
    async def adopt_line(self, project_id: str, line: str) -> Returned:
        """Take over where a line's ref stands, when somebody moved it by hand: then the queue looks again."""
        actual = await self._folders.repository(project_id).head(line_ref(line))
        async with change_project(self._store, project_id) as change:
            found = await projects.line(change.connection, project_id, line)
            if found is None or actual is None or found.head == actual:
                return Returned()
            await _adopt(change, line, str(found.head), actual)
        return Returned(wake_intents=sorted(change.wake_intents), wake_line=True)

    async def _move_ref(self, marker: queue.Landing) -> tuple[bool, str]:
        """Compare-and-swap; a ref that stands at the new head already was moved by an earlier try.

        Also where the ref stands now.
        """
        if marker.new_head == marker.old_head:
            return True, marker.new_head
        ref = line_ref(marker.line)
        try:
            await self._folders.repository(marker.project_id).update_ref(
                ref, CommitId(marker.new_head), CommitId(marker.old_head)
            )
        except StaleRef as stale:
            if stale.actual is None:
                raise LookupError(f"the line {marker.line} of {marker.project_id} has no ref") from stale
            return stale.actual == marker.new_head, stale.actual
        return True, marker.new_head


async def _move_line(change: Change, line: str, head: str) -> None:
    """Record a line's new head. Where it failed its own checks, whoever waited for that is checked now."""
    if await lines.move(change.connection, change.project.id, line, head):
        change.wake_intents.update(await lines.waiting_for_checks(change.connection, change.project.id, line))


async def _adopt(change: Change, line: str, recorded: str, actual: str) -> None:
    """The line is not where the record has it: someone moved the ref by hand. The ref is the truth."""
    await _move_line(change, line, actual)
    change.emit(
        EventType.LINE_MOVED,
        "Line",
        line,
        None,
        **{"from": recorded},
        to=actual,
        merged=[],
        outside=True,
    )


def _still_queued(rows: dict[str, IntentRow], members: Sequence[Merged]) -> bool:
    return all(
        rows[m.intent_id].queued_at is not None and rows[m.intent_id].submitted_head == m.head
        for m in members
    )


def _landed_by_an_earlier_try(members: list[Merged]) -> Landed:
    """The earlier try was cut short before its wakes were sent; those that were released are the sweep's."""
    wake = sorted(member.intent_id for member in members)
    return Landed(state=LandingState.LANDED, merged=members, wake_intents=wake)


def _landed_before(rows: dict[str, IntentRow], members: Sequence[Merged]) -> bool:
    return all(rows[m.intent_id].merged_commit == m.commit for m in members)


async def record_landing(change: Change, marker: queue.Landing) -> None:
    """Make the members merged, move the line's record, release who waited, tell who stands near."""
    rows = await intents.many(change.connection, [m.intent_id for m in marker.members])
    await _move_line(change, marker.line, marker.new_head)
    numbers = [m.number for m in marker.members]
    change.emit(
        EventType.LINE_MOVED,
        "Line",
        marker.line,
        None,
        **{"from": marker.old_head},
        to=marker.new_head,
        merged=numbers,
    )
    await intents.set_merged(change.connection, {m.intent_id: m.commit for m in marker.members}, change.now)
    for member in marker.members:
        change.note_move(rows[member.intent_id], State.MERGED, commit=member.commit)
        change.wake_intents.add(member.intent_id)
    await _tell_neighbours(change, marker, numbers)
    # Most meet nobody, and then nobody's place in the order hangs on them.
    for intent_id in sorted(await conflicts.entangled(change.connection, list(rows))):
        await settle(change, rows[intent_id].model_copy(update={"state": State.MERGED}))
    await places.forget(change.connection, list(rows))
    await work.end(change.connection, list(rows))
    await queue.close(change.connection, marker.id, "landed", change.now)


async def _tell_neighbours(change: Change, marker: queue.Landing, numbers: Sequence[int]) -> None:
    """`base.moved` to each live intent that has a place near one that landed."""
    landed = {m.intent_id for m in marker.members}
    mine = [p.path for p in await places.of_intents(change.connection, sorted(landed)) if p.role == "change"]
    above = sorted({path for place in mine for path in ancestors(place)})
    near = await places.met_by(
        change.connection, marker.project_id, marker.line, sorted(set(mine)), above, but=""
    )
    for intent_id in sorted(set(near) - landed):
        change.emit(
            EventType.BASE_MOVED,
            "Intent",
            intent_id,
            intent_id,
            line=marker.line,
            **{"from": marker.old_head},
            to=marker.new_head,
            merged=list(numbers),
        )
