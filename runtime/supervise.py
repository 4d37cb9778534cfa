"""Keeps one process running: starts it, says when it ended, starts it again, and knows when to give up."""

import asyncio
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from runtime.embedded.process import Child, Command, ServerFailed, log_tail, outcome, spawn, until_ready


class Service(Protocol):
    """Something that runs as one process and can say when it is ready."""

    @property
    def name(self) -> str:
        """One word for people."""

    @property
    def start_limit(self) -> float:
        """Seconds from start to ready, at most."""

    async def prepare(self) -> None:
        """Make its folder and files; called before each start."""

    def command(self) -> Command:
        """What to run; called once for each start."""

    async def answer(self) -> None:
        """Return once the started process is ready; it may wait for ever, the caller bounds it."""


class GaveUp(Exception):
    """A process ended too many times in a row; the text holds the end of its log."""


@dataclass(frozen=True)
class BackOff:
    """Pauses before restarts, in seconds: doubling from `first` to `longest`.

    A run of `steady` seconds starts the count anew; after `attempts` failures in a row we give up.
    """

    first: float = 0.1
    longest: float = 10.0
    steady: float = 30.0
    attempts: int = 12

    def pause(self, failures: int) -> float:
        """The pause after the `failures`-th failure in a row."""
        return min(self.longest, self.first * 2.0 ** (failures - 1))


class Supervised:
    """One service and the process it runs as at the moment."""

    def __init__(
        self,
        service: Service,
        *,
        say: Callable[[str], None],
        started: Callable[["Supervised"], None],
        back_off: BackOff,
    ) -> None:
        """`say` gets one line for people; `started` is called as soon as there is a new process."""
        self.service = service
        self.child: Child | None = None
        self.restarts = 0
        self._say = say
        self._started = started
        self._back_off = back_off
        self._stopping = asyncio.Event()

    @property
    def name(self) -> str:
        """The service's name."""
        return self.service.name

    async def start(self) -> None:
        """Start it and wait until it is ready; ServerFailed when it is not."""
        try:
            await self.service.prepare()
            self.child = await spawn(self.service.command())
        except OSError as problem:
            raise ServerFailed(f"{self.name} cannot be started: {problem}") from problem
        self._started(self)
        try:
            await until_ready(self.child, self.service.answer(), self.service.start_limit)
        except ServerFailed:
            await self.child.stop(grace=2)
            raise

    async def keep(self) -> None:
        """After `start`: start it again whenever it ends, until `stop`. Raises GaveUp."""
        failures = 0
        while True:
            since = time.monotonic()
            how = await self._until_it_ends()
            if self._stopping.is_set():
                return
            failures = 1 if time.monotonic() - since >= self._back_off.steady else failures + 1
            problem = await self._again(how, failures)
            while problem and not self._stopping.is_set():
                failures += 1
                problem = await self._again(problem, failures)

    async def stop(self, grace: float = 15) -> None:
        """End it cleanly, or at once after `grace` seconds, and start it no more."""
        self._stopping.set()
        if self.child and not await self.child.stop(grace):
            self._say(f"{self.name} did not stop in {grace:g} s and was ended")

    def kill(self) -> None:
        """End it at once, and start it no more."""
        self._stopping.set()
        if self.child:
            self.child.kill()

    async def _until_it_ends(self) -> str:
        assert self.child, "keep() comes after start()"
        how = outcome(await self.child.wait())
        self.child.kill()  # what it started and left behind
        return how

    async def _again(self, reason: str, failures: int) -> str | None:
        """Pause and start once more; why that failed, or None."""
        if failures > self._back_off.attempts:
            raise GaveUp(
                f"{self.name} failed {failures} times in a row, the last time with {reason}{self._log_tail()}"
            )
        self.restarts += 1
        self._say(f"{self.name} ended ({reason}), restart {self.restarts}")
        if await self._stop_comes_within(self._back_off.pause(failures)):
            return None
        try:
            await self.start()
        except ServerFailed as problem:
            return problem.reason
        self._say(f"{self.name} is ready again")
        return None

    def _log_tail(self) -> str:
        return log_tail(self.child.command.log) if self.child else ""

    async def _stop_comes_within(self, seconds: float) -> bool:
        try:
            await asyncio.wait_for(self._stopping.wait(), seconds)
        except TimeoutError:
            return False
        return True
