"""A whole gitring on a temporary folder, started by its own command and stopped as a person would stop it."""

import asyncio
import json
import signal
import sys
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

READY = b"gitring is ready"
COMMAND = (str(Path(sys.executable).with_name("gitring")), "up")
PATIENCE = 120.0


class DidNotStart(Exception):
    """`gitring up` ended instead of serving; the text is what it said."""


@dataclass(frozen=True)
class Stack:
    """A running `gitring up`. `ready_sec` is from its start to the line that says it is ready."""

    folder: Path
    connection: dict[str, Any]
    ready_sec: float
    process: asyncio.subprocess.Process

    @property
    def url(self) -> str:
        """The gateway."""
        return str(self.connection["url"])

    @property
    def owner(self) -> str:
        """The owner's person token."""
        return str(self.connection["owner_token"])

    def pid(self, name: str) -> int:
        """The process id of one part: gateway, worker, temporal, nats, postgres."""
        return int(self.connection["pids"][name])

    def repository(self, project_id: str) -> Path:
        """A project's bare repository."""
        return self.folder / "repositories" / f"{project_id}.git"


async def start(folder: Path) -> Stack:
    """Start `gitring up` on `folder` with free ports and wait until it says that it is ready."""
    began = time.monotonic()
    process = await asyncio.create_subprocess_exec(
        *(*COMMAND, "--data-dir", str(folder), "--port", "0"),
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
        start_new_session=True,
    )
    assert process.stdout
    said = []
    async with asyncio.timeout(PATIENCE):
        while line := await process.stdout.readline():
            said.append(line)
            if line.startswith(READY):
                ready = time.monotonic() - began
                found = json.loads((folder / "connection.json").read_text())
                return Stack(folder, found, ready, process)
    raise DidNotStart(b"".join(said).decode("utf-8", "replace"))


async def stop(stack: Stack) -> float:
    """Ask it to stop and wait until all of it has; the seconds that took."""
    began = time.monotonic()
    if stack.process.returncode is None:
        stack.process.send_signal(signal.SIGINT)
    assert stack.process.stdout
    async with asyncio.timeout(PATIENCE):
        await stack.process.stdout.read()
        await stack.process.wait()
    return time.monotonic() - began


@asynccontextmanager
async def running(folder: Path) -> AsyncIterator[Stack]:
    """A stack for the length of a block."""
    stack = await start(folder)
    try:
        yield stack
    finally:
        await stop(stack)
