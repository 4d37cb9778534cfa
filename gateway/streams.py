"""The events of a project as server-sent events: open until the client leaves or the server stops."""

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

from starlette.types import Send

from gateway.calls import Stop
from gateway.held import EVENTS, HeldAnswer, part, start
from gateway.limits import Limits
from protocol.events import Event
from protocol.wire import visible_json

_RETRY_MS = 1000


def event_stream(
    events: AsyncIterator[Event], shown: Callable[[Event], str], stop: Stop, limits: Limits
) -> HeldAnswer:
    """Each event as it is committed: `id` is the seq, `event` the type, `data` what `shown` makes of it, as JSON."""

    async def work(send: Send) -> None:
        try:
            async with stop.open_until(None), _closed_after(events):
                async for event in events:
                    await send(start(EVENTS))
                    await send(part(_frame(event, shown(event))))
        except TimeoutError:
            if not stop.stopping:
                raise
        await send(start(EVENTS))
        await send(part(b"", more=False))

    return HeldAnswer(work, EVENTS, limits)


@asynccontextmanager
async def _closed_after(events: AsyncIterator[Event]) -> AsyncIterator[None]:
    try:
        yield
    finally:
        close = getattr(events, "aclose", None)
        if close is not None:
            await close()


def _frame(event: Event, data: str) -> bytes:
    return (
        f"id: {event.seq}\nevent: {event.event_type}\nretry: {_RETRY_MS}\ndata: {visible_json(data)}\n\n"
    ).encode()
