"""Who waits for news, and how an event wakes exactly them.

One subscription per process hears every event; a dictionary finds the waiters of its intent and of its
project. A ring carries nothing: whoever is rung looks in the record. An event by which somebody lost the right to a
project wakes all who wait in it, in doubt: they first look whether they still may.
"""

import asyncio
from collections.abc import Collection, Iterable
from contextlib import AsyncExitStack
from types import TracebackType
from typing import Literal

import structlog
from nats.aio.msg import Msg

from bus.connect import Link
from bus.live import ALL_LIVE, parse_live
from bus.subjects import EVERYTHING, parse
from protocol.events import EventType

_log = structlog.get_logger("bus")

_Key = tuple[str, str | None]

_TAKES_RIGHTS = frozenset({EventType.MEMBER_REMOVED, EventType.TOKEN_REVOKED})


class Waiter:
    """One held wait. Use it as a context manager, entered before the record is read."""

    __slots__ = ("_bell", "_doubted", "_keys", "_waiters")

    def __init__(self, waiters: "Waiters", keys: Collection[_Key]) -> None:
        self._waiters = waiters
        self._keys = keys
        self._bell = asyncio.Event()
        self._doubted = False

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

    def doubt(self) -> None:
        """Wake this waiter, which may have lost the right to what it waits for."""
        self._doubted = True
        self._bell.set()

    def in_doubt(self) -> bool:
        """Whether there was a doubt since the last call: look whether the waiter still may, before anything else."""
        doubted, self._doubted = self._doubted, False
        return doubted

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
        self._undo.callback(self._link.on_gap(self.doubt_all))
        self._undo.push_async_callback(await self._link.subscribe(EVERYTHING, self._on_message))
        self._undo.push_async_callback(await self._link.subscribe(ALL_LIVE, self._on_live))
        self._state = "listening"

    async def stop(self) -> None:
        """End every held wait now, so that a process can leave without waiting for its waiters."""
        self._state = "stopped"
        self.ring_all()
        await self._undo.aclose()

    def register(
        self, project_id: str, intent_ids: Collection[str] | None = None, *, person_id: str | None = None
    ) -> Waiter:
        """A waiter for any event of these intents, or of the whole project when None.

        The id of a running check among `intent_ids` stands for its output. With `person_id`, `doubt_person` wakes it
        too. Raises RuntimeError before `start`: it would not hear a thing.
        """
        if self._state == "new":
            raise RuntimeError("start the waiters before registering one")
        keys: set[_Key] = {(project_id, intent_id) for intent_id in intent_ids or ()}
        if intent_ids is None:
            keys.add((project_id, None))
        if person_id is not None:
            keys.add((person_id, None))
        return Waiter(self, tuple(keys))

    def ring(self, project_id: str, intent_id: str | None) -> None:
        """Wake the waiters of this intent and those of its project."""
        _ring(self._by_key.get((project_id, None), ()))
        if intent_id is not None:
            _ring(self._by_key.get((project_id, intent_id), ()))

    def ring_all(self) -> None:
        """Wake everybody."""
        for waiters in self._by_key.values():
            _ring(waiters)

    def doubt_all(self) -> None:
        """Wake everybody in doubt: events may have passed unheard, also those that take rights away."""
        for waiters in self._by_key.values():
            _doubt(waiters)

    def doubt_project(self, project_id: str) -> None:
        """Wake all who wait in a project in doubt. It goes over all that is waited for: such events are rare."""
        for (owner, _), waiters in self._by_key.items():
            if owner == project_id:
                _doubt(waiters)

    def doubt_person(self, person_id: str) -> None:
        """Wake in doubt the waiters of this process that were registered with this person."""
        _doubt(self._by_key.get((person_id, None), ()))

    async def _on_message(self, message: Msg) -> None:
        try:
            where = parse(message.subject)
        except ValueError:
            _log.warning("bus.foreign_subject", subject=message.subject[:200])
            return
        if where.event_type in _TAKES_RIGHTS:
            self.doubt_project(where.project_id)
        self.ring(where.project_id, where.intent_id)

    async def _on_live(self, message: Msg) -> None:
        try:
            project_id, check_id = parse_live(message.subject)
        except ValueError:
            _log.warning("bus.foreign_subject", subject=message.subject[:200])
            return
        # Ids differ by their prefix, so a check's key is nobody else's.
        _ring(self._by_key.get((project_id, check_id), ()))

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


def _doubt(waiters: Iterable[Waiter]) -> None:
    for waiter in waiters:
        waiter.doubt()
