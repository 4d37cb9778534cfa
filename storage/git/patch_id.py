"""What a piece of work does, as one hash: equal before and after a clean rebase, another when any change differs."""

import hashlib
import re

from protocol.ids import CommitId
from storage.git.names import commit_id
from storage.git.repository import Repository

# A larger patch has no id: whoever approved it is asked again after each push.
LARGEST_PATCH = 32 * 1024 * 1024
_HUNK = re.compile(rb"^@@ [^@]* @@")
# A binary file stands in the patch with its content; a text file's blobs would differ after a rebase.
_NOT_COUNTED = (b"index ",)


async def patch_id(repository: Repository, base: CommitId, head: CommitId) -> str | None:
    """SHA-256 over the patch from `base` to `head` without line numbers and blob ids; None when it is too large.

    Unlike git's own patch id it counts white space, file modes and the content of binary files.
    """
    answer = await repository.git(
        "diff-tree",
        "-r",
        "-p",
        "-M",
        "--binary",
        "--full-index",
        "--no-color",
        "--no-ext-diff",
        "--no-textconv",
        commit_id(base),
        commit_id(head),
        limit=LARGEST_PATCH,
        truncate=True,
    )
    return None if answer.truncated else hashed(answer.stdout)


def hashed(patch: bytes) -> str:
    """The hash of a patch's text."""
    found = hashlib.sha256()
    for line in patch.split(b"\n"):
        if line.startswith(_NOT_COUNTED):
            continue
        found.update(_HUNK.sub(b"@@", line) + b"\n")
    return found.hexdigest()
