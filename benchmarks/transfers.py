"""A large push through the gateway beside the same push to a plain git daemon and to a path."""

import asyncio
import os
import socket
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, closing
from pathlib import Path

from benchmarks.http import connected
from benchmarks.project import create, declare, git_token, push
from benchmarks.repository import clone, git
from benchmarks.rows import Row, percentile
from benchmarks.stack import Stack

MIB = 20
TIMES = 3


async def large_push(stack: Stack, source: Path, scratch: Path) -> list[Row]:
    """Three pushes of 20 MiB that does not compress, each to gitring, to a daemon and to a path."""
    project = await create(stack, "large", source)
    folder = await clone(source, "large")
    env = await git_token(project)
    ours: list[float] = []
    daemon: list[float] = []
    path: list[float] = []
    async with connected(stack.url, project.agent) as door, git_daemon(source, scratch) as (url, bare):
        for n in range(TIMES):
            commit = await _large_commit(folder, n)
            intent, _ = await declare(door, project, f"large/{n}.bin")
            ours.append(await push(project, folder, commit, intent, env))
            daemon.append(await _plain_push(folder, url, commit, n))
            path.append(await _plain_push(folder, str(bare), commit, n))
    one, two, three = (percentile(found, 0.5) for found in (ours, daemon, path))
    value = f"{one:.2f} s, {one / two:.1f} × a git daemon ({two:.2f} s), {one / three:.1f} × a path ({three:.2f} s)"
    numbers = {"gitring": one, "daemon": two, "path": three}
    return [Row(f"push of {MIB} MiB", value, numbers=numbers)]


async def _large_commit(source: Path, number: int) -> str:
    await git(source, "checkout", "--quiet", "-B", f"large-{number}", "main")
    (source / "large").mkdir(exist_ok=True)
    (source / "large" / f"{number}.bin").write_bytes(os.urandom(MIB * 2**20))
    await git(source, "add", "--all")
    await git(source, "commit", "--quiet", "--message=Large")
    return (await git(source, "rev-parse", "HEAD")).strip()


async def _plain_push(source: Path, remote: str, commit: str, number: int) -> float:
    bare_ref = f"refs/heads/{'daemon' if '://' in remote else 'path'}-{number}"
    began = time.perf_counter()
    await git(source, "push", "--quiet", remote, f"{commit}:{bare_ref}")
    return time.perf_counter() - began


@asynccontextmanager
async def git_daemon(source: Path, scratch: Path) -> AsyncIterator[tuple[str, Path]]:
    """A daemon that takes pushes to one bare clone, and another bare clone to push to by its path."""
    served, plain = scratch / "daemon" / "served.git", scratch / "daemon" / "plain.git"
    served.parent.mkdir()
    for bare in (served, plain):
        await git(source, "clone", "--quiet", "--bare", "--no-hardlinks", str(source), str(bare))
    with closing(socket.create_server(("127.0.0.1", 0))) as taken:
        port = taken.getsockname()[1]
    process = await asyncio.create_subprocess_exec(
        *("git", "daemon", "--reuseaddr", "--listen=127.0.0.1", f"--port={port}", "--export-all"),
        *("--enable=receive-pack", f"--base-path={served.parent}", str(served.parent)),
        stderr=asyncio.subprocess.DEVNULL,
    )
    try:
        await _listening(port)
        yield f"git://127.0.0.1:{port}/served.git", plain
    finally:
        process.terminate()
        await process.wait()


async def _listening(port: int) -> None:
    async with asyncio.timeout(10):
        while True:
            try:
                _, writer = await asyncio.open_connection("127.0.0.1", port)
            except ConnectionRefusedError:
                await asyncio.sleep(0.02)
                continue
            writer.close()
            return
