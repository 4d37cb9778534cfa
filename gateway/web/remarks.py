"""People's comments and agents' suggestions, each at its lines inside the patch that the page shows.

A comment speaks of the lines of one commit. Where the work has moved on, its lines are followed to where they stand
now; what cannot be followed is shown at its file's head, in words, and what has no file left above all files.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from hashlib import sha256
from typing import NamedTuple

from gateway.web.diffs import Patch, PatchFile, read_patch
from protocol.ids import short
from protocol.records import RequestRow
from storage.sql.pages import ClosedRequest

_PLACE = re.compile(r"(?P<path>.+) lines (?P<first>\d{1,8})-(?P<last>\d{1,8})", re.DOTALL)
_KINDS = ("review", "suggestion")


class Spot(NamedTuple):
    """What a comment speaks of: a file, and lines of it where it names some."""

    path: str
    first: int | None = None
    last: int | None = None


class Remark(NamedTuple):
    """One comment as it is shown; `where` says in words what its position on the page does not."""

    id: str
    sender: str
    by_agent: bool
    at: datetime
    text: str
    blocking: bool
    closed: str | None
    where: str


class Remarks(NamedTuple):
    """All of them: under lines (by file and index of line), at the heads of files, and without a file."""

    below: dict[tuple[str, int], list[Remark]]
    heads: dict[str, list[Remark]]
    elsewhere: list[Remark]
    picked: frozenset[tuple[str, int]]

    def count(self, path: str) -> int:
        """How many a file has."""
        under = sum(len(found) for (owner, _), found in self.below.items() if owner == path)
        return under + len(self.heads.get(path, ()))


class Said(NamedTuple):
    """A change request that names a place, and how it was closed, if it was."""

    row: RequestRow
    spot: Spot
    closed: str | None


def said_at_places(opened: Iterable[RequestRow], closed: Iterable[ClosedRequest]) -> list[Said]:
    """Comments and suggestions that name a file, the oldest first."""
    rows = [*((row, None) for row in opened), *((row, row.closed_how or "closed") for row in closed)]
    found = [Said(row, spot_of(row.place), how) for row, how in rows if row.place and row.kind in _KINDS]
    return sorted(found, key=lambda said: (said.row.created_at, said.row.id))


def spot_of(place: str) -> Spot:
    """`src/cart.ts lines 10-14`, taken apart."""
    found = _PLACE.fullmatch(place)
    return Spot(found["path"], int(found["first"]), int(found["last"])) if found else Spot(place)


def digest_of(said: Sequence[Said]) -> str:
    """Changes when a comment comes or is closed; a page that has this digest has all of them."""
    return sha256("\n".join(f"{one.row.id} {one.closed}" for one in said).encode()).hexdigest()[:8]


def place_all(patch: Patch, said: Iterable[Said], moves: Mapping[str, Patch | None], shown: str) -> Remarks:
    """Each comment where it belongs; `moves` holds, by commit, the difference from there to `shown`."""
    files = {file.path: file for file in patch.files} | {
        file.old_path: file for file in patch.files if file.old_path is not None
    }
    made = Remarks({}, {}, [], frozenset())
    picked: set[tuple[str, int]] = set()
    for one in said:
        file = files.get(one.spot.path)
        if file is None:
            made.elsewhere.append(_remark(one, _gone_file(one)))
            continue
        lines, words = _lines_now(one, moves, shown)
        at = (
            {line.new: index for index, line in enumerate(file.lines) if line.new is not None}
            if lines
            else {}
        )
        if lines and lines[1] in at:
            made.below.setdefault((file.path, at[lines[1]]), []).append(_remark(one, words))
            picked.update((file.path, number) for number in range(lines[0], lines[1] + 1) if number in at)
        else:
            made.heads.setdefault(file.path, []).append(
                _remark(one, _unseen(lines, file) if lines else words)
            )
    return made._replace(picked=frozenset(picked))


def _remark(one: Said, where: str) -> Remark:
    row = one.row
    agent = row.from_kind == "agent"
    return Remark(row.id, row.from_name, agent, row.created_at, row.reason, row.blocking, one.closed, where)


def _gone_file(one: Said) -> str:
    lines = "" if one.spot.first is None else f", {_words(one.spot.first, one.spot.last)}"
    return f"About {one.spot.path}{lines}. That file is not among what the intent changes now."


def _unseen(lines: tuple[int, int], file: PatchFile) -> str:
    why = "beyond what is shown here" if file.cut else "which this difference does not touch"
    return f"About {_words(*lines)}, {why}."


def _lines_now(
    one: Said, moves: Mapping[str, Patch | None], shown: str
) -> tuple[tuple[int, int] | None, str]:
    """Where the lines of a comment stand now; without them, the sentence that says why there are none."""
    first, last, head = one.spot.first, one.spot.last, one.row.head
    if first is None or last is None:
        return None, ""
    then = f"{_words(first, last)} of {short(head)}" if head else _words(first, last)
    if head == shown:
        return (first, last), ""
    moved = moves.get(head) if head else None
    if moved is None:
        return None, f"Was about {then}; where that is now cannot be told."
    now = follow(moved, one.spot.path, first, last)
    if now is None:
        return None, f"Was about {then}, changed since."
    return now, "" if now == (first, last) else f"Was about {then}, which became these."


def follow(moved: Patch, path: str, first: int, last: int) -> tuple[int, int] | None:
    """Lines of the old side on the new side; None when one of them was touched. `moved` holds no context lines."""
    file = next((file for file in moved.files if file.path == path), None)
    if file is None:
        return (first, last)
    shift, at_old = 0, 0
    for line in file.lines:
        if line.kind == "hunk":
            at_old = _start(line.text)
        elif line.kind == "del" and line.old is not None:
            at_old = line.old
            if line.old > last:
                break
            if line.old >= first:
                return None
            shift -= 1
        elif line.kind == "add":
            # Lines that were put in stand behind `at_old`: inside the range they tear it apart.
            if at_old >= last:
                break
            if at_old >= first:
                return None
            shift += 1
    return (first + shift, last + shift)


def _start(heading: str) -> int:
    """The old line behind which a hunk begins."""
    number, _, count = heading.removeprefix("@@ -").split(" ")[0].partition(",")
    return int(number) if count == "0" else int(number) - 1


def _words(first: int, last: int | None) -> str:
    return f"line {first}" if last in (None, first) else f"lines {first}–{last}"


def heads_to_follow(said: Iterable[Said], shown: str) -> dict[str, list[str]]:
    """The commits whose comments have to be followed to `shown`, each with the paths that they speak of."""
    found: dict[str, set[str]] = {}
    for one in said:
        if one.row.head and one.row.head != shown and one.spot.first is not None:
            found.setdefault(one.row.head, set()).add(one.spot.path)
    return {head: sorted(paths) for head, paths in found.items()}


def read_moves(text: str, truncated: bool) -> Patch | None:
    """What `bare_patch` said; None when it was cut, since lines could not be followed through the rest."""
    patch = read_patch(text, truncated)
    return None if patch.cut else patch
