"""Where the bytes of a ChangeSet are: pushed to the project's repository, or in a worktree on this host's disk."""

import asyncio
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from protocol.foremerge.validations import ExclusionRules
from protocol.ids import CommitId
from rules.foremerge.fingerprint import (
    Chunks,
    Paths,
    Snapshot,
    UntrackedKind,
    add_untracked,
    begin_content,
    snapshot_of,
    sorted_out,
)
from rules.foremerge.refusing import bad_input
from rules.git_commands import intent_ref
from storage.git.errors import GitFailed, NotAWorktree, StaleRef
from storage.git.names import shown_path
from storage.git.repository import Repository
from storage.git.snapshots import Budget, Found, open_untracked, read_open_edits, status_fields
from storage.git.worktrees import Worktree, borrowing, bound_repository, copy_history, resolve

_KINDS = {
    Found.FILE: UntrackedKind.FILE,
    Found.SYMLINK: UntrackedKind.SYMLINK,
    Found.OTHER: UntrackedKind.OTHER,
}
_NAMES_OF_HEAD = ("HEAD", "@")


class Source(Protocol):
    """One place that holds a ChangeSet. `repository` has its commits and refs, `contents` sees all blobs by our settings."""

    @property
    def repository(self) -> Repository: ...
    @property
    def contents(self) -> Repository: ...
    @property
    def folder(self) -> str | None: ...

    async def branch(self) -> str | None: ...

    async def resolve(self, name: str) -> CommitId | None:
        """The commit that a name means there; `HEAD` is what the worktree, or the push, stands at."""
        ...

    async def snapshot(self, project_id: str, rules: ExclusionRules) -> Snapshot:
        """What is there now."""
        ...

    async def keep(self, commit: CommitId) -> None:
        """Bring the commit to the project's own repository, where that can be."""
        ...

    async def pin(self, ref: str, commit: CommitId) -> None:
        """Make a ref that nobody moves; one that stands at the commit already is as good. Raises StaleRef."""
        ...


@dataclass(frozen=True)
class PushedSource:
    """A candidate that was pushed to the intent's ref: always clean."""

    repository: Repository
    intent_id: str
    folder: str | None = None

    @property
    def contents(self) -> Repository:
        """The repository itself."""
        return self.repository

    async def branch(self) -> str | None:
        """The intent's ref."""
        return intent_ref(self.intent_id)

    async def resolve(self, name: str) -> CommitId | None:
        """`HEAD` is what was pushed last."""
        for head in _NAMES_OF_HEAD:
            rest = name.removeprefix(head)
            if name.startswith(head) and (not rest or rest[0] in "~^"):
                return await resolve(self.repository, intent_ref(self.intent_id) + rest)
        return await resolve(self.repository, name)

    async def snapshot(self, project_id: str, rules: ExclusionRules) -> Snapshot:
        """The commit that was pushed last."""
        head = await self.repository.head(intent_ref(self.intent_id))
        tree = await self.repository.tree_of(head) if head else None
        nothing = Paths((), (), ())
        return snapshot_of(project_id, head, tree, begin_content(()).hexdigest(), nothing, rules)

    async def keep(self, commit: CommitId) -> None:
        """It is there."""

    async def pin(self, ref: str, commit: CommitId) -> None:
        """In the project's repository."""
        await _pin(self.repository, ref, commit)


@dataclass(frozen=True)
class DiskSource:
    """A repository on this host's disk that the project is bound to, seen from one of its worktrees if that is there."""

    repository: Repository
    bare: Repository
    common_dir: Path
    folder: str | None

    @property
    def contents(self) -> Repository:
        """The project's repository with the other one's objects: no setting of that one is read."""
        return self.bare.with_env(borrowing(self.common_dir / "objects"))

    @property
    def _worktree(self) -> Worktree:
        if not isinstance(self.repository, Worktree):
            raise NotAWorktree(f"the worktree {self.folder} is not there any more")
        return self.repository

    async def branch(self) -> str | None:
        """The branch that is checked out."""
        return await self._worktree.branch()

    async def resolve(self, name: str) -> CommitId | None:
        """As the worktree's own git would."""
        return await resolve(self.repository, name)

    async def snapshot(self, project_id: str, rules: ExclusionRules) -> Snapshot:
        """What lies in the worktree."""
        return await snapshot_on_disk(self._worktree, project_id, rules)

    async def keep(self, commit: CommitId) -> None:
        """Copy what the project's repository lacks; a shallow clone cannot give it all, and keeps it to itself."""
        try:
            await copy_history(self.bare, commit, self.common_dir / "objects")
        except GitFailed:
            if not (self.common_dir / "shallow").exists():
                raise

    async def pin(self, ref: str, commit: CommitId) -> None:
        """In the bound repository, and in the project's own where the commit is there."""
        await _pin(self.repository, ref, commit)
        if await self.bare.commit_exists(commit):
            await _pin(self.bare, ref, commit)


async def _pin(repository: Repository, ref: str, commit: CommitId) -> None:
    try:
        await repository.create_ref(ref, commit)
    except StaleRef as there:
        if there.actual != commit:
            raise


async def disk_source(bare: Repository, common_dir: Path, folder: str) -> DiskSource:
    """The worktree that `folder` lies in. Refuses INVALID_INPUT for one that is not of the bound repository."""
    try:
        worktree = await Worktree.open(Path(folder))
    except NotAWorktree as problem:
        raise bad_input(
            f"There is no worktree to read: {problem}.",
            "Give the absolute path of a worktree on the server's host, in worktree.",
        ) from None
    bound = without_links(common_dir)
    if worktree.common_dir != bound:
        raise bad_input(
            f"The worktree {str(worktree.root)[:300]!r} belongs to another repository than the project.",
            "Give a worktree of the repository that the project is bound to.",
        )
    return DiskSource(worktree, bare, bound, str(worktree.root))


def without_links(folder: Path) -> Path:
    """Where a folder really is, as git says it."""
    return folder.resolve()


async def source_again(
    bare: Repository, intent_id: str, common_dir: str | None, worktree: str | None
) -> tuple[Source, bool]:
    """The source of a published ChangeSet, and whether it is there as it was: a worktree may have been removed."""
    if worktree is None:
        return PushedSource(bare, intent_id), True
    bound = without_links(Path(common_dir or "/nonexistent"))
    try:
        found = await Worktree.open(Path(worktree))
    except NotAWorktree:
        return DiskSource(bound_repository(bound), bare, bound, worktree), False
    same = found.common_dir == bound and str(found.root) == worktree
    repository = found if same else bound_repository(bound)
    return DiskSource(repository, bare, bound, worktree), same


async def snapshot_on_disk(worktree: Worktree, project_id: str, rules: ExclusionRules) -> Snapshot:
    """A worktree at this moment. Raises OutputTooLarge when its open edits pass the budget."""
    head = await resolve(worktree, "HEAD")
    tree = await worktree.tree_of(head) if head else None
    paths = sorted_out(await status_fields(worktree), rules)
    budget = Budget()
    hashed = begin_content(())
    if head is not None:
        await read_open_edits(worktree, hashed.update, budget)
    await asyncio.to_thread(_add_untracked, hashed, worktree, paths, budget)
    shown = Paths(_shown(paths.changed), _shown(paths.untracked), _shown(paths.excluded))
    return snapshot_of(project_id, head, tree, hashed.hexdigest(), shown, rules)


def _add_untracked(hashed: Chunks, worktree: Worktree, paths: Paths, budget: Budget) -> None:
    for path in paths.untracked:
        kind, content = open_untracked(worktree, path, budget)
        add_untracked(hashed, path, _KINDS[kind], content)


def _shown(paths: tuple[str, ...]) -> tuple[str, ...]:
    """In the form that JSON and the record can hold."""
    return tuple(sorted(shown_path(path.encode("utf-8", "surrogateescape")) for path in paths))
