"""`gitring up` as a process of its own, and what it says."""

import asyncio
import json
import signal
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from pathlib import Path
from typing import Any

import psutil

PATIENCE = 60.0


class Running:
    """One `up` on `folder`; `said` holds the lines it has printed so far."""

    def __init__(self, folder: Path, process: asyncio.subprocess.Process) -> None:
        self.folder = folder
        self.process = process
        self.said: list[str] = []

    async def line(self, begins: str) -> str:
        """The next line that begins so; fails when the process ends before it."""
        assert self.process.stdout
        async with asyncio.timeout(PATIENCE):
            while text := (await self.process.stdout.readline()).decode():
                self.said.append(text.rstrip("\n"))
                if text.startswith(begins):
                    return self.said[-1]
        raise AssertionError(f"it ended without {begins!r}; it said {self.said}")

    async def ready(self) -> dict[str, Any]:
        """Wait until it serves; the connection file."""
        await self.line("Stop it with")
        return self.connection()

    def connection(self) -> dict[str, Any]:
        """The connection file as it is now."""
        content: dict[str, Any] = json.loads((self.folder / "connection.json").read_text())
        return content

    async def ends(self) -> int:
        """Read to the end; the exit code."""
        assert self.process.stdout
        async with asyncio.timeout(PATIENCE):
            rest = (await self.process.stdout.read()).decode()
            self.said += rest.splitlines()
            return await self.process.wait()

    async def stop(self) -> int:
        """Ask it to stop as Ctrl-C does; the exit code."""
        self.process.send_signal(signal.SIGINT)
        return await self.ends()


@asynccontextmanager
async def running_up(folder: Path, gateway: str = "gateway", *, alone: bool = True) -> AsyncIterator[Running]:
    """An `up` with stand-ins for gateway and worker, ended at the end of the block.

    With `alone`, whatever else still runs on the folder is ended too.
    """
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "tests.support.standins", "up", str(folder), gateway),
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
    )
    running = Running(folder, process)
    try:
        yield running
    finally:
        if process.returncode is None:
            await running.stop()
        # What a failed test left behind; in a passing one there is nothing.
        for leftover in started_on(folder) if alone else []:
            with suppress(psutil.NoSuchProcess):
                leftover.kill()


def started_on(folder: Path) -> list[psutil.Process]:
    """Every process that has the folder on its command line, in its environment or as its place."""
    found = []
    for process in psutil.process_iter():
        with suppress(psutil.NoSuchProcess, psutil.AccessDenied, psutil.ZombieProcess):
            words = [*process.cmdline(), process.environ().get("GITRING_DATA_DIR", ""), process.cwd()]
            if any(str(folder) in word for word in words):
                found.append(process)
    return found


@contextmanager
def outlived(code: str = "") -> Iterator[psutil.Process]:
    """A process that runs until it is ended; `code` runs in it first."""
    process = subprocess.Popen(
        [sys.executable, "-c", f"{code}\nimport signal\nprint('up', flush=True)\nsignal.pause()"],
        stdout=subprocess.PIPE,
        start_new_session=True,
    )
    with process:
        assert process.stdout and process.stdout.readline()
        try:
            yield psutil.Process(process.pid)
        finally:
            process.kill()
