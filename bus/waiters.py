"""Who waits for news, and how an event wakes exactly them.

One subscription per process hears every event; a dictionary finds the waiters of its intent and of its
project. A ring carries nothing: whoever is rung looks in the record.
"""

import asyncio
from collections.abc import Collection, Iterable
from contextlib import AsyncExitStack
from types import TracebackType
from typing import Literal

import structlog
from nats.aio.msg import Msg

from bus.connect import Link
from bus.subjects import EVERYTHING, parse

_log = structlog.get_logger("bus")

_Key = tuple[str, str | None]


class Waiter:
    """One held wait. Use it as a context manager, entered before the record is read."""

    __slots__ = ("_bell", "_keys", "_waiters")

    def __init__(self, waiters: "Waiters", keys: Collection[_Key]) -> None:
        self._waiters = waiters
        self._keys = keys
        self._bell = asyncio.Event()

    def __enter__(self) -> "Waiter":
        self._waiters._add(self, self._keys)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._waiters._remove(self, self._keys)

    def ring(self) -> None:
        """Wake this waiter, or let its next `rung` return at once."""
        self._bell.set()

    async def rung(self, deadline: float) -> bool:
        """True when there was a ring since the last call; False at `deadline` (the loop's clock).

        Also False, at once, when the process stops waiting. Read the record after either answer.
        """
        if self._waiters.stopped or asyncio.get_running_loop().time() >= deadline:
            return False
        try:
            async with asyncio.timeout_at(deadline):
                await self._bell.wait()
        except TimeoutError:
            return False
        self._bell.clear()
        return not self._waiters.stopped


class Waiters:
    """All waiters of one process, on one subscription."""

    def __init__(self, link: Link) -> None:
        self._link = link
        self._by_key: dict[_Key, set[Waiter]] = {}
        self._held = 0
        self._state: Literal["new", "listening", "stopped"] = "new"
        self._undo = AsyncExitStack()

    @property
    def held(self) -> int:
        """How many waiters are registered now."""
        return self._held

    @property
    def stopped(self) -> bool:
        """Whether waits end at once."""
        return self._state == "stopped"

    async def start(self) -> None:
        """Subscribe; on return no later event is missed. Raises nats.errors.Error when NATS is silent."""
        self._undo.callback(self._link.on_gap(self.ring_all))
        self._undo.push_async_callback(await self._link.subscribe(EVERYTHING, self._on_message))
        self._state = "listening"

    async def stop(self) -> None:
        """End every held wait now, so that a process can leave without waiting for its waiters."""
        self._state = "stopped"
        self.ring_all()
        await self._undo.aclose()

    def register(self, project_id: str, intent_ids: Collection[str] | None = None) -> Waiter:
        """A waiter for any event of these intents, or of the whole project when None.

        Raises RuntimeError before `start`: it would not hear a thing.
        """
        if self._state == "new":
            raise RuntimeError("start the waiters before registering one")
        if intent_ids is None:
            return Waiter(self, ((project_id, None),))
        return Waiter(self, tuple({(project_id, intent_id) for intent_id in intent_ids}))

    def ring(self, project_id: str, intent_id: str | None) -> None:
        """Wake the waiters of this intent and those of its project."""
        _ring(self._by_key.get((project_id, None), ()))
        if intent_id is not None:
            _ring(self._by_key.get((project_id, intent_id), ()))

    def ring_all(self) -> None:
        """Wake everybody: events may have passed unheard."""
        for waiters in self._by_key.values():
            _ring(waiters)

    async def _on_message(self, message: Msg) -> None:
        try:
            where = parse(message.subject)
        except ValueError:
            _log.warning("bus.foreign_subject", subject=message.subject[:200])
            return
        self.ring(where.project_id, where.intent_id)

    def _add(self, waiter: Waiter, keys: Iterable[_Key]) -> None:
        self._held += 1
        for key in keys:
            self._by_key.setdefault(key, set()).add(waiter)

    def _remove(self, waiter: Waiter, keys: Iterable[_Key]) -> None:
        self._held -= 1
        for key in keys:
            left = self._by_key[key]
            left.remove(waiter)
            if not left:
                del self._by_key[key]


def _ring(waiters: Iterable[Waiter]) -> None:
    for waiter in waiters:
        waiter.ring()
