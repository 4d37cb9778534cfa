"""A service that listens on NATS to one project's events."""

import asyncio
import json
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any

import nats
from nats.js.api import ConsumerConfig, DeliverPolicy

from bus.stream import STREAM
from bus.subjects import filter_for
from tests.support.agent import Answer

PATIENCE = 30.0


def event_of(data: bytes) -> Answer:
    """The event of a message, as the record shows it: a message names its project too."""
    event: Answer = json.loads(data)
    assert event.pop("project_id").startswith("prj_")
    return event


class Listener:
    """Collects the events of one project as a subscriber hears them."""

    def __init__(self) -> None:
        self.events: list[Answer] = []
        self.subjects: list[str] = []
        self._news = asyncio.Condition()

    async def heard(self, message: Any) -> None:
        """Take one message."""
        async with self._news:
            self.events.append(event_of(message.data))
            self.subjects.append(message.subject)
            self._news.notify_all()

    async def until(self, seq: int) -> list[int]:
        """Every seq heard, in the order heard, once `seq` was among them."""
        async with asyncio.timeout(PATIENCE), self._news:
            await self._news.wait_for(lambda: any(event["seq"] >= seq for event in self.events))
        return [event["seq"] for event in self.events]


@asynccontextmanager
async def listening(connection: Mapping[str, Any], project_id: str) -> AsyncIterator[Listener]:
    """A plain subscriber of all events of one project."""
    link = await nats.connect(connection["nats"])
    listener = Listener()
    try:
        await link.subscribe(filter_for(project_id), cb=listener.heard)
        await link.flush()
        yield listener
    finally:
        await link.close()


async def published(connection: Mapping[str, Any], project_id: str, last_seq: int) -> list[Answer]:
    """The project's events as the stream keeps them, in its order, read until `last_seq` is among them."""
    link = await nats.connect(connection["nats"])
    found: list[Answer] = []
    try:
        stream = link.jetstream()
        config = ConsumerConfig(deliver_policy=DeliverPolicy.ALL)
        consumer = await stream.subscribe(
            filter_for(project_id), stream=STREAM, ordered_consumer=True, config=config
        )
        async with asyncio.timeout(PATIENCE):
            while not found or max(event["seq"] for event in found) < last_seq:
                found.append(event_of((await consumer.next_msg(timeout=PATIENCE)).data))
    finally:
        await link.close()
    return found


def each_once_in_order(events: list[Answer]) -> list[int]:
    """The seqs after dropping repeats; a repeat is the same event, and the rest is in seq order."""
    known: dict[int, Answer] = {}
    for event in events:
        assert known.setdefault(event["seq"], event) == event
    assert list(known) == sorted(known)
    return list(known)
