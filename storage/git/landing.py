"""Patches of pairs of blobs, for whoever asks whether one commit holds what another one changed."""

import asyncio
import re
from collections.abc import Iterator, Sequence
from tempfile import TemporaryDirectory
from typing import NamedTuple

from storage.git.bare import Bare
from storage.git.names import commit_id
from storage.git.worktrees import borrowing

PATCH_LIMIT = 512 * 1024 * 1024
_FILE = "100644"
_HEADER = re.compile(rb"diff --git a/(\d+) b/(\d+)$")
_HUNK = re.compile(rb"@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@")


class BlobPair(NamedTuple):
    """Two states of one file by their blobs; `old` is None where it was not there before."""

    old: str | None
    new: str


async def patches_of(repository: Bare, pairs: Sequence[BlobPair]) -> list[list[bytes] | None]:
    """For each pair its patch without context, as lines; None where git calls the content binary.

    However many there are, git is started three times: the pairs become two trees outside of the repository.
    Raises OutputTooLarge above 512 MiB.
    """
    if not pairs:
        return []
    with TemporaryDirectory(prefix="gitring-landing-") as folder:
        seen = {**borrowing(repository.path / "objects"), "GIT_OBJECT_DIRECTORY": folder}
        inherited = repository.env.get("GIT_ALTERNATE_OBJECT_DIRECTORIES")
        if inherited:
            seen["GIT_ALTERNATE_OBJECT_DIRECTORIES"] += f":{inherited}"
        aside = Bare(repository.path, {**repository.env, **seen})
        old = await _tree(aside, [pair.old for pair in pairs])
        new = await _tree(aside, [pair.new for pair in pairs])
        answer = await aside.git(
            *("diff-tree", "-r", "-p", "--unified=0", "--full-index", "--no-renames", "--no-color"),
            *("--no-ext-diff", "--no-textconv", old, new),
            limit=PATCH_LIMIT,
            timeout=300.0,
        )
    found: list[list[bytes] | None] = [[] for _ in pairs]
    for number, patch in await asyncio.to_thread(lambda: list(_split(answer.stdout.split(b"\n")))):
        found[number] = patch
    return found


async def _tree(repository: Bare, blobs: Sequence[str | None]) -> str:
    rows = [
        f"{_FILE} blob {commit_id(blob)}\t{number:09}\n"
        for number, blob in enumerate(blobs)
        if blob is not None
    ]
    answer = await repository.git("mktree", stdin="".join(rows).encode())
    return answer.stdout.decode().strip()


def _split(lines: Sequence[bytes]) -> Iterator[tuple[int, list[bytes] | None]]:
    at = 0
    while at < len(lines):
        header = _HEADER.match(lines[at])
        at += 1
        if header is None:
            continue
        start = at
        binary = False
        while at < len(lines) and not _HEADER.match(lines[at]):
            binary = binary or lines[at].startswith(b"Binary files ")
            hunk = _HUNK.match(lines[at])
            at += 1
            if hunk:  # the counts decide what is content: a line of it may look like a header
                at += sum(int(1 if part is None else part) for part in (hunk[2], hunk[4]))
        yield int(header[1]), None if binary else list(lines[start:at])
