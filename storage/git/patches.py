"""The patch that a person reads before a merge: what one piece of work changes, seen from its line."""

from protocol.ids import CommitId
from storage.git.content import Text
from storage.git.names import EMPTY_TREE
from storage.git.repository import Repository


async def patch_of_work(repository: Repository, line_head: str | None, head: str, limit: int) -> Text:
    """What `head` changes since it left the line; cut after `limit` bytes. Raises GitFailed for an absent commit."""
    tip = CommitId(head)
    start = await repository.merge_base(CommitId(line_head), tip) if line_head else None
    return await repository.diff(start or EMPTY_TREE, tip, limit)


async def patch_of_landing(repository: Repository, commit: str, limit: int) -> Text:
    """What a merge commit brought to its line: the difference from its first parent. Raises GitFailed likewise."""
    answer = await repository.git("rev-parse", "--verify", "--quiet", f"{CommitId(commit)}^1", accept=(0, 1))
    parent = CommitId(answer.stdout.decode().strip()) if answer.code == 0 else EMPTY_TREE
    return await repository.diff(parent, CommitId(commit), limit)
