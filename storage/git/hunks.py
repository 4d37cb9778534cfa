"""Which lines of which files differ between two commits, read from git's patch without context."""

import asyncio
import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from protocol.ids import CommitId
from storage.git.bare import Bare
from storage.git.names import commit_id

_HUNK = re.compile(rb"@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@")
_INDEX = re.compile(rb"index ([0-9a-f]{40})\.\.([0-9a-f]{40})")


class ChangedLines(NamedTuple):
    """Ranges of lines, counted from 1, both ends inclusive: gone from the old file, and new in the new one.

    Blank lines are left out: they belong to nobody.
    """

    old: list[tuple[int, int]]
    new: list[tuple[int, int]]


async def changed_lines(
    repository: Bare, base: CommitId, head: CommitId, paths: Sequence[str], limit: int
) -> dict[tuple[str, str], ChangedLines]:
    """The changed lines of files that both commits have under these paths, by (old blob, new blob).

    Files are known by their blobs, so that no path has to be read back from the patch. Raises OutputTooLarge
    when the patch is larger than `limit` bytes.
    """
    if not paths:
        return {}
    answer = await repository.git(
        "--literal-pathspecs",
        "diff-tree",
        "-r",
        "-p",
        "--unified=0",
        "--full-index",
        "--no-renames",
        "--no-ext-diff",
        "--no-textconv",
        "--text",
        "--indent-heuristic",
        "--diff-filter=M",
        commit_id(base),
        commit_id(head),
        "--",
        *paths,
        limit=limit,
    )
    return await asyncio.to_thread(_read, answer.stdout)


def _read(patch: bytes) -> dict[tuple[str, str], ChangedLines]:
    found: dict[tuple[str, str], ChangedLines] = {}
    current = ChangedLines([], [])
    lines = iter(patch.split(b"\n"))
    for line in lines:
        if header := _INDEX.match(line):
            current = found.setdefault((header[1].decode(), header[2].decode()), ChangedLines([], []))
            current.old.clear()
            current.new.clear()
        elif hunk := _HUNK.match(line):
            old, old_count, new, new_count = (int(1 if part is None else part) for part in hunk.groups())
            # The counts of the header decide what is content: a line of it may look like a header.
            _take(lines, old, old_count, current.old)
            _take(lines, new, new_count, current.new)
    return found


def _take(lines: Iterator[bytes], start: int, count: int, ranges: list[tuple[int, int]]) -> None:
    number = start
    while number < start + count:
        line = next(lines, None)
        if line is None:
            return
        if line.startswith(b"\\"):  # "no newline at end of file" stands between the two sides
            continue
        if line[1:].strip():
            if ranges and ranges[-1][1] == number - 1:
                ranges[-1] = (ranges[-1][0], number)
            else:
                ranges.append((number, number))
        number += 1
