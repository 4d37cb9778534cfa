"""Build a candidate on a line's head, and land it: the steps that need the repository's disk.

Landing is three moves, each safe to repeat: a marker in the record (from here on it lands), the ref by
compare-and-swap, and one transaction that makes its members merged and closes the marker.
"""

from collections.abc import Sequence

from temporalio import activity

from activities.change import Change, change_project
from activities.folders import Folders
from activities.neighbours import settle
from activities.store import Store
from protocol.events import EventType
from protocol.ids import CommitId
from protocol.queue import (
    BuildCandidate,
    Candidate,
    Conflicting,
    LandCandidate,
    Landed,
    LandingState,
    Merged,
    QueueEntry,
)
from protocol.records import IntentRow
from protocol.states import State
from rules.places import ancestors
from storage.git import merge
from storage.git.commits import Signature
from storage.git.errors import StaleRef
from storage.git.names import line_ref
from storage.git.repository import Repository
from storage.sql import intents, places, projects, queue
from storage.sql.pool import transaction


class Merges:
    """Git work of one host's lines."""

    def __init__(self, store: Store, folders: Folders) -> None:
        self._store = store
        self._pool = store.pool
        self._folders = folders

    @activity.defn(name="build_candidate")
    async def build(self, wanted: BuildCandidate) -> Candidate:
        """Merge the entries one on the other; those that conflict are left out and named.

        One that goes after a conflicting one is left out without a word: it waits for the next round.
        """
        repository = self._folders.repository(wanted.project_id)
        entries, chain = await self._chain(repository, wanted, wanted.entries)
        tree = await repository.tree_of(CommitId(wanted.line_head))
        merged: list[Merged] = []
        conflicting: list[Conflicting] = []
        for entry, outcome in zip(entries, chain.outcomes, strict=True):
            if isinstance(outcome, merge.Conflicted):
                conflicting.append(
                    Conflicting(
                        intent_id=entry.intent_id,
                        number=entry.number,
                        paths=list(outcome.paths),
                        message=" ".join(outcome.messages)[:500],
                    )
                )
                continue
            tree = outcome.tree if isinstance(outcome, merge.Merged) else tree
            merged.append(
                Merged(
                    intent_id=entry.intent_id,
                    number=entry.number,
                    head=entry.head,
                    commit=outcome.commit,
                    tree=tree,
                )
            )
        return Candidate(line_head=wanted.line_head, members=merged, conflicting=conflicting)

    async def _chain(
        self, repository: Repository, wanted: BuildCandidate, entries: Sequence[QueueEntry]
    ) -> tuple[Sequence[QueueEntry], merge.Chain]:
        while True:
            members = [_member(entry, wanted.at) for entry in entries]
            chain = await merge.merge_chain(repository, CommitId(wanted.line_head), members)
            kept = _without_orphans(entries, chain.outcomes)
            if len(kept) == len(entries):
                return entries, chain
            entries = kept

    @activity.defn(name="land")
    async def land(self, wanted: LandCandidate) -> Landed:
        """Land a tested candidate, or say why it has to be built again."""
        async with change_project(self._store, wanted.project_id) as change:
            opened = await queue.open_landing(change.connection, wanted.project_id, wanted.line)
            if opened is None:
                rows = await intents.many(change.connection, [m.intent_id for m in wanted.candidate.members])
                if _landed_before(rows, wanted.candidate.members):
                    return _landed_by_an_earlier_try(wanted.candidate.members)
                if not _still_queued(rows, wanted.candidate.members):
                    return Landed(state=LandingState.CHANGED)
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
                await _adopt_line(change, marker, actual)
                return Landed(state=LandingState.STALE)
            await record_landing(change, marker)
        return Landed(
            state=LandingState.LANDED, merged=marker.members, wake_intents=sorted(change.wake_intents)
        )

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


async def _adopt_line(change: Change, marker: queue.Landing, actual: str) -> None:
    """The line is not where the record has it: someone moved the ref by hand. The ref is the truth."""
    await projects.move_line(change.connection, marker.project_id, marker.line, actual)
    change.emit(
        EventType.LINE_MOVED,
        "Line",
        marker.line,
        None,
        **{"from": marker.old_head},
        to=actual,
        merged=[],
        outside=True,
    )


def _member(entry: QueueEntry, at: int) -> merge.Member:
    return merge.Member(
        work=CommitId(entry.head),
        message=entry.message,
        author=Signature(name=entry.author_name, email=entry.author_email, at=at),
        committer=Signature(name="gitring", email="gitring@gitring.invalid", at=at),
    )


def _without_orphans(
    entries: Sequence[QueueEntry], outcomes: Sequence[merge.Outcome]
) -> Sequence[QueueEntry]:
    """The entries but for those that go after one that conflicts, or after one left out for that."""
    missing: set[str] = set()
    kept: list[QueueEntry] = []
    for entry, outcome in zip(entries, outcomes, strict=True):
        if missing.intersection(entry.goes_after):
            missing.add(entry.intent_id)
            continue
        if isinstance(outcome, merge.Conflicted):
            missing.add(entry.intent_id)
        kept.append(entry)
    return kept


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
    await projects.move_line(change.connection, marker.project_id, marker.line, marker.new_head)
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
    for member in marker.members:
        await intents.set_merged(change.connection, member.intent_id, member.commit)
        await change.move(rows[member.intent_id], State.MERGED, commit=member.commit)
        change.wake_intents.add(member.intent_id)
    await _tell_neighbours(change, marker, numbers)
    for intent_id in rows:
        await settle(change, rows[intent_id].model_copy(update={"state": State.MERGED}))
    await places.forget(change.connection, list(rows))
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
