"""Validate a ChangeSet: a named check on exactly what was published, and what the run means for the ChangeSet."""

import asyncio
from functools import partial
from pathlib import Path
from weakref import WeakValueDictionary

from temporalio import activity

from activities.check_slots import Slots
from activities.checks import heartbeats
from activities.exactly_once import once
from activities.folders import Folders
from activities.foremerge.attempts import Asked, Done, record_attempt
from activities.foremerge.kept import (
    earlier,
    exclusions_of,
    is_there,
    kept_changeset,
    published,
    told,
    vanished,
)
from activities.foremerge.runs import run_in_checkout, run_in_worktree
from activities.foremerge.sources import DiskSource, Source, snapshot_on_disk, source_again
from activities.runner.users import RunUsers
from activities.store import Store
from protocol.commands import Outcome
from protocol.foremerge.commands import ForemergeCommand
from protocol.foremerge.validations import (
    ExclusionRules,
    RunVerificationInput,
)
from protocol.ids import CommitId, new_id
from rules.check_plan import definitions_of
from rules.foremerge.fingerprint import Snapshot
from rules.foremerge.lifecycle import must_be_validatable
from rules.foremerge.refusing import missing
from rules.foremerge.verification import must_run
from storage.git.checkout import checkout_tree, remove
from storage.git.errors import GitError
from storage.git.worktrees import Worktree
from storage.sql import projects
from storage.sql.foremerge import agents
from storage.sql.pool import transaction


class ForemergeValidations:
    """Validations on one host. `slots` are those of its other checks; `user` is the account that checks run as."""

    def __init__(self, store: Store, folders: Folders, slots: Slots, user: str | None = None) -> None:
        self._store = store
        self._folders = folders
        self._slots = slots
        self._users = RunUsers(user)
        self._worktrees: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()

    @activity.defn(name="foremerge_validate")
    async def validate(self, command: ForemergeCommand) -> Outcome:
        """`run_verification`."""
        async with heartbeats():
            return await told(self._validate(command))

    async def _validate(self, command: ForemergeCommand) -> Outcome:
        if known := await earlier(self._store.pool, command):
            return known
        asked = await self._asked(command)
        # Two runs in one worktree would take each other's output for changes.
        own = self._worktrees.setdefault(asked.stored.worktree or asked.id, asyncio.Lock())
        async with own, self._slots.taken(asked.definition.slots):
            done = await self._run(command, asked)
        return await once(self._store, command, partial(record_attempt, asked=asked, done=done))

    async def _asked(self, command: ForemergeCommand) -> Asked:
        given = RunVerificationInput.model_validate(command.given)
        async with transaction(self._store.pool, readonly=True) as connection:
            stored = await kept_changeset(connection, command, given.changeset_id)
            project = await projects.find(connection, command.project_id)
            common_dir = await agents.bound_folder(connection, command.project_id)
        if project is None:
            raise LookupError(f"project {command.project_id} is not in the record")
        must_be_validatable(stored.changeset.id, stored.changeset.status)
        named = {definition.name: definition for definition in definitions_of(project.settings)}
        definition = command.definition or named.get(given.check)
        if definition is None:
            raise missing(
                f"check {given.check}",
                f"Use one of: {', '.join(named)}." if named else "Ask the operator to register one.",
            )
        return Asked(new_id("val"), stored, definition, exclusions_of(project.settings), common_dir)

    async def _run(self, command: ForemergeCommand, asked: Asked) -> Done:
        bare = self._folders.repository(command.project_id)
        source, as_it_was = await source_again(
            bare, command.intent_id, asked.common_dir, asked.stored.worktree
        )
        changeset = asked.stored.changeset
        if not as_it_was and not is_there(asked.stored.worktree):
            raise vanished(asked.stored)
        at_root = as_it_was
        now = await source.snapshot(command.project_id, asked.rules) if at_root else published(asked.stored)
        must_run(changeset.id, changeset.status, at_root, published(asked.stored), now)
        scratch = self._folders.scratch(asked.id)
        await remove(scratch)
        scratch.mkdir(parents=True)
        try:
            return await self._run_there(command, asked, source, now, scratch)
        finally:
            await remove(scratch)

    async def _run_there(
        self, command: ForemergeCommand, asked: Asked, source: Source, now: Snapshot, scratch: Path
    ) -> Done:
        if isinstance(source, DiskSource):
            root = Path(str(source.folder))
            ran = await run_in_worktree(asked.definition, root, scratch / "log")
        else:
            root = scratch / "tree"
            await checkout_tree(source.repository, CommitId(str(now.head)), root)
            with self._users.one() as user:
                ran = await run_in_checkout(asked.definition, root, scratch, user)
        own = source.common_dir if isinstance(source, DiskSource) else root / ".git"
        return Done(ran, await _after(root, own, command.project_id, asked.rules))


async def _after(root: Path, own: Path, project_id: str, rules: ExclusionRules) -> Snapshot | None:
    """What lies there after the run; None when the run took its own ground away, or put another repository there."""
    try:
        worktree = await Worktree.open(root)
        there = (worktree.root, worktree.common_dir) == _without_links(root, own)
        return await snapshot_on_disk(worktree, project_id, rules) if there else None
    except (GitError, OSError):
        return None


def _without_links(root: Path, own: Path) -> tuple[Path, Path]:
    """The root itself may be reached by a link; the `.git` of a checkout may not be one."""
    real = root.resolve()
    return real, real / ".git" if own == root / ".git" else own
