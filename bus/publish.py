"""Publishing a batch to JetStream at full speed without ever letting a later event overtake.

All messages are sent before the first ack is awaited. Each one after the first names the message it
must follow (`Nats-Expected-Last-Msg-Id`), so when the server loses or refuses one in the middle, it
refuses the rest of the batch too. A message the stream already has is acked as a duplicate before that
test, so a batch may be sent again whole or in part.

nats-py's own `publish_async` is not used: an ack that carries an error never reaches its future.
"""

import asyncio
import json
from collections.abc import Awaitable, Callable, Sequence
from itertools import count
from typing import Any, NamedTuple

from nats import errors
from nats.aio.msg import Msg

from bus.connect import Link
from bus.stream import headers_of, message_of
from bus.subjects import subject
from protocol.events import Event

ACK_SECONDS = 5.0

_FOLLOWS_HEADER = "Nats-Expected-Last-Msg-Id"
_NO_RESPONDERS = "503"


class NotStored(Exception):
    """A message is not in the stream, or not known to be."""


class NoStream(NotStored):
    """Nothing on the server takes the subject: the stream is missing, or JetStream is not ready yet."""


class Progress(NamedTuple):
    """How far a batch came: `acked` events from its start are stored; `problem` stopped the rest."""

    acked: int
    problem: NotStored | None


class Publisher:
    """Publishes on one link; hears its acks on one subscription of its own."""

    def __init__(self, link: Link) -> None:
        self._link = link
        self._numbers = count()
        self._open: dict[str, asyncio.Future[None]] = {}
        self._inbox = ""
        self._end: Callable[[], Awaitable[None]] | None = None

    @property
    def open_acks(self) -> int:
        """Acks awaited now."""
        return len(self._open)

    async def start(self) -> None:
        """Subscribe to the acks. Raises nats.errors.Error when the server does not answer."""
        self._inbox = self._link.client.new_inbox()
        self._end = await self._link.subscribe(f"{self._inbox}.*", self._on_ack)

    async def stop(self) -> None:
        """Hear no more acks."""
        if self._end is not None:
            await self._end()

    async def publish_in_order(self, rows: Sequence[tuple[str, Event]]) -> Progress:
        """Publish `rows` in their order and await the acks; send again what is beyond `acked`."""
        sent: list[asyncio.Future[None]] = []
        forget = self._link.on_lost(self._fail_all)
        try:
            unsent = await self._send(rows, sent)
            acked, refused = await _count_acked(sent)
            return Progress(acked, refused or unsent)
        finally:
            forget()
            _settle(sent)

    async def _send(
        self, rows: Sequence[tuple[str, Event]], sent: list[asyncio.Future[None]]
    ) -> NotStored | None:
        """Hand the batch to the connection; the problem that ended it early, if one did."""
        follows: str | None = None
        for project_id, event in rows:
            if not self._link.is_up:
                # nats-py would keep the message and send it after the reconnect, behind a gap.
                return NotStored("NATS is not connected")
            headers = headers_of(event)
            if follows is not None:
                headers[_FOLLOWS_HEADER] = follows
            name = subject(project_id, event.intent_id, event.event_type)
            token, ack = self._expect_ack()
            sent.append(ack)
            try:
                await self._link.client.publish(
                    name, message_of(project_id, event), reply=f"{self._inbox}.{token}", headers=headers
                )
            except errors.Error as problem:
                return NotStored(str(problem))
            follows = event.event_id
        return None

    def _expect_ack(self) -> tuple[str, asyncio.Future[None]]:
        token = str(next(self._numbers))
        ack: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._open[token] = ack
        ack.add_done_callback(lambda _: self._open.pop(token, None))
        return token, ack

    async def _on_ack(self, message: Msg) -> None:
        ack = self._open.get(message.subject.rpartition(".")[2])
        if ack is None or ack.done():
            return
        problem = _problem_in(message)
        if problem is None:
            ack.set_result(None)
        else:
            ack.set_exception(problem)

    def _fail_all(self) -> None:
        for ack in tuple(self._open.values()):
            if not ack.done():
                ack.set_exception(NotStored("the connection to NATS broke before the ack"))


async def _count_acked(sent: Sequence[asyncio.Future[None]]) -> tuple[int, NotStored | None]:
    acked = 0
    try:
        async with asyncio.timeout(ACK_SECONDS):
            for ack in sent:
                await ack
                acked += 1
    except NotStored as problem:
        return acked, problem
    except TimeoutError:
        return acked, NotStored(f"no ack within {ACK_SECONDS:g} s")
    return acked, None


def _settle(sent: Sequence[asyncio.Future[None]]) -> None:
    """Leave no ack open, and none whose error asyncio would report as unread."""
    for ack in sent:
        if not ack.done():
            ack.cancel()
        elif not ack.cancelled():
            ack.exception()


def _problem_in(message: Msg) -> NotStored | None:
    if message.headers and message.headers.get("Status") == _NO_RESPONDERS:
        return NoStream("nothing takes the subject")
    try:
        answer: Any = json.loads(message.data)
        problem = answer.get("error")
    except (ValueError, AttributeError):
        return NotStored("the ack is not one of JetStream's")
    return None if problem is None else NotStored(f"{problem.get('err_code')}: {problem.get('description')}")
