"""One read for many askers: a thousand waiters rung by one event look in the record once or twice.

An asker may join a read that has not begun, never one that has: that one may have looked before the
event the asker was rung for.
"""

import asyncio
from collections.abc import Awaitable, Callable, Hashable
from typing import Generic, TypeVar

K = TypeVar("K", bound=Hashable)
T = TypeVar("T")

AT_ONCE = 8


class Coalesced(Generic[K, T]):
    """`read(key)`, shared. At most one read per key and `at_once` reads in all run at a time.

    `at_once` keeps thousands of waiters rung by one reconnect from queueing at the record's pool, where
    they would time out; choose it below the pool's size.
    """

    def __init__(self, read: Callable[[K], Awaitable[T]], *, at_once: int = AT_ONCE) -> None:
        self._read = read
        self._slots = asyncio.Semaphore(at_once)
        self._gathering: dict[K, asyncio.Task[T]] = {}
        self._running: dict[K, asyncio.Task[T]] = {}

    async def __call__(self, key: K) -> T:
        """The answer of a read of `key` that began after this call; its exception, if it raised one.

        Cancelling one asker leaves the read to the others.
        """
        shared = self._gathering.get(key)
        if shared is None or shared.done():
            shared = asyncio.create_task(self._share(key, self._running.get(key)))
            shared.add_done_callback(_look_at)
            self._gathering[key] = shared
        return await asyncio.shield(shared)

    async def _share(self, key: K, before: "asyncio.Task[T] | None") -> T:
        if before is not None:
            await asyncio.wait([before])
        async with self._slots:
            own = self._running[key] = self._gathering.pop(key)
            try:
                return await self._read(key)
            finally:
                if self._running.get(key) is own:
                    del self._running[key]


def _look_at(task: "asyncio.Task[T]") -> None:
    """A read whose askers were all cancelled may fail unseen; that is no news to anybody."""
    if not task.cancelled():
        task.exception()
