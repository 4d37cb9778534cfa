"""What tests of the bus tell again and again: a server that goes and comes, a relay that runs, what the stream holds."""

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

import asyncpg
from nats.aio.msg import Msg
from nats.js.api import AckPolicy, ConsumerConfig

from bus.connect import Link
from bus.relay import Relay
from bus.stream import STREAM
from bus.subjects import filter_for
from runtime.embedded.nats import Nats
from runtime.embedded.process import Child, spawn, until_ready


class OwnNats:
    """A NATS server that a test stops and starts; its port and its store stay."""

    def __init__(self, server: Nats) -> None:
        self._server = server
        self._child: Child | None = None

    @property
    def url(self) -> str:
        return self._server.url

    async def start(self) -> None:
        self._child = await spawn(self._server.command())
        await until_ready(self._child, self._server.answer(), self._server.start_limit)

    async def stop(self) -> None:
        if self._child is not None:
            await self._child.stop()

    async def kill(self) -> None:
        """As a crash: no goodbye to clients, nothing flushed."""
        assert self._child is not None
        self._child.kill()
        await self._child.wait()


class Gate:
    """A port in front of Postgres that a test can shut: open connections break, new ones are refused."""

    def __init__(self, dsn: str) -> None:
        self._host, self._port = dsn.split("@")[1].split("/")[0].rsplit(":", 1)
        self._dsn = dsn
        self._server: asyncio.Server | None = None
        self._pipes: set[asyncio.Task[None]] = set()
        self._own_port = 0

    @property
    def dsn(self) -> str:
        return self._dsn.replace(f"{self._host}:{self._port}", f"127.0.0.1:{self._own_port}")

    async def open(self) -> None:
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", self._own_port)
        self._own_port = self._server.sockets[0].getsockname()[1]

    async def shut(self) -> None:
        assert self._server is not None
        self._server.close()
        for pipe in self._pipes:
            pipe.cancel()
        await asyncio.gather(*self._pipes, return_exceptions=True)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        there_reader, there_writer = await asyncio.open_connection(self._host, int(self._port))
        for source, target in ((reader, there_writer), (there_reader, writer)):
            pipe = asyncio.create_task(_pour(source, target))
            self._pipes.add(pipe)
            pipe.add_done_callback(self._pipes.discard)


async def _pour(source: asyncio.StreamReader, target: asyncio.StreamWriter) -> None:
    try:
        while data := await source.read(65536):
            target.write(data)
            await target.drain()
    except ConnectionError:
        pass
    finally:
        target.transport.abort()


@asynccontextmanager
async def running(*relays: Relay) -> AsyncIterator[list["asyncio.Task[None]"]]:
    """The relays run for the length of the block; one that ended by an error fails the test."""
    tasks = [asyncio.create_task(relay.run()) for relay in relays]
    try:
        yield tasks
    finally:
        for task in tasks:
            task.cancel()
        ends = await asyncio.gather(*tasks, return_exceptions=True)
        assert all(isinstance(end, asyncio.CancelledError) for end in ends), ends


async def stored(link: Link, project_id: str) -> list[Msg]:
    """Every message the stream holds about the project, in stream order."""
    name = filter_for(project_id)
    info = await link.jetstream.stream_info(STREAM, subjects_filter=name)
    count = sum((info.state.subjects or {}).values())
    consumer = await link.jetstream.pull_subscribe(
        name, stream=STREAM, config=ConsumerConfig(ack_policy=AckPolicy.NONE)
    )
    messages: list[Msg] = []
    while len(messages) < count:
        messages += await consumer.fetch(min(100, count - len(messages)), timeout=10)
    await link.jetstream.delete_consumer(STREAM, (await consumer.consumer_info()).name)
    await consumer.unsubscribe()
    return messages


async def stored_seqs(link: Link, project_id: str) -> list[int]:
    """The seqs of the project's messages in the stream, in stream order, repeats included."""
    return [body(message)["seq"] for message in await stored(link, project_id)]


def first_deliveries(seqs: list[int]) -> list[int]:
    """`seqs` without its repeats."""
    return list(dict.fromkeys(seqs))


def body(message: Msg) -> dict[str, Any]:
    """A message's body as JSON."""
    decoded: dict[str, Any] = json.loads(message.data)
    return decoded


async def outbox_size(pool: asyncpg.Pool) -> int:
    """How many events wait to be published."""
    return int(await pool.fetchval("SELECT count(*) FROM outbox"))


async def turns_until(reached: Callable[[], bool]) -> None:
    """Let other tasks run until `reached`; no time passes, only turns of the loop."""
    while not reached():  # noqa: ASYNC110
        await asyncio.sleep(0)
