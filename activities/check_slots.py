"""What the checks of one host share: its slots, and the runs that are under way."""

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable, Hashable
from contextlib import asynccontextmanager
from typing import Generic, TypeVar

Result = TypeVar("Result")


class Slots:
    """A weighted semaphore. Whoever asks first is served first, so that a wide check is never passed over for ever."""

    def __init__(self, total: int) -> None:
        if total < 1:
            raise ValueError("a host needs one check slot at least")
        self._total = total
        self._free = total
        self._waiting: deque[tuple[int, asyncio.Future[None]]] = deque()

    @asynccontextmanager
    async def taken(self, count: int) -> AsyncIterator[None]:
        """Hold `count` slots, or all of them when there are fewer."""
        wanted = min(count, self._total)
        await self._take(wanted)
        try:
            yield
        finally:
            self._give(wanted)

    async def _take(self, wanted: int) -> None:
        if not self._waiting and wanted <= self._free:
            self._free -= wanted
            return
        turn = asyncio.get_running_loop().create_future()
        place = (wanted, turn)
        self._waiting.append(place)
        try:
            await turn
        except asyncio.CancelledError:
            if turn.done() and not turn.cancelled():
                self._give(wanted)  # the slots came together with the cancel
            else:
                self._waiting.remove(place)
                self._give(0)  # those behind may fit now
            raise

    def _give(self, count: int) -> None:
        self._free += count
        while self._waiting and self._waiting[0][0] <= self._free:
            wanted, turn = self._waiting.popleft()
            self._free -= wanted
            turn.set_result(None)


class Flights(Generic[Result]):
    """Runs under way by what their result hangs on: who wants the same waits for it instead of doing it again."""

    def __init__(self) -> None:
        self._under_way: dict[Hashable, asyncio.Future[Result]] = {}

    async def join(self, key: Hashable, work: Callable[[], Awaitable[Result]]) -> tuple[Result, bool]:
        """The result, and whether this caller's `work` made it.

        When the one who does it is cancelled or fails, the next one in line does it.
        """
        while (flight := self._under_way.get(key)) is not None:
            await asyncio.wait([flight])
            if not flight.cancelled():
                return flight.result(), False
        flight = asyncio.get_running_loop().create_future()
        self._under_way[key] = flight
        try:
            result = await work()
        except BaseException:
            flight.cancel()
            raise
        finally:
            del self._under_way[key]
        flight.set_result(result)
        return result, True
