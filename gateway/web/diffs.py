"""A patch as a page shows it: files, hunks, numbered lines. All of it is other people's text.

Inside a hunk the counts of its heading decide what a line is, so no line of a file can pass for a heading.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

MOST_BYTES = 400_000
MOST_LINES = 6_000
LINE_CHARS = 400
OPEN_LINES = 400

_FILE = re.compile(r"diff --git (?:\"?a/)(?P<path>.*)")
_HUNK = re.compile(r"@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@ ?(.*)")
_NOTES = (
    ("new file mode", "new"),
    ("deleted file mode", "deleted"),
    ("rename from", "renamed"),
    ("Binary files", "binary"),
    ("old mode", "mode changed"),
)
_SIGNS = {"+": "add", "-": "del", " ": "same", "\\": "note"}


class PatchLine(NamedTuple):
    """One line: its kind (`add`, `del`, `same`, `hunk`, `note`), its numbers in the old and the new file, its text."""

    kind: str
    old: int | None
    new: int | None
    text: str


@dataclass
class PatchFile:
    """One file of a patch."""

    path: str
    notes: list[str] = field(default_factory=list)
    old_path: str | None = None
    lines: list[PatchLine] = field(default_factory=list)
    added: int = 0
    removed: int = 0

    @property
    def open(self) -> bool:
        """Whether the page shows its lines before anybody asks."""
        return len(self.lines) <= OPEN_LINES


class Patch(NamedTuple):
    """A whole patch; `cut` when there is more than is shown."""

    files: list[PatchFile]
    added: int
    removed: int
    cut: bool


def read_patch(text: str, truncated: bool) -> Patch:
    """What git's patch says, at most 6,000 lines of it."""
    rows = text.split("\n")
    files = list(_files(iter(rows[:MOST_LINES])))
    return Patch(
        files,
        sum(file.added for file in files),
        sum(file.removed for file in files),
        truncated or len(rows) > MOST_LINES,
    )


def _files(rows: Iterator[str]) -> Iterator[PatchFile]:
    current: PatchFile | None = None
    for row in rows:
        if found := _FILE.match(row):
            if current is not None:
                yield current
            current = PatchFile(_path(found["path"]))
        elif current is not None:
            if hunk := _HUNK.match(row):
                _read_hunk(current, hunk, rows)
            else:
                _read_heading(current, row)
    if current is not None:
        yield current


def _path(rest: str) -> str:
    """The path of `a/PATH b/PATH`; both halves are the same unless the file was renamed, which is told later."""
    half = (len(rest) - len(" b/")) // 2
    same = rest[:half]
    return same if rest == f"{same} b/{same}" else rest.rpartition(" b/")[2].rstrip('"') or rest


def _read_heading(file: PatchFile, row: str) -> None:
    for beginning, note in _NOTES:
        if row.startswith(beginning) and note not in file.notes:
            file.notes.append(note)
    if row.startswith("rename from "):
        file.old_path = row.removeprefix("rename from ")
    elif row.startswith("rename to "):
        file.path = row.removeprefix("rename to ")


def _read_hunk(file: PatchFile, hunk: re.Match[str], rows: Iterator[str]) -> None:
    old, new = int(hunk[1]), int(hunk[3])
    left_old = int(hunk[2] or 1)
    left_new = int(hunk[4] or 1)
    file.lines.append(PatchLine("hunk", None, None, _shown(hunk[0])))
    while left_old > 0 or left_new > 0:
        row = next(rows, None)
        if row is None:
            return
        kind = _SIGNS.get(row[:1], "same")
        in_old, in_new = kind in ("del", "same"), kind in ("add", "same")
        file.lines.append(PatchLine(kind, old if in_old else None, new if in_new else None, _shown(row[1:])))
        file.added += kind == "add"
        file.removed += kind == "del"
        old, new = old + in_old, new + in_new
        left_old, left_new = left_old - in_old, left_new - in_new


def _shown(text: str) -> str:
    wide = text.rstrip("\r").expandtabs(4)
    return wide if len(wide) <= LINE_CHARS else wide[: LINE_CHARS - 1] + "…"
