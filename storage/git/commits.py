"""Write commits whose every byte the caller decides, so that the same input gives the same id on any machine."""

import re
from asyncio.subprocess import Process
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from pydantic import BaseModel, ConfigDict

from protocol.ids import CommitId
from storage.git.bare import Bare
from storage.git.command import started
from storage.git.errors import GitFailed

_HASH_OBJECT = ("hash-object", "-t", "commit", "-w", "--stdin-paths")
# Signs that git's commit format gives a meaning, and control characters.
_UNSIGNABLE = re.compile(r"[<>\x00-\x1f\x7f]+")


class Signature(BaseModel):
    """Who and when: `at` is in Unix seconds and written as UTC."""

    model_config = ConfigDict(frozen=True)

    name: str
    email: str
    at: int

    def line(self) -> str:
        """The form of an author or committer line; characters git would misread are left out."""
        name = " ".join(_UNSIGNABLE.sub(" ", self.name).split()) or "unknown"
        email = _UNSIGNABLE.sub("", self.email).strip()
        return f"{name} <{email}> {self.at} +0000"


class CommitWriter:
    """Writes any number of commits through one running git; `commit_writer` makes it."""

    def __init__(self, process: Process, draft: Path) -> None:
        self._process, self._draft = process, draft

    async def write(
        self, tree: str, parents: Sequence[CommitId], author: Signature, committer: Signature, message: str
    ) -> CommitId:
        """Store one commit and return its id. Raises GitFailed when git refuses it."""
        assert self._process.stdin and self._process.stdout and self._process.stderr
        self._draft.write_bytes(_commit_bytes(tree, parents, author, committer, message))
        self._process.stdin.write(f"{self._draft}\n".encode())
        row = await self._process.stdout.readline()
        if not row:
            reason = await self._process.stderr.read()
            raise GitFailed(_HASH_OBJECT, await self._process.wait(), reason)
        return CommitId(row.decode().strip())


@asynccontextmanager
async def commit_writer(repo: Bare) -> AsyncIterator[CommitWriter]:
    """A writer of commits into `repo`; one git process for the length of the block."""
    with TemporaryDirectory(prefix="gitring-commit-") as folder:
        async with started(*_HASH_OBJECT, cwd=repo.path, env=repo.env) as process:
            yield CommitWriter(process, Path(folder) / "commit")


async def first_commit(repo: Bare, message: str, author: Signature) -> CommitId:
    """A commit without parents and files; the same arguments give the same id."""
    empty = await repo.git("mktree", stdin=b"")
    async with commit_writer(repo) as writer:
        return await writer.write(empty.stdout.decode().strip(), [], author, author, message)


def _commit_bytes(
    tree: str, parents: Sequence[CommitId], author: Signature, committer: Signature, message: str
) -> bytes:
    rows = [f"tree {tree}", *(f"parent {parent}" for parent in parents)]
    rows += [f"author {author.line()}", f"committer {committer.line()}", ""]
    body = message.replace("\0", "").rstrip("\n")
    return "\n".join([*rows, body, ""]).encode("utf-8", "replace")
