"""The child: reads the file contents that a push brings, straight from git, and prints where secrets are.

It runs apart from the gateway because it reads other people's bytes at length: it may be ended at any moment, has
bounds of its own, and yields the processor. Its standard input only tells it that its parent is still there.
"""

import contextlib
import json
import os
import resource
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from typing import IO

from rules.secrets import secrets_in

LARGEST_BLOB = 5 * 1024 * 1024
MOST_BLOBS = 50_000
MOST_FOUND = 5
_MEMORY = 1024**3
_NICENESS = 5
_LONGEST_PATH = 1_000
_CHUNK = 1024 * 1024


class GitEnded(Exception):
    """A git of ours ended before it had said all."""


def main(tip: str) -> int:
    """Print one JSON object about the push whose new tip is `tip`: see `gateway.contents.scanning.Scan`."""
    os.nice(_NICENESS)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    threading.Thread(target=_end_with_parent, daemon=True).start()
    with tempfile.TemporaryFile() as names, tempfile.TemporaryFile() as said:
        try:
            paths = _list(tip, names, said)
            answer: dict[str, object] = {"blobs": None}
            if len(paths) <= MOST_BLOBS:
                answer = {"blobs": len(paths), "found": _found(tip, paths, names, said)}
        except GitEnded as ended:
            said.seek(0)
            sys.stderr.write(f"{ended}: {said.read(2_000).decode('utf-8', 'replace')}\n")
            return 1
    sys.stdout.write(json.dumps(answer))
    return 0


def _end_with_parent() -> None:
    os.read(0, 1)
    if os.getpgrp() == os.getpid():
        os.killpg(0, signal.SIGKILL)


@contextlib.contextmanager
def _bounded_memory() -> Iterator[None]:
    """Bound this process where the system knows such a limit; no git may start inside, for it maps whole packs."""
    _, hard = resource.getrlimit(resource.RLIMIT_AS)
    with contextlib.suppress(ValueError, OSError):
        resource.setrlimit(resource.RLIMIT_AS, (_MEMORY, hard))
    yield
    resource.setrlimit(resource.RLIMIT_AS, (hard, hard))


@contextlib.contextmanager
def _git(said: IO[bytes], *args: str, stdin: IO[bytes] | None = None) -> Iterator[IO[bytes]]:
    """The output of git, which ends well when it is read to its end. Raises GitEnded."""
    command = ["git", *args]
    source = stdin or subprocess.DEVNULL
    with subprocess.Popen(command, stdin=source, stdout=subprocess.PIPE, stderr=said, bufsize=_CHUNK) as git:
        assert git.stdout is not None
        try:
            yield git.stdout
            enough = git.stdout.read(1) != b""
        except BaseException:
            git.kill()
            raise
        if enough:
            git.kill()
        elif git.wait():
            raise GitEnded(f"git {args[0]} ended with code {git.returncode}")


def _list(tip: str, names: IO[bytes], said: IO[bytes]) -> list[bytes]:
    """Write the ids of the new blobs to `names`, one a line; their paths, one more than MOST_BLOBS at most."""
    paths: list[bytes] = []
    small = f"--filter=blob:limit={LARGEST_BLOB + 1}"
    with _git(said, "rev-list", "--objects", "--filter=object:type=blob", small, *_new(tip)) as rows:
        for row in rows:
            oid, parted, path = row.rstrip(b"\n").partition(b" ")
            # Commits pass the filter too, and stand alone. A path ends at its first line end, so it may be empty.
            if parted:
                names.write(oid + b"\n")
                paths.append(path[:_LONGEST_PATH] or b"?")
            if len(paths) > MOST_BLOBS:
                break
    names.seek(0)
    return paths


def _found(tip: str, paths: list[bytes], names: IO[bytes], said: IO[bytes]) -> list[dict[str, object]]:
    found: list[dict[str, object]] = []
    blobs: dict[str, list[dict[str, object]]] = {}
    with _git(said, "cat-file", "--batch", "--buffer", stdin=names) as contents, _bounded_memory():
        for path in paths:
            oid, content = _next(contents)
            for secret in secrets_in(content, MOST_FOUND - len(found)):
                # Latin-1 carries any bytes; the parent makes them a path again.
                found.append({"path": path.decode("latin-1"), "line": secret.line, "what": secret.what})
                blobs.setdefault(oid, []).append(found[-1])
            if len(found) == MOST_FOUND:
                break
    for oid, rows in blobs.items():
        commit = _commit_of(tip, oid, said)
        for row in rows:
            row["commit"] = commit
    return found


def _next(contents: IO[bytes]) -> tuple[str, bytes]:
    head = contents.readline().split()
    if len(head) != 3:
        raise GitEnded("git cat-file left a blob out")
    content = contents.read(int(head[2]))
    contents.read(1)
    return head[0].decode(), content


def _commit_of(tip: str, oid: str, said: IO[bytes]) -> str | None:
    """The first new commit with the blob; None when only a merge brought it."""
    with _git(said, "log", "--format=%H", f"--find-object={oid}", *_new(tip)) as rows:
        commits = rows.read().split()
    return commits[-1].decode() if commits else None


def _new(tip: str) -> tuple[str, ...]:
    return (tip, "--not", "--all")
