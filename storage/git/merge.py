"""Merge work onto a line without a working tree: one member, or a queue of members one on top of the other.

Nothing here moves a ref. The caller gives every date, so a repeat after a crash makes the same commits again.
"""

import re
from collections.abc import Iterator, Sequence
from typing import Literal

from pydantic import BaseModel, ConfigDict

from protocol.ids import CommitId
from storage.git.commits import CommitWriter, Signature, commit_writer
from storage.git.errors import GitFailed
from storage.git.history import History
from storage.git.names import commit_id, shown_path

_MOST_PATHS = 1_000
_MOST_MESSAGES = 50
_LONGEST_MESSAGE = 500


class Member(BaseModel):
    """One piece of work to merge, with everything its merge commit will say."""

    model_config = ConfigDict(frozen=True)

    work: CommitId
    message: str
    author: Signature
    committer: Signature


class Merged(BaseModel):
    """The work is in `commit`, whose parents are the head it was merged onto and the work."""

    model_config = ConfigDict(frozen=True)

    kind: Literal["merged"] = "merged"
    commit: CommitId
    tree: str


class Conflicted(BaseModel):
    """The work does not merge. `paths` are the files in conflict; `messages` are git's words, cut to a bound.

    Histories without a common commit answer with no path and one message.
    """

    model_config = ConfigDict(frozen=True)

    kind: Literal["conflicted"] = "conflicted"
    paths: tuple[str, ...]
    messages: tuple[str, ...]


class AlreadyThere(BaseModel):
    """Nothing to merge: `commit`, the head it would be merged onto, contains the work."""

    model_config = ConfigDict(frozen=True)

    kind: Literal["already_there"] = "already_there"
    commit: CommitId


Outcome = Merged | Conflicted | AlreadyThere


class Chain(BaseModel):
    """A queue merged in order: `head` holds every member that merged; `outcomes` has one entry per member."""

    model_config = ConfigDict(frozen=True)

    head: CommitId
    outcomes: tuple[Outcome, ...]


async def merge_commit(repo: History, onto: CommitId, member: Member) -> Outcome:
    """Merge one member onto `onto`. Raises GitFailed when a commit is missing."""
    return (await merge_chain(repo, onto, [member])).outcomes[0]


async def merge_chain(repo: History, onto: CommitId, members: Sequence[Member]) -> Chain:
    """Merge the members one after the other on top of `onto`, leaving out each that conflicts with those before it.

    One short git process a member (git's merge of a batch answers only at its end) and one for all commits.
    Raises GitFailed when a commit is missing.
    """
    head, tree = commit_id(onto), await repo.tree_of(onto)
    outcomes = []
    async with commit_writer(repo) as writer:
        for member in members:
            outcome = await _merge(repo, writer, head, tree, member)
            if isinstance(outcome, Merged):
                head, tree = outcome.commit, outcome.tree
            outcomes.append(outcome)
    return Chain(head=head, outcomes=tuple(outcomes))


async def _merge(repo: History, writer: CommitWriter, head: CommitId, tree: str, member: Member) -> Outcome:
    try:
        answer = await repo.git(
            "merge-tree", "--write-tree", "-z", "--name-only", head, commit_id(member.work), accept=(0, 1)
        )
    except GitFailed:
        if await repo.merge_base(head, member.work) is None:
            return Conflicted(paths=(), messages=("The work shares no commit with the line it would join.",))
        raise
    if answer.code == 1:
        if not answer.stdout:  # git's way of saying that it knows no such commit
            raise GitFailed(("merge-tree", head, member.work), answer.code, answer.stderr)
        return _conflicted(answer.stdout, (head, member.work))
    merged_tree = answer.stdout.rstrip(b"\0").decode()
    # Contained work changes nothing, so the costlier question is asked only when nothing changed.
    if merged_tree == tree and await repo.is_ancestor(member.work, head):
        return AlreadyThere(commit=head)
    commit = await writer.write(
        merged_tree, [head, member.work], member.author, member.committer, member.message
    )
    return Merged(commit=commit, tree=merged_tree)


def _conflicted(raw: bytes, sides: Sequence[CommitId]) -> Conflicted:
    """Read `tree NUL (path NUL)* NUL (count NUL path… type NUL message NUL)*`, after which git may give advice."""
    fields = iter(raw.split(b"\0")[1:])
    paths = list(iter(lambda: next(fields), b""))
    reasons = list(_reasons(fields))
    # Where git cannot tell into which folder a file belongs, no file conflicts; its message alone names the folder.
    paths = paths or [path for named, _ in reasons for path in named]
    shown = dict.fromkeys(_own_name(shown_path(path), sides) for path in paths)
    messages = [text.decode("utf-8", "replace").strip()[:_LONGEST_MESSAGE] for _, text in reasons]
    return Conflicted(paths=tuple(shown)[:_MOST_PATHS], messages=tuple(messages[:_MOST_MESSAGES]))


def _own_name(path: str, sides: Sequence[CommitId]) -> str:
    """A file that a folder of the other side displaces is called `path~commit` by git; nobody knows it as that."""
    return re.sub(rf"~(?:{'|'.join(sides)})(?:_\d+)?$", "", path)


def _reasons(fields: Iterator[bytes]) -> Iterator[tuple[list[bytes], bytes]]:
    """Each conflict's message, with the paths it is about."""
    for count in fields:
        if not count.isdigit():  # the end, or the advice that git prints below a conflict of submodules
            return
        paths = [next(fields) for _ in range(int(count))]
        kind, text = next(fields), next(fields)
        if kind.startswith(b"CONFLICT"):
            yield paths, text
