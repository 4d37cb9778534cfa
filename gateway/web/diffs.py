"""A patch as a page shows it: files, hunks, numbered lines. All of it is other people's text.

Inside a hunk the counts of its heading decide what a line is, so no line of a file can pass for a heading.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

from gateway.text.untrusted import one_line
from storage.git.names import shown_path

MOST_BYTES = 400_000
MOST_LINES = 6_000
LINE_CHARS = 400
OPEN_LINES = 400
OPEN_IN_ALL = 2_000

_FILE = "diff --git "
_HUNK = re.compile(r"@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@ ?(.*)")
_QUOTED = re.compile(r'"((?:[^"\\]|\\.)*)"')
_ESCAPE = re.compile(rb"\\([0-7]{3}|.)")
_ESCAPED = {b"a": b"\a", b"b": b"\b", b"t": b"\t", b"n": b"\n", b"v": b"\v", b"f": b"\f", b"r": b"\r"}
_SIGNS = {"+": "add", "-": "del", " ": "same", "\\": "note"}
# Git's modes, in words; a plain file needs none.
_KINDS = {"100755": "executable", "120000": "symbolic link", "160000": "submodule"}
_CHANGED = {"120000": "symbolic link points elsewhere", "160000": "submodule moved to another commit"}


class PatchLine(NamedTuple):
    """One line: its kind (`add`, `del`, `same`, `hunk`, `note`), its numbers in the old and the new file, its text."""

    kind: str
    old: int | None
    new: int | None
    text: str


@dataclass
class PatchFile:
    """One file of a patch; `notes` say in words what its lines do not, `cut` that its last lines are missing.

    `open` tells whether a page shows its lines before anybody asks.
    """

    path: str
    notes: list[str] = field(default_factory=list)
    old_path: str | None = None
    old_mode: str = ""
    same: bool = False
    lines: list[PatchLine] = field(default_factory=list)
    added: int = 0
    removed: int = 0
    cut: bool = False
    open: bool = True

    def note(self, words: str) -> None:
        """Add a word about the file, once."""
        if words not in self.notes:
            self.notes.append(words)


class Patch(NamedTuple):
    """A whole patch; `cut` when there is more than is shown."""

    files: list[PatchFile]
    added: int
    removed: int
    cut: bool


def read_patch(text: str, truncated: bool) -> Patch:
    """What git's patch says, at most 6,000 lines of it."""
    rows = text.split("\n")
    cut = truncated or len(rows) > MOST_LINES
    if truncated and rows:
        rows.pop()  # half a line
    files = list(_files(iter(rows[:MOST_LINES])))
    shown = 0
    for file in files:
        _ends_of_lines(file)
        file.open = len(file.lines) <= OPEN_LINES and shown + len(file.lines) <= OPEN_IN_ALL
        shown += len(file.lines) if file.open else 0
    if cut and files:
        files[-1].cut = True
    return Patch(files, sum(file.added for file in files), sum(file.removed for file in files), cut)


def _files(rows: Iterator[str]) -> Iterator[PatchFile]:
    current: PatchFile | None = None
    for row in rows:
        if row.startswith(_FILE):
            if current is not None:
                yield current
            current = PatchFile(_path(row.removeprefix(_FILE)))
        elif current is not None:
            if hunk := _HUNK.match(row):
                _read_hunk(current, hunk, rows)
            else:
                _read_heading(current, row)
    if current is not None:
        yield current


def _path(rest: str) -> str:
    """The path of `a/PATH b/PATH`; both halves are the same unless the file was renamed, which is told later."""
    if quoted := _QUOTED.findall(rest):
        return _unquoted(f'"{quoted[-1]}"').removeprefix("b/")
    half = rest[: (len(rest) - 1) // 2].removeprefix("a/")
    return half if rest == f"a/{half} b/{half}" else rest.rpartition(" b/")[2] or rest


def _unquoted(text: str) -> str:
    """A name as git writes it: in quotation marks, with escapes, when it holds unusual bytes."""
    if len(text) < 2 or text[0] != '"' or text[-1] != '"':
        return text
    return shown_path(_ESCAPE.sub(_byte, text[1:-1].encode("utf-8", "replace")))


def _byte(found: re.Match[bytes]) -> bytes:
    code = found[1]
    return bytes([int(code, 8) & 0xFF]) if len(code) == 3 else _ESCAPED.get(code, code)


def _read_heading(file: PatchFile, row: str) -> None:
    """A line between a file's name and its hunks, or git's remark behind a hunk."""
    for beginning, read in _HEADINGS:
        if row.startswith(beginning):
            read(file, row.removeprefix(beginning))
            return


def _new(file: PatchFile, mode: str) -> None:
    file.note(f"new {_KINDS[mode]}" if mode in _KINDS else "new file")


def _deleted(file: PatchFile, mode: str) -> None:
    file.note(f"{_KINDS[mode]} deleted" if mode in _KINDS and mode != "100755" else "deleted")


def _old_mode(file: PatchFile, mode: str) -> None:
    file.old_mode = mode


def _new_mode(file: PatchFile, mode: str) -> None:
    words = {"100644 100755": "made executable", "100755 100644": "no longer executable"}
    file.note(words.get(f"{file.old_mode} {mode}", f"mode {file.old_mode} → {mode}"))


def _renamed_from(file: PatchFile, name: str) -> None:
    file.old_path = _unquoted(name)
    file.note("renamed, content unchanged" if file.same else "renamed")


def _same(file: PatchFile, _: str) -> None:
    file.same = True


def _renamed_to(file: PatchFile, name: str) -> None:
    file.path = _unquoted(name)


def _index(file: PatchFile, rest: str) -> None:
    mode = rest.rpartition(" ")[2]
    if mode in _CHANGED:
        file.note(_CHANGED[mode])


def _remark(file: PatchFile, rest: str) -> None:
    if file.lines:
        file.lines.append(PatchLine("note", None, None, _shown(rest.removeprefix(" "))))


_HEADINGS = (
    ("new file mode ", _new),
    ("deleted file mode ", _deleted),
    ("old mode ", _old_mode),
    ("new mode ", _new_mode),
    ("similarity index 100%", _same),
    ("rename from ", _renamed_from),
    ("rename to ", _renamed_to),
    ("index ", _index),
    ("Binary files ", lambda file, _: file.note("binary: its content is not shown")),
    ("\\", _remark),
)


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


def _ends_of_lines(file: PatchFile) -> None:
    """Say that line ends changed: the lines themselves look the same then."""
    returns = {
        kind: {line.text.endswith("\r") for line in file.lines if line.kind == kind}
        for kind in ("add", "del")
    }
    file.lines = [line._replace(text=line.text.rstrip("\r")) for line in file.lines]
    if {frozenset(found) for found in returns.values()} == {frozenset({True}), frozenset({False})}:
        file.note("line ends changed")


def _shown(text: str) -> str:
    """A line as one line, whatever it holds; a carriage return at its end stays for `_ends_of_lines`."""
    body = text.removesuffix("\r")
    wide = body.expandtabs(4)
    shown = one_line(wide.replace("\r", "␍"), LINE_CHARS)
    return shown if body is text else f"{shown}\r"
