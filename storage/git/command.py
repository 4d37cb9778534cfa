"""Run git as a child process: no shell, nothing inherited from the operator's git settings, bounded output and time.

Each child leads its own process group, so that ending it also ends what it started (ssh, index-pack, hooks).
"""

import asyncio
import os
import signal
from asyncio.subprocess import DEVNULL, PIPE, Process
from collections.abc import AsyncIterator, Collection, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from storage.git.errors import GitFailed, GitTimedOut, OutputTooLarge

DEFAULT_LIMIT = 64 * 1024 * 1024
DEFAULT_TIMEOUT = 120.0
_STDERR_LIMIT = 64 * 1024
_CHUNK = 64 * 1024
# Seconds a grandchild may hold our pipes after git itself ended.
_LINGER = 1.0


@dataclass(frozen=True, slots=True)
class Output:
    """What one git command said; `truncated` when it was stopped at the caller's limit."""

    code: int
    stdout: bytes
    stderr: bytes
    truncated: bool = False


def environment(extra: Mapping[str, str] | None = None) -> dict[str, str]:
    """The whole environment of a git child: PATH, neutral settings, then `extra`; no inherited `GIT_*`."""
    return {
        "PATH": os.environ.get("PATH", os.defpath),
        "HOME": "/nonexistent",
        "LC_ALL": "C",
        "TZ": "UTC",
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_ATTR_NOSYSTEM": "1",
        "GIT_TERMINAL_PROMPT": "0",
        **(extra or {}),
    }


async def run(
    *args: str,
    cwd: Path | None = None,
    stdin: bytes | None = None,
    env: Mapping[str, str] | None = None,
    accept: Collection[int] = (0,),
    limit: int = DEFAULT_LIMIT,
    truncate: bool = False,
    timeout: float = DEFAULT_TIMEOUT,
) -> Output:
    """Run `git *args` and return what it said.

    `limit` caps stdout in bytes: above it the child is killed and the answer is cut (`truncate`) or refused.
    Raises GitFailed for a code outside `accept`, GitTimedOut after `timeout` seconds, OutputTooLarge.
    """
    async with started(*args, cwd=cwd, env=env, feed=stdin is not None) as process:
        try:
            async with asyncio.timeout(timeout):
                output = await _converse(process, stdin, limit)
        except TimeoutError:
            raise GitTimedOut(args, -signal.SIGKILL, b"it took too long and was ended") from None
    if output.truncated:
        if not truncate:
            raise OutputTooLarge(args, output.code, b"its output is larger than %d bytes" % limit)
    elif output.code not in accept:
        raise GitFailed(args, output.code, output.stderr)
    return output


@asynccontextmanager
async def started(
    *args: str,
    cwd: Path | None = None,
    env: Mapping[str, str] | None = None,
    feed: bool = True,
    pass_fds: Sequence[int] = (),
    grace: float = 0,
) -> AsyncIterator[Process]:
    """A running `git *args` with piped streams; whatever happens inside, the whole process group is gone after.

    `pass_fds` stay open in the child and all it starts. `grace` is how many seconds it gets to clean up.
    """
    process = await asyncio.create_subprocess_exec(
        "git",
        *args,
        cwd=cwd,
        env=environment(env),
        stdin=PIPE if feed else DEVNULL,
        stdout=PIPE,
        stderr=PIPE,
        start_new_session=True,
        pass_fds=pass_fds,
    )
    try:
        yield process
    finally:
        await end(process, grace)


async def end(process: Process, grace: float = 0) -> None:
    """End a child and its process group: SIGTERM and `grace` seconds when given, then SIGKILL. Reaps it."""
    if process.stdin is not None:
        process.stdin.close()
    if process.returncode is None:
        signal_group(process, signal.SIGTERM if grace else signal.SIGKILL)
    finished = asyncio.create_task(_finished(process))
    try:
        await asyncio.wait({finished}, timeout=grace or _LINGER)
    finally:
        if not finished.done():
            signal_group(process, signal.SIGKILL)
    await finished


async def wind_down(process: Process, seconds: float) -> None:
    """Close the child's stdin and give it `seconds` to end by itself, whatever it still says."""
    if process.stdin is not None:
        process.stdin.close()
    with suppress(TimeoutError):
        async with asyncio.timeout(seconds):
            await _finished(process)


async def _finished(process: Process) -> None:
    # An unread pipe would keep its transport open for ever; its end also means that no grandchild holds it.
    await asyncio.gather(*(_discard(stream) for stream in (process.stdout, process.stderr) if stream))
    await process.wait()


def signal_group(process: Process, number: signal.Signals) -> None:
    """Send a signal to every process of the child's group; none left is fine."""
    with suppress(ProcessLookupError):
        os.killpg(process.pid, number)


async def _converse(process: Process, stdin: bytes | None, limit: int) -> Output:
    assert process.stdout is not None and process.stderr is not None
    (stdout, truncated), (stderr, _), _ = await asyncio.gather(
        _read_to_limit(process, process.stdout, limit),
        _read_to_limit(None, process.stderr, _STDERR_LIMIT),
        _feed(process, stdin),
    )
    return Output(await process.wait(), stdout, stderr, truncated)


async def _read_to_limit(
    process: Process | None, stream: asyncio.StreamReader, limit: int
) -> tuple[bytes, bool]:
    chunks, size = [], 0
    while chunk := await stream.read(_CHUNK):
        chunks.append(chunk)
        size += len(chunk)
        if size > limit:
            if process is not None:
                signal_group(process, signal.SIGKILL)
            await _discard(stream)
            return b"".join(chunks)[:limit], True
    return b"".join(chunks), False


async def _discard(stream: asyncio.StreamReader) -> None:
    while await stream.read(_CHUNK):
        pass


async def _feed(process: Process, data: bytes | None) -> None:
    if data is None or process.stdin is None:
        return
    # git may answer without reading everything; its exit code tells whether that was an error.
    with suppress(BrokenPipeError, ConnectionResetError):
        process.stdin.write(data)
        await process.stdin.drain()
    process.stdin.close()
    with suppress(BrokenPipeError, ConnectionResetError):
        await process.stdin.wait_closed()
