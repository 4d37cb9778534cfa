"""The patch that a person reads before a merge: what one piece of work changes, seen from its line."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from protocol.ids import CommitId
from storage.git.content import Text
from storage.git.names import EMPTY_TREE, commit_id, shown_path
from storage.git.repository import Repository


class Ends(NamedTuple):
    """The two sides of a difference; `old` may be the empty tree."""

    old: CommitId
    new: CommitId


class FileSize(NamedTuple):
    """How many lines of a file a difference adds and removes; None for a binary file."""

    path: str
    added: int | None
    removed: int | None


async def ends_of_work(repository: Repository, line_head: str | None, head: str) -> Ends:
    """From where `head` left the line to `head`. Raises GitFailed for an absent commit."""
    tip = CommitId(head)
    start = await repository.merge_base(CommitId(line_head), tip) if line_head else None
    return Ends(start or EMPTY_TREE, tip)


async def ends_of_landing(repository: Repository, commit: str) -> Ends:
    """From a merge commit's first parent to the merge commit: what it brought to its line."""
    answer = await repository.git("rev-parse", "--verify", "--quiet", f"{CommitId(commit)}^1", accept=(0, 1))
    parent = CommitId(answer.stdout.decode().strip()) if answer.code == 0 else EMPTY_TREE
    return Ends(parent, CommitId(commit))


async def sizes(repository: Repository, ends: Ends) -> list[FileSize]:
    """Every file of a difference with its counts, however long the patch is; renames under their new name."""
    answer = await repository.git(
        "diff-tree", "-r", "-z", "--numstat", "-M", commit_id(ends.old), commit_id(ends.new)
    )
    return list(_sizes(answer.stdout))


def _sizes(raw: bytes) -> Iterator[FileSize]:
    fields = iter(raw.split(b"\0"))
    for field in fields:
        if not field:
            return
        added, removed, path = field.split(b"\t", 2)
        if not path:  # a rename: its two names follow
            next(fields)
            path = next(fields)
        yield FileSize(shown_path(path), _count(added), _count(removed))


def _count(raw: bytes) -> int | None:
    return None if raw == b"-" else int(raw)


async def bare_patch(repository: Repository, ends: Ends, paths: Sequence[str], limit: int) -> Text:
    """How these paths differ, without a line of context and without renames: enough to follow lines from old to new."""
    answer = await repository.git(
        "diff-tree", "-r", "-p", "-U0", "--no-renames", commit_id(ends.old), commit_id(ends.new), "--",
        *(f":(top,literal){path}" for path in paths),
        limit=limit,
        truncate=True,
    )  # fmt: skip
    return Text(text=answer.stdout.decode("utf-8", "replace"), truncated=answer.truncated)
