"""Does a merge take back what landed a while ago? Lines only; what it means is a rule's business.

The usual cause is a branch that took the line in and, in doing so, kept its own old copy of a file.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from protocol.ids import CommitId
from storage.git.names import commit_id, shown_path
from storage.git.repository import Repository

MOST_LANDINGS = 500
LARGEST_ANSWER = 16 * 1024 * 1024
# Braces and blank lines come and go everywhere: a line that short says nothing about who wrote it.
SHORTEST_LINE = 4


class TakenBack(NamedTuple):
    """A landing whose lines a merge removes, and in which files."""

    commit: str
    paths: list[str]


class _Lines(NamedTuple):
    added: Counter[bytes]
    removed: Counter[bytes]


_Patch = dict[str, _Lines]


async def taken_back(
    repository: Repository, *, since: CommitId, onto: CommitId, merged: CommitId, paths: Sequence[str]
) -> TakenBack | None:
    """The latest landing between `since` and `onto` that `merged`, which stands on `onto`, undoes in `paths`.

    A file is undone when the merge removes lines that the landing added there, and adds nothing but lines that
    the landing removed. None when no landing is, or when `since` is no ancestor of `onto`.
    """
    if not paths or not await repository.is_ancestor(since, onto):
        return None
    here = await _patch(repository, paths, "diff-tree", "-r", commit_id(onto), commit_id(merged))
    touched = sorted(path for path, lines in here.items() if lines.removed)
    if not touched:
        return None
    for commit in await _landings(repository, since, onto, touched):
        there = await _patch(repository, touched, "diff-tree", "-r", f"{commit}^1", commit)
        undone = [path for path in touched if path in there and _undoes(here[path], there[path])]
        if undone:
            return TakenBack(commit, undone)
    return None


def _undoes(merge: _Lines, landing: _Lines) -> bool:
    removed = merge.removed - merge.added
    added = merge.added - merge.removed
    return bool(removed & (landing.added - landing.removed)) and not added - landing.removed


async def _landings(
    repository: Repository, since: CommitId, onto: CommitId, paths: Sequence[str]
) -> list[str]:
    answer = await repository.git(
        "rev-list",
        "--first-parent",
        f"--max-count={MOST_LANDINGS}",
        commit_id(onto),
        f"^{commit_id(since)}",
        "--",
        *(f":(literal,top){path}" for path in paths),
    )
    return answer.stdout.decode().split()


async def _patch(repository: Repository, paths: Sequence[str], *command: str) -> _Patch:
    options = ("-p", "-U0", "--no-renames", "--no-color", "--no-ext-diff", "--no-textconv", "--text")
    answer = await repository.git(
        *command[:2],
        *options,
        *command[2:],
        "--",
        *(f":(literal,top){path}" for path in paths),
        limit=LARGEST_ANSWER,
        truncate=True,
    )
    found: _Patch = {}
    for path, sign, line in _changed_lines(answer.stdout):
        lines = found.setdefault(path, _Lines(Counter(), Counter()))
        if len(line.strip()) >= SHORTEST_LINE:
            (lines.added if sign == b"+" else lines.removed)[line] += 1
    return found


def _changed_lines(patch: bytes) -> Iterator[tuple[str, bytes, bytes]]:
    """(path, `+` or `-`, line) of a patch; the two header lines with file names are no lines of a file."""
    path, in_hunk = "", False
    for line in patch.split(b"\n"):
        if line.startswith(b"diff --git "):
            in_hunk = False
        elif line.startswith(b"@@ "):
            in_hunk = True
        elif not in_hunk and line.startswith((b"--- a/", b"+++ b/", b'--- "a/', b'+++ "b/')):
            path = _named(line[4:])
        elif in_hunk and line[:1] in (b"+", b"-"):
            yield path, line[:1], line[1:]


def _named(text: bytes) -> str:
    """`a/src/x.py` or `"a/src/\\303\\244.py"`, as git writes it, with the tab that follows a name with blanks."""
    text = text.rstrip(b"\t")
    if text.startswith(b'"'):
        quoted = text[1:-1].decode("latin-1")
        text = quoted.encode("latin-1").decode("unicode_escape").encode("latin-1")
    return shown_path(text[2:])
