"""What commits hold and how two of them differ. All of it is other people's text: bounded, never interpreted."""

import asyncio
from collections.abc import Iterator, Sequence
from enum import StrEnum

from pydantic import BaseModel, ConfigDict

from protocol.ids import CommitId
from storage.git.bare import Bare
from storage.git.names import commit_id, shown_path

_NO_BLOB = b"0" * 40


class Change(StrEnum):
    """What happened to a path."""

    ADDED = "added"
    DELETED = "deleted"
    MODIFIED = "modified"
    RENAMED = "renamed"
    TYPE_CHANGED = "type_changed"


_LETTERS = {
    "A": Change.ADDED,
    "D": Change.DELETED,
    "M": Change.MODIFIED,
    "R": Change.RENAMED,
    "T": Change.TYPE_CHANGED,
}


class ChangedPath(BaseModel):
    """One path that differs between two commits.

    `old_path` is set for renames only. Modes are git's octal text (`100755`, `120000` symlink, `160000` submodule);
    `blob` and `old_blob` are None on the side where the path is absent. Paths are in the form of `shown_path`.
    """

    model_config = ConfigDict(frozen=True)

    status: Change
    path: str
    old_path: str | None = None
    old_mode: str
    mode: str
    old_blob: str | None
    blob: str | None


class Entry(BaseModel):
    """One file, symlink or submodule of a commit."""

    model_config = ConfigDict(frozen=True)

    path: str
    mode: str
    id: str


class Text(BaseModel):
    """Output for people; `truncated` when it stops at the limit that was asked for."""

    model_config = ConfigDict(frozen=True)

    text: str
    truncated: bool


class Content(Bare):
    """The part of a repository that reads trees and files."""

    async def changed_paths(self, base: CommitId, head: CommitId) -> tuple[ChangedPath, ...]:
        """Every path that differs from `base` to `head`, in path order, renames detected.

        Either side may be a tree id, such as EMPTY_TREE. Paths that are not UTF-8 come in percent form.
        """
        answer = await self.git("diff-tree", "-r", "-z", "--raw", "-M", commit_id(base), commit_id(head))
        return tuple(_changes(answer.stdout))

    async def diff(self, base: CommitId, head: CommitId, limit: int) -> Text:
        """The patch from `base` to `head`, cut after `limit` bytes; bytes that are not UTF-8 become U+FFFD."""
        answer = await self.git(
            "diff-tree", "-r", "-p", "-M", commit_id(base), commit_id(head), limit=limit, truncate=True
        )
        return Text(text=answer.stdout.decode("utf-8", "replace"), truncated=answer.truncated)

    async def list_tree(self, commit: CommitId) -> tuple[Entry, ...]:
        """Every file of a commit, folders left out."""
        answer = await self.git("ls-tree", "-r", "-z", "--full-tree", commit_id(commit))
        # Tens of thousands of files take a tenth of a second, in which the loop shall serve others.
        return await asyncio.to_thread(_entries, answer.stdout)

    async def read_file(self, commit: CommitId, path: str, limit: int) -> bytes | None:
        """The first `limit` bytes of a file (of a symlink: its target); None when no file is at that path."""
        spec = f"{commit_id(commit)}:{path.removeprefix('/')}"
        if "\0" in path or path.startswith("./"):
            return None
        answer = await self.git("cat-file", "blob", spec, accept=(0, 1, 128), limit=limit, truncate=True)
        return answer.stdout if answer.code == 0 or answer.truncated else None

    async def read_blobs(self, ids: Sequence[str], limit: int) -> dict[str, bytes]:
        """The contents of those blobs that hold at most `limit` bytes each, in one git process."""
        unique = list(dict.fromkeys(commit_id(one) for one in ids))
        sizes = await self.git("cat-file", "--batch-check", stdin=_lines(unique))
        small, total = [], 0
        for row in sizes.stdout.decode().splitlines():
            oid, kind, *rest = row.split(" ")
            if kind == "blob" and int(rest[0]) <= limit:
                small.append(oid)
                total += int(rest[0]) + 100
        answer = await self.git("cat-file", "--batch", stdin=_lines(small), limit=total)
        return dict(_batch(answer.stdout))


def _lines(rows: Sequence[str]) -> bytes:
    return "".join(f"{row}\n" for row in rows).encode()


def _entries(raw: bytes) -> tuple[Entry, ...]:
    return tuple(_entry(row) for row in raw.split(b"\0") if row)


def _entry(row: bytes) -> Entry:
    head, _, path = row.partition(b"\t")
    mode, _, oid = head.decode().split(" ")
    return Entry(path=shown_path(path), mode=mode, id=oid)


def _changes(raw: bytes) -> Iterator[ChangedPath]:
    fields = iter(raw.split(b"\0"))
    for head in fields:
        if not head:
            return
        old_mode, mode, old_blob, blob, letter = head[1:].split(b" ")
        status = _LETTERS[letter[:1].decode()]
        first = next(fields)
        path = next(fields) if status is Change.RENAMED else first
        yield ChangedPath(
            status=status,
            path=shown_path(path),
            old_path=shown_path(first) if status is Change.RENAMED else None,
            old_mode=old_mode.decode(),
            mode=mode.decode(),
            old_blob=None if old_blob == _NO_BLOB else old_blob.decode(),
            blob=None if blob == _NO_BLOB else blob.decode(),
        )


def _batch(raw: bytes) -> Iterator[tuple[str, bytes]]:
    at = 0
    while at < len(raw):
        end = raw.index(b"\n", at)
        oid, _, size = raw[at:end].split(b" ")
        start = end + 1
        yield oid.decode(), raw[start : start + int(size)]
        at = start + int(size) + 1
