"""A server that is told to stop lets everybody go at once, and its successor needs no introduction."""

import asyncio
from contextlib import AsyncExitStack

import pytest

from runtime.ports import free_port
from tests.gateway import samples
from tests.gateway.edge import REVISIONS, Edge, Scripted, served

WAIT = {"intentId": samples.INTENT, "afterSeq": 230, "seconds": 40}


@pytest.mark.parametrize("revision", REVISIONS)
async def test_an_mcp_wait_ends_empty_at_a_stop(own_edge: Edge, revision: str) -> None:
    async with own_edge.mcp(revision) as client:
        held = asyncio.create_task(client.call_tool("gitring_wait", WAIT))
        await own_edge.operations.waiting.wait()
        own_edge.stopping.set()
        result = await held
    assert result.structured_content["events"] == []
    assert [given.seconds for _, given in own_edge.operations.asked] == [40, 0]


async def test_a_rest_wait_ends_empty_at_a_stop(own_edge: Edge) -> None:
    url = f"/api/v1/intents/{samples.INTENT}/wait?afterSeq=230"
    held = asyncio.create_task(own_edge.http.get(url))
    await own_edge.operations.waiting.wait()
    own_edge.stopping.set()
    assert (await held).json()["events"] == []
    # Who comes before the door closes is not held either.
    assert (await own_edge.http.get(url)).json()["events"] == []


async def test_a_stream_of_events_ends_at_a_stop(own_edge: Edge) -> None:
    own_edge.operations.live = [samples.event(1, "line.moved")]
    held = asyncio.create_task(own_edge.http.get("/api/v1/projects/storefront/events/stream"))
    await own_edge.operations.waiting.wait()
    own_edge.stopping.set()
    response = await held
    assert response.status_code == 200
    assert "id: 1\n" in response.text


@pytest.mark.parametrize("revision", REVISIONS)
async def test_a_client_goes_on_with_a_restarted_server(revision: str) -> None:
    port = free_port()
    async with AsyncExitStack() as second_life:
        async with AsyncExitStack() as first_life:
            first = await first_life.enter_async_context(served(port=port))
            client = await second_life.enter_async_context(first.mcp(revision))
            held = asyncio.create_task(client.call_tool("gitring_wait", WAIT))
            await first.operations.waiting.wait()
        # The stop answered the wait instead of breaking its connection.
        assert (await held).structured_content["events"] == []
        second = Scripted()
        async with served(second, port=port):
            result = await client.call_tool("gitring_status", {"intentId": samples.INTENT})
            assert not result.is_error
            assert [name for name, _ in second.asked] == ["status"]
            await second_life.aclose()
