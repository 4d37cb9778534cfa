"""What a ChangeSet is, as Git says it: its snapshot, candidate, base, difference, files and symbols."""

from dataclasses import dataclass
from typing import Any

from activities.foremerge.kept import within
from activities.foremerge.sources import PushedSource, Source
from protocol.foremerge.changesets import PublishChangeSetInput
from protocol.foremerge.validations import ExclusionRules
from protocol.ids import CommitId
from rules.foremerge.bases import Base, DiffFrom, base_of
from rules.foremerge.fingerprint import Snapshot, begin_content
from rules.foremerge.inference import symbols_of
from rules.foremerge.refusing import bad_input
from rules.git_commands import intent_ref
from storage.git.changed import MOST_PATHS, paths_of
from storage.git.names import EMPTY_TREE
from storage.git.snapshots import bare_patch_of, read_difference
from storage.git.worktrees import parents_of

MOST_TEXT = 400_000
"""Characters of inferred paths that a ChangeSet names; more would not fit into one answer."""
SYMBOL_LIMIT = 4 * 1024 * 1024


@dataclass(frozen=True)
class Candidate:
    """What is published; `commit` is None before a first commit."""

    snapshot: Snapshot
    commit: str | None
    base: Base
    diff_hash: str
    files: list[str]
    symbols: list[str]
    inference: dict[str, Any]
    branch: str | None


async def read_candidate(
    source: Source, project_id: str, given: PublishChangeSetInput, rules: ExclusionRules
) -> Candidate:
    """Read it from its source. Refuses what names no commit; raises GitError."""
    snapshot = await source.snapshot(project_id, rules)
    if isinstance(source, PushedSource) and snapshot.head is None:
        raise bad_input(
            f"Nothing was pushed for intent {source.intent_id}, so there is no ChangeSet to publish.",
            f"Push your commit to the project's repository: git push <remote> HEAD:{intent_ref(source.intent_id)}.",
        )
    commit = snapshot.head
    if given.git_ref is not None:
        commit = await _named(source, given.git_ref, "git_ref")
    base = await _base(source, commit, given.base_ref)
    start = _start(base)
    symbols, inference = await _symbols(source, given, start, commit)
    return Candidate(
        snapshot,
        commit,
        base,
        await _diff_hash(source, start, commit) or snapshot.content_hash,
        given.files or await _files(source, snapshot, start, commit),
        symbols,
        inference,
        await source.branch(),
    )


async def _named(source: Source, name: str, field: str) -> CommitId:
    found = await source.resolve(name)
    if found is None:
        where = "what was pushed" if source.folder is None else "the worktree's repository"
        raise bad_input(
            f"{field} {name[:100]!r} names no commit of {where}.",
            "Name a commit, a branch or a tag that is there.",
        )
    return found


async def _base(source: Source, commit: str | None, given: str | None) -> Base:
    if commit is None:
        return base_of(None, given, (), False)
    named = await _named(source, given, "base_ref") if given is not None else None
    parents, at_boundary = await parents_of(source.repository, CommitId(commit))
    return base_of(commit, named, parents, at_boundary)


def _start(base: Base) -> CommitId | None:
    """What the candidate is compared with; None where nothing can be."""
    match base.diff_from:
        case DiffFrom.BASE:
            return CommitId(str(base.commit))
        case DiffFrom.EMPTY_TREE:
            return EMPTY_TREE
        case DiffFrom.SNAPSHOT:
            return None


async def _diff_hash(source: Source, start: CommitId | None, commit: str | None) -> str | None:
    if start is None or commit is None:
        return None
    hashed = begin_content(())
    await read_difference(source.repository, start, CommitId(commit), hashed.update)
    return hashed.hexdigest()


async def _files(source: Source, snapshot: Snapshot, start: CommitId | None, commit: str | None) -> list[str]:
    committed: list[str] = []
    if start is not None and commit is not None:
        committed = paths_of(await source.repository.changed_paths(start, CommitId(commit)))
    return within(sorted({*committed, *snapshot.changed})[:MOST_PATHS], MOST_TEXT)


async def _symbols(
    source: Source, given: PublishChangeSetInput, start: CommitId | None, commit: str | None
) -> tuple[list[str], dict[str, Any]]:
    if given.symbols:
        return given.symbols, {"source": "caller", "truncated": False}
    begin = start or (CommitId(commit) if commit else None)
    if begin is None:
        return [], {"source": "git_diff", "truncated": False, "captured_bytes": 0}
    # A worktree is read as it lies there, with its open edits.
    to = CommitId(str(commit)) if source.folder is None else None
    patch, cut = await bare_patch_of(source.repository, begin, to, SYMBOL_LIMIT)
    said = {"source": "git_diff", "truncated": cut, "captured_bytes": len(patch)}
    return symbols_of(patch.split(b"\n")), said
