"""The raw facts of a worktree at one moment, and of a difference: given on piece by piece, bounded, never interpreted."""

import asyncio
import io
import os
import stat
from collections.abc import Callable, Iterator
from enum import Enum, auto

from protocol.ids import CommitId
from storage.git.bare import Bare
from storage.git.command import started
from storage.git.errors import GitFailed, GitTimedOut, OutputTooLarge
from storage.git.names import commit_id
from storage.git.worktrees import Worktree

CONTENT_BUDGET = 512 * 1024 * 1024
_CHUNK = 1024 * 1024
_TIMEOUT = 300.0
_DIFF = ("diff", "--no-ext-diff", "--no-textconv", "--ignore-submodules=dirty", "-O/dev/null")

Take = Callable[[bytes], None]


class Budget:
    """How many bytes may still be read. What is more is refused with OutputTooLarge."""

    def __init__(self, size: int = CONTENT_BUDGET) -> None:
        self._left = self._size = size

    def spend(self, count: int) -> None:
        """Note bytes that were read."""
        self._left -= count
        if self._left < 0:
            raise OutputTooLarge(("diff",), 0, b"there are more than %d bytes to read" % self._size)


async def status_fields(worktree: Worktree) -> list[bytes]:
    """The fields of `git status --porcelain=v1 -z` with every untracked file."""
    answer = await worktree.git(
        *(
            "status",
            "--porcelain=v1",
            "-z",
            "--untracked-files=all",
            "--ignore-submodules=dirty",
            "--renames",
        ),
        timeout=_TIMEOUT,
    )
    return answer.stdout.split(b"\0")


async def read_open_edits(worktree: Worktree, take: Take, budget: Budget) -> None:
    """The patch from HEAD to what lies in the worktree; there must be a HEAD."""
    # Whole ids: how git shortens them hangs on what else is in the repository.
    await _stream(worktree, (*_DIFF, "--binary", "--full-index", "HEAD"), take, budget)


async def read_difference(repository: Bare, base: CommitId, head: CommitId, take: Take) -> None:
    """The patch `git diff --binary <base> <head>`."""
    await _stream(repository, (*_DIFF, "--binary", commit_id(base), commit_id(head)), take, Budget())


async def bare_patch_of(
    repository: Bare, base: CommitId, head: CommitId | None, limit: int
) -> tuple[bytes, bool]:
    """The patch without context from `base` to `head`, or to what lies in the worktree; and whether it was cut."""
    to = () if head is None else (commit_id(head),)
    answer = await repository.git(
        *_DIFF, "--unified=0", commit_id(base), *to, limit=limit, truncate=True, timeout=_TIMEOUT
    )
    return answer.stdout, answer.truncated


async def _stream(repository: Bare, args: tuple[str, ...], take: Take, budget: Budget) -> None:
    async with started(*args, cwd=repository.cwd, env=repository.env, feed=False) as process:
        assert process.stdout is not None and process.stderr is not None
        try:
            async with asyncio.timeout(_TIMEOUT):
                said = asyncio.create_task(process.stderr.read())
                while chunk := await process.stdout.read(_CHUNK):
                    budget.spend(len(chunk))
                    take(chunk)
                code, stderr = await process.wait(), await said
        except TimeoutError:
            raise GitTimedOut(args, -9, b"it took too long and was ended") from None
    if code != 0:
        raise GitFailed(args, code, stderr)


class Found(Enum):
    """What lies at an untracked path."""

    FILE = auto()
    SYMLINK = auto()
    OTHER = auto()


def open_untracked(worktree: Worktree, path: str, budget: Budget) -> tuple[Found, Iterator[bytes]]:
    """What lies at an untracked path, and its bytes: a file's content, a link's target. No link is followed. Blocks."""
    folders = os.fsencode(path).split(b"/")
    at = os.open(worktree.root, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        for name in folders[:-1]:
            below = os.open(name, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=at)
            os.close(at)
            at = below
        return _open(at, folders[-1], budget)
    except OSError:
        return Found.OTHER, iter(
            ()
        )  # it went or changed its kind while we looked; the next look sees what it is
    finally:
        os.close(at)


def _open(folder: int, name: bytes, budget: Budget) -> tuple[Found, Iterator[bytes]]:
    if not name:  # a repository inside the worktree is named as a folder
        return Found.OTHER, iter(())
    mode = os.stat(name, dir_fd=folder, follow_symlinks=False).st_mode
    if stat.S_ISLNK(mode):
        return Found.SYMLINK, iter((os.readlink(name, dir_fd=folder),))
    if not stat.S_ISREG(mode):
        return Found.OTHER, iter(())
    flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
    return Found.FILE, _chunks(os.fdopen(os.open(name, flags, dir_fd=folder), "rb", buffering=0), budget)


def _chunks(file: io.FileIO, budget: Budget) -> Iterator[bytes]:
    with file:
        while chunk := file.read(_CHUNK):
            budget.spend(len(chunk))
            yield chunk
