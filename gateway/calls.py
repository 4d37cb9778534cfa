"""One call of one tool, whichever door it came through: bounded in time, whole once begun, ended by a stop."""

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable
from contextlib import asynccontextmanager
from typing import Any, TypeVar

from pydantic import BaseModel

from gateway.errors import refusal_of
from gateway.limits import Limits
from gateway.metrics import Metrics
from gateway.surface import Operation, Surface, operation_of
from protocol.asks import AsksInput
from protocol.intents import WaitInput
from protocol.projects import Caller
from protocol.refusals import Refused, busy, outcome_unknown
from protocol.tools import Tool
from protocol.wire import visible_json
from storage.sql.pool import OutcomeUnknown, RecordBusy

log = logging.getLogger(__name__)
T = TypeVar("T")

Held = WaitInput | AsksInput
"""Inputs of calls that are held until there is something to say."""


class Stop:
    """Ends what is open when the server is told to stop, so that a restart takes moments and not a wait's length."""

    def __init__(self, told: asyncio.Event) -> None:
        self._told = told
        self._open: set[asyncio.Timeout] = set()

    @asynccontextmanager
    async def open_until(self, seconds: float | None) -> AsyncIterator[None]:
        """A block that ends with TimeoutError after `seconds` (None: never) or at the stop, whichever is first."""
        async with asyncio.timeout(0 if self._told.is_set() else seconds) as bound:
            self._open.add(bound)
            try:
                yield
            finally:
                self._open.discard(bound)

    @property
    def stopping(self) -> bool:
        """True once the server was told to stop."""
        return self._told.is_set()

    async def watch(self) -> None:
        """Waits for the stop and ends every open block; run it for the life of the server."""
        await self._told.wait()
        now = asyncio.get_running_loop().time()
        for bound in self._open:
            bound.reschedule(now)


class Calls:
    """Runs tools for MCP and REST alike."""

    def __init__(self, surface: Surface, stop: Stop, limits: Limits, metrics: Metrics) -> None:
        self._surface = surface
        self._stop = stop
        self._limits = limits
        self._metrics = metrics
        self._writes: set[asyncio.Task[Any]] = set()

    async def run(self, tool: Tool, caller: Caller, given: BaseModel) -> BaseModel:
        """The answer of `tool`; raises Refused."""
        outcome = "internal_error"
        try:
            answer = await self._run(tool, caller, given)
            outcome = "ok"
            return answer
        except Refused as problem:
            outcome = problem.refusal.code
            raise
        except asyncio.CancelledError:
            outcome = "left"
            raise
        finally:
            self._metrics.tool_called(tool.name, outcome)

    async def _run(self, tool: Tool, caller: Caller, given: BaseModel) -> BaseModel:
        try:
            return await self._answer(tool, caller, given)
        except RecordBusy as problem:
            raise busy("The record") from problem

    async def _answer(self, tool: Tool, caller: Caller, given: BaseModel) -> BaseModel:
        operation = operation_of(self._surface, tool)
        if isinstance(given, Held):
            return await self._wait(operation, caller, given)
        if not tool.writes:
            return await self.read(operation(caller, given))
        repeatable = getattr(given, "request_id", None) is not None
        try:
            return await self.finish(operation(caller, given))
        except (TimeoutError, OutcomeUnknown) as problem:
            raise outcome_unknown(tool.name, repeatable) from problem

    async def read(self, answer: Awaitable[T]) -> T:
        """The result of `answer`; refuses `busy` when it takes too long."""
        try:
            async with asyncio.timeout(self._limits.call_sec):
                return await answer
        except TimeoutError as problem:
            raise busy("gitring") from problem

    async def _wait(self, operation: Operation, caller: Caller, given: Held) -> BaseModel:
        try:
            async with self._stop.open_until(given.seconds + self._limits.wait_grace_sec):
                return await operation(caller, given)
        except TimeoutError as problem:
            if not self._stop.stopping:
                raise busy("The wait") from problem
        # The server stops: say where things stand, as an empty wait does, and let the client call again.
        return await self.read(operation(caller, given.for_seconds(0)))

    async def finish(self, write: Awaitable[T]) -> T:
        """The result of `write`, which goes on to its end even when its caller leaves or TimeoutError is raised."""
        task = asyncio.ensure_future(write)
        self._writes.add(task)
        task.add_done_callback(self._writes.discard)
        try:
            async with asyncio.timeout(self._limits.call_sec):
                return await asyncio.shield(task)
        except (asyncio.CancelledError, TimeoutError):
            if not task.done():
                task.add_done_callback(_ended_alone)
            raise

    async def drain(self) -> None:
        """Waits, for a bounded time, until the writes under way have ended."""
        if self._writes:
            await asyncio.wait(self._writes, timeout=self._limits.drain_sec)


def _ended_alone(task: asyncio.Task[Any]) -> None:
    problem = None if task.cancelled() else task.exception()
    if isinstance(problem, Exception) and not isinstance(problem, Refused):
        refusal_of(problem)  # logs it: nobody is left to be told


def json_of(answer: BaseModel) -> bytes:
    """An answer as the wire shows it."""
    return visible_json(answer.model_dump_json(by_alias=True)).encode()


def wait_cut(given: Held, most: int) -> Held:
    """The wait, cut to `most` seconds."""
    return given.for_seconds(min(given.seconds, most))
