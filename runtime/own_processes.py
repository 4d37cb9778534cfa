"""The gateway and the worker as `gitring up` runs them: a process each, set up through the environment."""

import asyncio
import os
import sys
from collections.abc import Sequence
from pathlib import Path

import httpx2

from runtime.embedded.process import Command, answering, until_connected
from runtime.settings import Settings

START_SECONDS = 60.0
ANSWER_SECONDS = 5.0


class NotReady(Exception):
    """The gateway listens but does not say that it is ready."""


def own_command(process: str) -> tuple[str, ...]:
    """The command line of one of our own processes: gateway, worker, relay or migrate."""
    return (sys.executable, "-m", "runtime", process)


class Gateway:
    """Ready when `GET /readyz` answers 200."""

    name = "gateway"
    start_limit = START_SECONDS

    def __init__(self, settings: Settings, argv: Sequence[str], log: Path) -> None:
        self._settings = settings
        self._argv = tuple(argv)
        self._log = log

    async def prepare(self) -> None:
        """Nothing to make."""

    def command(self) -> Command:
        """Our own process with the finished settings."""
        return Command(self.name, self._argv, self._log, own_environment(self._settings))

    async def answer(self) -> None:
        """Return once it is ready."""
        at = self._settings.with_values(public_url=None).url
        host, port = httpx2.URL(at).host, self._settings.port
        await until_connected(host, port)
        async with httpx2.AsyncClient(base_url=at, timeout=ANSWER_SECONDS, trust_env=False) as client:

            async def ask() -> None:
                answer = await client.get("/readyz")
                if answer.status_code != 200:
                    raise NotReady(answer.status_code)

            await answering(ask, NotReady, httpx2.TransportError)


class Worker:
    """Ready when it writes `ready` to the open file named by GITRING_READY_FD."""

    name = "worker"
    start_limit = START_SECONDS

    def __init__(self, settings: Settings, argv: Sequence[str], log: Path) -> None:
        self._settings = settings
        self._argv = tuple(argv)
        self._log = log
        self._pipe: tuple[int, int] | None = None

    async def prepare(self) -> None:
        """A pipe of its own for each start."""
        self._close_pipe()
        self._pipe = os.pipe()

    def command(self) -> Command:
        """Our own process with the finished settings and the writing end of the pipe."""
        assert self._pipe, "prepare() comes first"
        writing = self._pipe[1]
        env = own_environment(self._settings.with_values(ready_fd=writing))
        return Command(self.name, self._argv, self._log, env, pass_fds=(writing,))

    async def answer(self) -> None:
        """Return once it has said so."""
        assert self._pipe, "prepare() comes first"
        reading, writing = self._pipe
        self._pipe = None
        os.close(writing)
        reader = asyncio.StreamReader()
        transport, _ = await asyncio.get_running_loop().connect_read_pipe(
            lambda: asyncio.StreamReaderProtocol(reader), os.fdopen(reading, "rb")
        )
        try:
            if await reader.readline() != b"ready\n":
                # It closed the pipe or is ending: how the process ends says more than we could.
                await asyncio.Event().wait()
        finally:
            transport.close()

    def _close_pipe(self) -> None:
        for descriptor in self._pipe or ():
            os.close(descriptor)
        self._pipe = None


def own_environment(settings: Settings) -> dict[str, str]:
    """The caller's environment with these settings laid over it."""
    return {**os.environ, **settings.environment()}
