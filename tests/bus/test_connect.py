"""The link comes back after everything that can break it, and says when it had a gap."""

import asyncio

import pytest
from structlog.testing import capture_logs

from bus.connect import BusUnreachable, connect
from runtime.ports import free_port


async def test_a_server_that_is_not_there_ends_the_attempt_and_names_the_reason():
    with pytest.raises(BusUnreachable, match="Connect call failed"):
        await connect(f"nats://127.0.0.1:{free_port()}", "nobody", timeout=0.5)


async def test_a_wrong_password_ends_the_attempt_and_is_not_logged(own_nats):
    wrong = own_nats.url.replace("for-tests", "hunter2")
    with capture_logs() as logs, pytest.raises(BusUnreachable) as refused:
        await connect(wrong, "intruder", timeout=0.5)
    assert any("Authorization" in entry.get("error", "") for entry in logs)
    assert "hunter2" not in f"{logs} {refused.value}"


async def test_the_log_names_the_server_without_the_credentials(own_nats):
    with capture_logs() as logs:
        link = await connect(own_nats.url, "careful")
        await link.close()
    assert [entry["event"] for entry in logs] == ["nats.connected", "nats.closed"]
    assert "for-tests" not in str(logs)


async def test_a_restart_is_a_gap_and_subscriptions_go_on(own_nats, own_link):
    heard: asyncio.Queue[bytes] = asyncio.Queue()
    gap, lost = asyncio.Event(), asyncio.Event()
    await own_link.round_trip()

    async def hear(message):
        heard.put_nowait(message.data)

    await own_link.subscribe("news", hear)
    own_link.on_gap(gap.set)
    own_link.on_lost(lost.set)
    with capture_logs() as logs:
        await own_nats.kill()
        await lost.wait()
        assert not own_link.is_up
        await own_nats.start()
        await gap.wait()
    assert own_link.is_up
    assert [entry["event"] for entry in logs if "error" not in entry] == [
        "nats.disconnected",
        "nats.reconnected",
    ]

    await own_link.client.publish("news", b"after")
    assert await heard.get() == b"after"


async def test_a_client_the_server_threw_out_is_replaced_and_subscriptions_go_on(own_nats, own_link):
    heard: asyncio.Queue[bytes] = asyncio.Queue()
    gap = asyncio.Event()

    async def hear(message):
        heard.put_nowait(message.data)

    await own_link.subscribe("news", hear)
    own_link.on_gap(gap.set)
    first = own_link.client
    # Too long a message: the server answers with an error after which nats-py closes for good.
    first._transport.write(b"PUB news 99999999\r\n")
    await gap.wait()

    assert first.is_closed
    assert own_link.client is not first
    await own_link.client.publish("news", b"after")
    assert await heard.get() == b"after"
    assert (await own_link.jetstream.account_info()).streams == 1


async def test_a_subscription_that_fell_behind_is_a_gap(own_nats, own_link):
    gap, go_on = asyncio.Event(), asyncio.Event()

    async def dawdle(_):
        await go_on.wait()

    await own_link.subscribe("flood", dawdle)
    own_link.client._subs[max(own_link.client._subs)]._pending_queue._maxsize = 2
    own_link.on_gap(gap.set)
    for _ in range(5):
        await own_link.client.publish("flood", b"")
    await gap.wait()
    go_on.set()


async def test_a_listener_that_was_taken_away_hears_no_gap(own_nats, own_link):
    stayed, gone = asyncio.Event(), asyncio.Event()
    forget = own_link.on_gap(gone.set)
    own_link.on_gap(stayed.set)
    forget()
    forget()
    await own_nats.kill()
    await own_nats.start()
    await stayed.wait()
    assert not gone.is_set()


async def test_an_ended_subscription_hears_nothing_more(link):
    heard: list[bytes] = []
    marker: asyncio.Event = asyncio.Event()

    async def hear(message):
        heard.append(message.data)

    async def mark(_):
        marker.set()

    end = await link.subscribe("topic", hear)
    await end()
    await end()
    await link.subscribe("topic", mark)
    await link.client.publish("topic", b"x")
    await marker.wait()
    assert heard == []


async def test_a_link_closes_while_its_server_is_away(own_nats):
    link = await connect(own_nats.url, "leaving")
    lost = asyncio.Event()
    link.on_lost(lost.set)
    await own_nats.kill()
    await lost.wait()
    with pytest.raises(BusUnreachable, match="away"):
        await link.round_trip()
    await link.close()
    await link.close()
    assert link.client.is_closed
