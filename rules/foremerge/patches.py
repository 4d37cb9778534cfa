"""Patches without context, and whether one holds what another one does. Lines are bytes: nobody's text is interpreted."""

import re
from bisect import bisect_right
from collections.abc import Sequence
from typing import NamedTuple

_HUNK = re.compile(rb"@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@")
_MARK = b"\\"
_UNENDED = b"\0no newline"


class Edit(NamedTuple):
    """Lines `start` to `end` of the base (from 0, `end` not included) are replaced by `added`.

    A line that ends its file without a newline carries a mark, so that it differs from the same line with one.
    """

    start: int
    end: int
    added: tuple[bytes, ...]


def edits(patch: Sequence[bytes]) -> list[Edit]:
    """The edits of one file's patch (`git diff --unified=0`), given as lines, in the order of the base."""
    found: list[Edit] = []
    at = 0
    while at < len(patch):
        hunk = _HUNK.match(patch[at])
        at += 1
        if hunk is None:
            continue
        start, old, _, new = (int(1 if part is None else part) for part in hunk.groups())
        # The counts decide what is content: a line of it may look like a header.
        at, _ = _take(patch, at, old)
        at, added = _take(patch, at, new)
        # Git counts an insertion from the line before it.
        first = start if old == 0 else start - 1
        found.append(Edit(first, first + old, added))
    return found


def _take(patch: Sequence[bytes], at: int, count: int) -> tuple[int, tuple[bytes, ...]]:
    """`count` lines of content from `at`, without their sign, and where the next one stands."""
    lines = [line[1:] for line in patch[at : at + count]]
    at += len(lines)
    if at < len(patch) and patch[at].startswith(_MARK):
        if lines:
            lines[-1] += _UNENDED
        at += 1
    return at, tuple(lines)


def first_missing(wanted: Sequence[Edit], made: Sequence[Edit]) -> Edit | None:
    """The first edit of `wanted` that `made` does not hold; both start from the same file, in its order.

    An edit is held when every line that it removes was removed, and its new lines stand together, in order, in what
    was put there: the other side may have changed more around it.
    """
    starts = [other.start for other in made]
    used = [0] * len(made)
    for edit in wanted:
        last = bisect_right(starts, edit.start)
        # An insertion may also stand at the end of the edit before.
        if not any(_holds(made[n], edit, n, used) for n in range(max(last - 2, 0), last)):
            return edit
    return None


def _holds(other: Edit, edit: Edit, number: int, used: list[int]) -> bool:
    """Whether `other` holds `edit`; the lines in which it does are then used up."""
    if other.end < edit.end:
        return False
    end = _end_of_run(edit.added, other.added, used[number])
    if end is not None:
        used[number] = end
    return end is not None


def _end_of_run(run: Sequence[bytes], lines: Sequence[bytes], start: int) -> int | None:
    """Where `run` first ends in `lines` from `start` on; None when it does not stand there all together.

    Knuth, Morris and Pratt: a patch of many equal lines must not cost the square of its length.
    """
    if not run:
        return start
    back = _fall_backs(run)
    matched = 0
    for at in range(start, len(lines)):
        while matched and lines[at] != run[matched]:
            matched = back[matched - 1]
        if lines[at] == run[matched]:
            matched += 1
        if matched == len(run):
            return at + 1
    return None


def _fall_backs(run: Sequence[bytes]) -> list[int]:
    """For each line of `run`, how much of its beginning also ends there."""
    back = [0] * len(run)
    matched = 0
    for at in range(1, len(run)):
        while matched and run[at] != run[matched]:
            matched = back[matched - 1]
        if run[at] == run[matched]:
            matched += 1
        back[at] = matched
    return back
