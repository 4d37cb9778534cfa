"""One call of one operation of this face, whichever door it came through: bounded, whole once begun, counted."""

import asyncio
from collections.abc import AsyncIterator
from typing import Any

from pydantic import BaseModel

from gateway.calls import Calls, Stop
from gateway.foremerge.surface import ForemergeSurface, Visit, operation_of
from gateway.metrics import Metrics
from protocol.events import Event
from protocol.foremerge.errors import ErrorCode, foremerge_refusal, in_foremerge_words
from protocol.foremerge.routes import ROUTES
from protocol.refusals import Refused, busy
from storage.sql.pool import OutcomeUnknown, RecordBusy

READS = frozenset(route.operation for route in ROUTES if route.method == "GET") | {
    "check_conflicts",
    "check_inferring",
    "binding",
}
"""Operations that change nothing, so that one may be given up half-way."""

_LONG = ("run_verification", "run_command")
_UNSURE = "Read it again before you repeat the call: get_intent and get_changeset say what was kept."


class ForemergeRuns:
    """Runs operations for both doors."""

    def __init__(self, surface: ForemergeSurface, calls: Calls, stop: Stop, metrics: Metrics) -> None:
        self.surface = surface
        self._calls = calls
        self.stop = stop
        self._metrics = metrics

    async def run(self, name: str, visit: Visit, given: BaseModel) -> Any:
        """The answer of operation `name`; raises Refused in this protocol's words."""
        outcome = str(ErrorCode.INTERNAL_ERROR)
        try:
            answer = await self._answer(name, visit, given)
            outcome = "ok"
            return answer
        except Refused as problem:
            told = in_foremerge_words(problem.refusal)
            outcome = told.code
            raise Refused(told) from problem
        except asyncio.CancelledError:
            outcome = "left"
            raise
        finally:
            self._metrics.tool_called(f"foremerge {name}", outcome)

    async def live_events(self, visit: Visit, after_seq: int) -> AsyncIterator[Event]:
        """The project's events as they are committed; raises Refused in this protocol's words."""
        events = self.surface.live_events(visit, after_seq)
        try:
            async for event in events:
                yield event
        except RecordBusy as problem:
            raise Refused(in_foremerge_words(busy("The record").refusal)) from problem
        except Refused as problem:
            raise Refused(in_foremerge_words(problem.refusal)) from problem
        finally:
            close = getattr(events, "aclose", None)
            if close is not None:
                await close()

    async def _answer(self, name: str, visit: Visit, given: BaseModel) -> Any:
        try:
            if name in READS:
                return await self._calls.read(operation_of(self.surface, name)(visit, given))
            return await self._write(name, visit, given)
        except RecordBusy as problem:
            raise busy("The record") from problem

    async def _write(self, name: str, visit: Visit, given: BaseModel) -> Any:
        work = operation_of(self.surface, name)(visit, given)
        try:
            if name not in _LONG:
                return await self._calls.finish(work)
            # Its workflow goes on to the end whoever listens, so neither a client that leaves nor a stop is held up.
            async with self.stop.open_until(None):
                return await work
        except (TimeoutError, OutcomeUnknown) as problem:
            raise foremerge_refusal(
                ErrorCode.NOT_READY, f"{name} did not end in time; it may still be done.", _UNSURE
            ) from problem
