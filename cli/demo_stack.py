"""The demo's own `gitring up`: a child process in a temporary folder, and nothing left of it afterwards."""

import asyncio
import json
import os
import signal
import sys
from asyncio.subprocess import DEVNULL, PIPE, STDOUT, Process
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

_START_SEC = 90.0
_STOP_SEC = 30.0
_TAIL = 15


class StackFailed(Exception):
    """The stack did not come up, or not down; the text is what it said last."""


class StepFailed(Exception):
    """A tool or REST refused, git ended badly, or something did not come about; the text is what was said."""


class DemoStack:
    """A running stack: where it answers, and its logs."""

    def __init__(self, folder: Path, process: Process) -> None:
        self.folder = folder
        self.process = process
        self._said: list[str] = []
        self._reading: asyncio.Task[None] | None = None
        self.connection: dict[str, Any] = {}

    async def ready(self) -> None:
        """Return when everything answers. Raises StackFailed."""
        assert self.process.stdout
        file = self.folder / "connection.json"
        try:
            async with asyncio.timeout(_START_SEC):
                while line := (await self.process.stdout.readline()).decode(errors="replace"):
                    self._said.append(line.rstrip())
                    # The last line of its welcome comes after the file is written.
                    if line.startswith("Stop it with"):
                        break
        except TimeoutError:
            raise StackFailed(f"`gitring up` was not ready after {_START_SEC:g} s") from None
        if not file.exists():
            raise StackFailed("`gitring up` ended before it was ready")
        self.connection = json.loads(file.read_text())
        self._reading = asyncio.create_task(self._read_on())

    async def _read_on(self) -> None:
        assert self.process.stdout
        while line := await self.process.stdout.readline():
            self._said.append(line.decode(errors="replace").rstrip())

    async def stop(self) -> int:
        """Ask it to stop, and insist after a while; the exit code."""
        if self.process.returncode is None:
            self.process.send_signal(signal.SIGINT)
        try:
            async with asyncio.timeout(_STOP_SEC):
                return await self.process.wait()
        except TimeoutError:
            # The second signal ends its servers at once.
            self.process.send_signal(signal.SIGINT)
            return await self.process.wait()
        finally:
            if self._reading:
                await self._reading

    def tail(self, log: str) -> list[str]:
        """The end of what `up` said ("up"), or of one process's log."""
        path = self.folder / "logs" / f"{log}.log"
        lines = path.read_text(errors="replace").splitlines() if path.exists() else self._said
        return lines[-_TAIL:]


@asynccontextmanager
async def running(folder: Path) -> AsyncIterator[DemoStack]:
    """`gitring up` on `folder`, started and in any case stopped. The caller awaits `ready`."""
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "cli", "up", "--data-dir", str(folder), "--port", "0"),
        stdin=DEVNULL,
        stdout=PIPE,
        stderr=STDOUT,
        env=_plain_environment(),
        # A Ctrl-C is the demo's: it stops the stack itself, in order.
        start_new_session=True,
    )
    stack = DemoStack(folder, process)
    try:
        yield stack
    finally:
        stopping = asyncio.create_task(stack.stop())
        # However often somebody asks to hurry: a stack that is left behind would be worse.
        while not stopping.done():
            with suppress(asyncio.CancelledError):
                await asyncio.shield(stopping)


def _plain_environment() -> dict[str, str]:
    """The user's environment without settings of another gitring."""
    return {name: value for name, value in os.environ.items() if not name.startswith("GITRING_")}
