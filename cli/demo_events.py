"""A service that listens to NATS beside the demo: which events of the ledger reached it."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import nats
from nats.aio.msg import Msg

from cli.demo_stack import StepFailed

_NEWS_SEC = 15.0


class Heard:
    """The events of the ledger that NATS brought."""

    def __init__(self) -> None:
        self.seqs: set[int] = set()
        self._news = asyncio.Condition()

    async def hear(self, message: Msg) -> None:
        """One message: its seq is in a header."""
        async with self._news:
            self.seqs.add(int((message.headers or {})["Gitring-Seq"]))
            self._news.notify_all()

    async def until(self, seq: int) -> None:
        """Return when every event up to `seq` was heard."""
        try:
            async with asyncio.timeout(_NEWS_SEC), self._news:
                await self._news.wait_for(lambda: self.seqs >= set(range(1, seq + 1)))
        except TimeoutError:
            missing = sorted(set(range(1, seq + 1)) - self.seqs)
            raise StepFailed(f"NATS never brought the events {missing}") from None


@asynccontextmanager
async def listening(connection: dict[str, Any]) -> AsyncIterator[Heard]:
    """Hear every event from now on, as any service would."""
    heard = Heard()
    client = await nats.connect(connection["nats"], name="gitring-demo")
    try:
        await client.subscribe("gitring.v1.>", cb=heard.hear)
        await client.flush()
        yield heard
    finally:
        await client.close()
