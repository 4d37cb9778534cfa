"""Record the commit with which an accepted ChangeSet landed, recognised by history or by content."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

from temporalio import activity

from activities.change import Change
from activities.exactly_once import once
from activities.folders import Folders
from activities.foremerge.frame import committed, finish_foremerge, work_of
from activities.foremerge.kept import accepted_ref, earlier, kept_changeset, name_actor, told
from activities.foremerge.sources import Source, source_again
from activities.store import Store
from protocol.commands import Outcome
from protocol.events import EventType
from protocol.foremerge.changesets import ChangeSet, RecordCommitInput
from protocol.foremerge.commands import ForemergeCommand
from protocol.foremerge.errors import ErrorCode, foremerge_refusal
from protocol.foremerge.words import BaseResolution, IntentStatus, LandingMethod
from protocol.ids import CommitId
from rules.foremerge.landing import CandidateChange, Entry, LandedPath, landed_at, landing_method
from rules.foremerge.lifecycle import must_be_landable
from rules.foremerge.refusing import bad_input, check_failed
from storage.git.content import Change as Happened
from storage.git.content import ChangedPath
from storage.git.landing import BlobPair, patches_of
from storage.git.names import EMPTY_TREE
from storage.git.repository import Repository
from storage.sql.foremerge import agents, changesets
from storage.sql.foremerge.changesets import StoredChangeSet
from storage.sql.pool import transaction

_TEXT = frozenset({"100644", "100755"})


@dataclass(frozen=True)
class Recognised:
    """A landing that holds the accepted work."""

    commit: CommitId
    method: LandingMethod


class ForemergeLandings:
    """Landings in the repositories of one host."""

    def __init__(self, store: Store, folders: Folders) -> None:
        self._store = store
        self._folders = folders

    @activity.defn(name="foremerge_record_commit")
    async def record_commit(self, command: ForemergeCommand) -> Outcome:
        """`record_commit`."""
        return await told(self._record_commit(command))

    async def _record_commit(self, command: ForemergeCommand) -> Outcome:
        if known := await earlier(self._store.pool, command):
            return known
        given = RecordCommitInput.model_validate(command.given)
        async with transaction(self._store.pool, readonly=True) as connection:
            stored = await kept_changeset(connection, command, given.changeset_id)
            common_dir = await agents.bound_folder(connection, command.project_id)
        must_be_landable(stored.changeset.id, stored.changeset.status)
        bare = self._folders.repository(command.project_id)
        # A worktree is often removed once its work has landed: then the repository it was of answers.
        source, _ = await source_again(bare, command.intent_id, common_dir, stored.worktree)
        found = await _recognised(source, stored.changeset, given.git_ref)
        return await once(self._store, command, partial(_record, stored=stored, found=found))


async def _recognised(source: Source, changeset: ChangeSet, name: str) -> Recognised:
    accepted = CommitId(str(changeset.accepted_commit))
    ref = accepted_ref(changeset.id)
    if await source.repository.head(ref) != accepted:
        raise check_failed(
            f"{ref} does not stand at the accepted commit {accepted} any more.",
            "Put it back with git update-ref, then name the landing again.",
        )
    landing = await source.resolve(name)
    if landing is None:
        raise bad_input(
            f"git_ref {name[:100]!r} names no commit of the repository that holds the ChangeSet.",
            "Fetch the landing there, or name it by its commit id.",
        )
    is_ancestor = await source.repository.is_ancestor(accepted, landing)
    compared = [] if is_ancestor else await _compared_with(source, changeset, accepted, landing)
    return Recognised(landing, landing_method(is_ancestor, compared))


async def _compared_with(
    source: Source, changeset: ChangeSet, accepted: CommitId, landing: CommitId
) -> list[tuple[CandidateChange, LandedPath]]:
    base = changeset.base_ref
    resolution = changeset.provenance["git"]["base_resolution"]
    if base is None and resolution != BaseResolution.ROOT_COMMIT:
        raise foremerge_refusal(
            ErrorCode.TARGET_DIVERGED,
            "The ChangeSet has no base to compare with, so only a commit that descends from the accepted one can be its "
            "landing.",
            "Name such a commit, or publish new work with base_ref.",
        )
    start = CommitId(base) if base is not None else EMPTY_TREE
    return await compared(source.contents, start, accepted, landing)


async def compared(
    repository: Repository, base: CommitId, accepted: CommitId, landing: CommitId
) -> list[tuple[CandidateChange, LandedPath]]:
    """Each path that `accepted` changed against `base`, with what `landing` has for it."""
    changes = [_change(one) for one in await repository.changed_paths(base, accepted)]
    moved = {
        str(one.old_path): one.path
        for one in await repository.changed_paths(base, landing)
        if one.status is Happened.RENAMED
    }
    landed = {one.path: Entry(one.id, one.mode) for one in await repository.list_tree(landing)}
    now = [landed.get(landed_at(change, moved)) for change in changes]
    ours, theirs = await _patches(repository, changes, now)
    return [
        (change, LandedPath(there, one, other, change.old_path in landed))
        for change, there, one, other in zip(changes, now, ours, theirs, strict=True)
    ]


def _change(one: ChangedPath) -> CandidateChange:
    return CandidateChange(
        one.path,
        one.old_path,
        Entry(one.old_blob, one.old_mode) if one.old_blob else None,
        Entry(one.blob, one.mode) if one.blob else None,
    )


Patches = list[list[bytes] | None]


async def _patches(
    repository: Repository, changes: Sequence[CandidateChange], now: Sequence[Entry | None]
) -> tuple[Patches, Patches]:
    """Base to candidate and base to landing, where both are texts that differ; None for the rest."""
    wanted = {
        number: (change.before, change.after, there)
        for number, (change, there) in enumerate(zip(changes, now, strict=True))
        if there is not None and change.after is not None and _needs_lines(change, there)
    }
    old = {number: before.blob if before else None for number, (before, _, _) in wanted.items()}
    ours = await patches_of(
        repository, [BlobPair(old[number], after.blob) for number, (_, after, _) in wanted.items()]
    )
    theirs = await patches_of(
        repository, [BlobPair(old[number], there.blob) for number, (_, _, there) in wanted.items()]
    )
    empty: Patches = [None] * len(changes)
    found = (list(empty), list(empty))
    for at, number in enumerate(wanted):
        found[0][number], found[1][number] = ours[at], theirs[at]
    return found


def _needs_lines(change: CandidateChange, there: Entry) -> bool:
    sides = [change.before, change.after, there]
    texts = all(side is None or side.mode in _TEXT for side in sides)
    return texts and change.after is not None and change.after.blob != there.blob


async def _record(
    change: Change, command: ForemergeCommand, *, stored: StoredChangeSet, found: Recognised
) -> Outcome:
    changeset = (await kept_changeset(change.connection, command, stored.changeset.id)).changeset
    must_be_landable(changeset.id, changeset.status)
    own = await work_of(change, command.intent_id)
    await name_actor(change, command, changeset.agent_id)
    integration = {
        "method": found.method.value,
        "commit": found.commit,
        "recorded_at": change.now.isoformat(),
    }
    await changesets.land(
        change.connection, changeset.id, commit=found.commit, integration=integration, now=change.now
    )
    change.emit(
        EventType.LIFECYCLE_TRANSITIONED,
        "Intent",
        own.id,
        own.id,
        **{"from": own.status.value},
        to=IntentStatus.COMMITTED.value,
    )
    await committed(change, own, found.commit)
    change.emit(
        EventType.CHANGESET_COMMITTED,
        "ChangeSet",
        changeset.id,
        own.id,
        git_ref=found.commit,
        accepted_commit=changeset.accepted_commit,
        integration_commit=found.commit,
        method=found.method.value,
    )
    answer = (await kept_changeset(change.connection, command, changeset.id)).changeset
    return await finish_foremerge(change, command, answer)
