"""The real `gitring up` as a child process: its lines, its processes, its restarts, its clean stop."""

import asyncio
import json
import os
import shutil
import signal
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

import psutil
import pytest
import pytest_asyncio

from runtime.settings import PREFIX
from tests.support.running import started_on

COMMAND = Path(sys.executable).with_name("gitring")
PATIENCE = 75.0


class RunningStack:
    """One `gitring up` on `folder`. `said` holds the lines that it has printed so far."""

    def __init__(self, folder: Path, process: asyncio.subprocess.Process) -> None:
        self.folder = folder
        self.process = process
        self.said: list[str] = []
        self._news = asyncio.Condition()
        self._ended = False
        self._killed_at: dict[str, int] = {}
        self._reading = asyncio.create_task(self._read())

    async def _read(self) -> None:
        assert self.process.stdout
        while text := (await self.process.stdout.readline()).decode():
            async with self._news:
                self.said.append(text.rstrip("\n"))
                self._news.notify_all()
        async with self._news:
            self._ended = True
            self._news.notify_all()

    async def line(self, begins: str, after: int = 0) -> str:
        """The first line from the `after`-th on that begins so; fails when the process ends without it."""

        def found() -> str | None:
            return next((line for line in self.said[after:] if line.startswith(begins)), None)

        async with asyncio.timeout(PATIENCE), self._news:
            await self._news.wait_for(lambda: found() is not None or self._ended)
        text = found()
        assert text is not None, f"it ended without {begins!r}; it said {self.said}"
        return text

    @property
    def connection(self) -> dict[str, Any]:
        """The connection file as it is now."""
        content: dict[str, Any] = json.loads((self.folder / "connection.json").read_text())
        return content

    def pids(self) -> dict[str, int]:
        """The process ids by name: gateway, worker, temporal, nats, postgres."""
        found: dict[str, int] = self.connection["pids"]
        return found

    def kill(self, name: str, number: int = signal.SIGKILL) -> None:
        """Send a signal to one process; remember where its restart will be announced."""
        self._killed_at[name] = len(self.said)
        os.kill(self.pids()[name], number)

    async def wait_restarted(self, name: str) -> None:
        """Return once `up` has said that the process killed last under this name is ready again."""
        await self.line(f"{name} is ready again", self._killed_at[name])

    def log(self, name: str) -> str:
        """What one process has logged."""
        return (self.folder / "logs" / f"{name}.log").read_text(errors="replace")

    async def stop(self) -> int:
        """Ask it to stop as Ctrl-C does; the exit code."""
        if self.process.returncode is None:
            self.process.send_signal(signal.SIGINT)
        async with asyncio.timeout(PATIENCE):
            code = await self.process.wait()
            await self._reading
        return code


@asynccontextmanager
async def running_stack(folder: Path, **settings: object) -> AsyncIterator[RunningStack]:
    """`gitring up` on `folder` with free ports, ready; stopped cleanly at the end.

    `settings` are fields of `runtime.settings.Settings`, handed over as environment variables.
    """
    process = await asyncio.create_subprocess_exec(
        *(*_tied(), str(COMMAND), "up", "--data-dir", str(folder), "--port", "0"),
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
        env=environment(**settings),
        # A Ctrl-C at the tests is for the tests: they stop the stack themselves.
        start_new_session=True,
    )
    stack = RunningStack(folder, process)
    try:
        await stack.line("Stop it with")
        yield stack
        assert await stack.stop() == 0, stack.said
        assert started_on(folder) == [], "a clean stop leaves nothing running"
    finally:
        await stack.stop()
        for leftover in started_on(folder):
            with suppress(psutil.NoSuchProcess):
                leftover.kill()


def _tied() -> tuple[str, ...]:
    """A launcher after which the stack is asked to end when these tests are killed, where there is one."""
    launcher = shutil.which("setpriv")
    return (launcher, "--pdeathsig", "TERM", "--") if launcher else ()


def environment(**settings: object) -> dict[str, str]:
    """This process's environment without any gitring setting of its own, and with these."""
    plain = {name: value for name, value in os.environ.items() if not name.startswith(PREFIX)}
    return plain | {PREFIX + name.upper(): str(value) for name, value in settings.items()}


@pytest_asyncio.fixture(scope="session")
async def stack(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[RunningStack]:
    """The session's stack, for tests that do it no harm: they make projects of their own."""
    async with running_stack(tmp_path_factory.mktemp("stack") / "data") as running:
        yield running


@pytest_asyncio.fixture(scope="session")
async def broken(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[RunningStack]:
    """Another stack, for the tests that break one: each waits until all is ready again."""
    async with running_stack(tmp_path_factory.mktemp("broken") / "data") as running:
        yield running
