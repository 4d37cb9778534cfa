"""NATS with the deployment's configuration holds each user to its work."""

import asyncio
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import nats
import pytest
from nats.aio.client import Client
from nats.errors import NoRespondersError
from nats.errors import TimeoutError as NatsTimeout
from nats.js.api import ConsumerConfig, DeliverPolicy

from bus.connect import Link, connect
from bus.live import LiveRinger
from bus.publish import Publisher
from bus.stream import STREAM, ensure_stream
from bus.subjects import filter_for, subject
from bus.waiters import Waiters
from protocol.events import Event
from protocol.ids import new_id
from runtime.embedded.nats import beside_python
from runtime.embedded.process import Command, answering, spawn, until_connected, until_ready
from runtime.ports import free_port

DEPLOY = Path(__file__).parents[2] / "deploy"
PROJECT, OTHER = new_id("prj"), new_id("prj")


class Deployed:
    """A real NATS with the deployment's configuration, and its users."""

    def __init__(self, port: int) -> None:
        self._port = port

    def url(self, user: str) -> str:
        """Where a user connects."""
        return f"nats://{user}:pw-{user}@127.0.0.1:{self._port}"

    @asynccontextmanager
    async def client(self, user: str, **options: Any) -> AsyncIterator[tuple[Client, asyncio.Queue[str]]]:
        """A plain client, and what the server complained of."""
        complaints: asyncio.Queue[str] = asyncio.Queue()

        async def complain(error: Exception) -> None:
            complaints.put_nowait(str(error).lower())

        client = await nats.connect(self.url(user), error_cb=complain, allow_reconnect=False, **options)
        try:
            yield client, complaints
        finally:
            await client.close()


@pytest.fixture
async def deployed(tmp_path: Path) -> AsyncIterator[Deployed]:
    """The server, with the service's block filled in as its comment says."""
    port = free_port()
    text = (DEPLOY / "nats.conf").read_text().replace("port: 4222", f"port: {port}")
    text = text.replace("127.0.0.1:8222", f"127.0.0.1:{free_port()}")
    text = re.sub(r"#service ", "", text).replace("SERVICE", "shipping").replace("PROJECT_ID", PROJECT)
    text = text.replace("$NATS_shipping_PASSWORD", "$NATS_SERVICE_PASSWORD")
    (tmp_path / "nats.conf").write_text(text)
    environment = {
        "NATS_STORE_DIR": str(tmp_path / "store"),
        "NATS_GATEWAY_PASSWORD": "pw-gateway",
        "NATS_PUBLISHER_PASSWORD": "pw-publisher",
        "NATS_SERVICE_PASSWORD": "pw-shipping",
    }
    command = (str(beside_python("nats-server")), "-c", str(tmp_path / "nats.conf"))
    child = await spawn(Command("nats", command, tmp_path / "nats.log", environment))
    place = Deployed(port)

    async def ready() -> None:
        await until_connected("127.0.0.1", port)

        async def ask() -> None:
            async with place.client("gateway") as (client, _):
                await client.flush()

        await answering(ask, OSError)

    try:
        await until_ready(child, ready(), 30)
        yield place
    finally:
        await child.stop()


def event(seq: int) -> Event:
    """An event of a project."""
    return Event(
        seq=seq,
        event_id=new_id("evt"),
        event_type="line.moved",
        entity_type="line",
        entity_id="main",
        intent_id=None,
        agent_id=None,
        payload={},
        created_at="2026-01-01T00:00:00.000Z",
        prev_hash="0" * 64,
        event_hash="1" * 64,
    )


async def publish(relay: Link, *rows: tuple[str, Event]) -> None:
    """Publish as the relay does; every event is stored."""
    publisher = Publisher(relay)
    await publisher.start()
    progress = await publisher.publish_in_order(rows)
    assert (progress.acked, progress.problem) == (len(rows), None)
    await publisher.stop()


async def test_the_publisher_makes_the_stream_and_fills_it_and_a_gateway_hears_it(deployed: Deployed) -> None:
    relay = await connect(deployed.url("publisher"), "relay")
    gateway = await connect(deployed.url("gateway"), "gateway")
    try:
        await ensure_stream(relay.jetstream)
        await ensure_stream(relay.jetstream)
        waiters = Waiters(gateway)
        await waiters.start()
        await gateway.round_trip()
        with waiters.register(PROJECT) as waiter:
            await publish(relay, (PROJECT, event(1)))
            assert await waiter.rung(asyncio.get_running_loop().time() + 30)
        with waiters.register(PROJECT, ["chk_1"]) as waiter:
            await LiveRinger(relay).ring(PROJECT, "chk_1")
            assert await waiter.rung(asyncio.get_running_loop().time() + 30)
        await waiters.stop()
    finally:
        await gateway.close()
        await relay.close()


async def test_a_gateway_publishes_nothing(deployed: Deployed) -> None:
    async with deployed.client("gateway") as (client, complaints):
        await client.publish(subject(PROJECT, None, "line.moved"), b"{}")
        await client.flush()
        async with asyncio.timeout(30):
            assert "permissions violation for publish" in await complaints.get()


async def test_a_service_reads_its_own_project_and_no_other(deployed: Deployed) -> None:
    relay = await connect(deployed.url("publisher"), "relay")
    try:
        await ensure_stream(relay.jetstream)
        await publish(relay, (PROJECT, event(1)), (OTHER, event(1)))
        async with deployed.client("shipping", inbox_prefix=b"_INBOX_shipping") as (client, complaints):
            jetstream = client.jetstream(timeout=2)
            await jetstream.add_consumer(STREAM, consumer(filter_for(PROJECT)))
            pulling = await jetstream.pull_subscribe_bind("shipping", STREAM)
            (message,) = await pulling.fetch(1, timeout=10)
            assert message.subject == subject(PROJECT, None, "line.moved")
            await message.ack_sync(timeout=10)

            with pytest.raises((NatsTimeout, NoRespondersError)):
                await jetstream.add_consumer(STREAM, consumer(filter_for(OTHER)))
            await client.subscribe(filter_for(OTHER))
            await client.flush()
            async with asyncio.timeout(30):
                assert "permissions violation" in await complaints.get()
                assert "permissions violation for subscription" in await complaints.get()
    finally:
        await relay.close()


def consumer(wanted: str) -> ConsumerConfig:
    """The durable pull consumer that a service is told to make."""
    return ConsumerConfig(
        durable_name="shipping", name="shipping", filter_subject=wanted, deliver_policy=DeliverPolicy.ALL
    )
