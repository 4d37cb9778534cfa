"""What a check's result hangs on in a tree: a digest over the part of it that the check reads."""

import asyncio
import hashlib
from collections.abc import Callable, Sequence

from storage.git.bare import Bare
from storage.git.names import commit_id, shown_path


async def inputs_digest(repo: Bare, tree: str, below: Sequence[str], reads: Callable[[str], bool]) -> str:
    """SHA-256 over mode, object and path of each file of `tree` that `reads` names, in git's order.

    `below` are the files and folders, without closing slashes, that can hold such files; '' stands for the whole tree.
    Raises GitFailed when the tree is missing.
    """
    narrow = [] if "" in below else sorted(set(below))
    answer = await repo.git(
        *("--literal-pathspecs", "ls-tree", "-r", "-z", "--full-tree", "--", commit_id(tree), *narrow)
    )
    # Tens of thousands of files take a tenth of a second, in which the loop shall serve others.
    return await asyncio.to_thread(_digest, answer.stdout, reads)


def _digest(raw: bytes, reads: Callable[[str], bool]) -> str:
    kept = hashlib.sha256()
    for row in raw.split(b"\0"):
        if row and reads(shown_path(row.partition(b"\t")[2])):
            kept.update(row + b"\0")
    return kept.hexdigest()
