"""Two gateways and two workers on one record: either answers for the other, and one may die."""

import asyncio
import os
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import httpx2
import pytest
import pytest_asyncio

from runtime.ports import free_port
from tests.e2e.locks import observed
from tests.e2e.scenes import ended_well, pushed_scene, reached, scene, sleeping
from tests.support.agent import Owner, client, declaration, owner_of
from tests.support.stack import RunningStack, environment

pytestmark = pytest.mark.timeout(240)


@asynccontextmanager
async def another(
    stack: RunningStack, name: str, **settings: object
) -> AsyncIterator[asyncio.subprocess.Process]:
    """One more gateway or worker on the stack's servers, ended with the block."""
    found = stack.connection
    settings = {
        "data_dir": stack.folder,
        "database_url": found["postgres"],
        "nats_url": found["nats"],
        "temporal_address": found["temporal"],
        "temporal_namespace": found["temporal_namespace"],
        "port": found["url"].rpartition(":")[2],
        **settings,
    }
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "runtime", name),
        env=environment(**settings),
        stdout=asyncio.subprocess.DEVNULL,
        stderr=asyncio.subprocess.DEVNULL,
        pass_fds=[settings["ready_fd"]] if "ready_fd" in settings else [],  # type: ignore[list-item]
    )
    try:
        yield process
    finally:
        if process.returncode is None:
            process.terminate()
        async with asyncio.timeout(30):
            code = await process.wait()
    assert code == 0


@asynccontextmanager
async def second_gateway(stack: RunningStack) -> AsyncIterator[str]:
    """The url of one more gateway, ready."""
    port = free_port()
    url = f"http://127.0.0.1:{port}"
    async with another(stack, "gateway", port=port), client(url) as http:

        async def ready() -> bool:
            try:
                return (await http.get("/readyz")).status_code == 200
            except httpx2.TransportError:
                return False

        await observed(ready)
        yield url


@asynccontextmanager
async def second_worker(stack: RunningStack) -> AsyncIterator[None]:
    """One more worker, ready."""
    reading, writing = os.pipe()
    async with another(stack, "worker", ready_fd=writing):
        os.close(writing)
        reader = asyncio.StreamReader()
        transport, _ = await asyncio.get_running_loop().connect_read_pipe(
            lambda: asyncio.StreamReaderProtocol(reader), os.fdopen(reading, "rb")
        )
        async with asyncio.timeout(40):
            assert await reader.readline() == b"ready\n"
        transport.close()
        yield


@pytest_asyncio.fixture
async def owner(broken: RunningStack, tmp_path: Path) -> AsyncIterator[Owner]:
    async with owner_of(broken.connection, tmp_path) as found:
        yield found


async def test_a_second_gateway_wakes_waits_repeats_answers_and_takes_pushes(
    broken: RunningStack, owner: Owner
) -> None:
    async with second_gateway(broken) as url:
        at = await scene(owner)
        there = await owner.agent_with(at.project, at.agent.token, url=url)
        waiting = asyncio.create_task(there.wait(at.intent, at.intent["afterSeq"], 60))

        async def held() -> bool:
            return "gitring_waits_held 1.0" in (await there.http.get("/metrics")).text

        await observed(held)
        first = await at.agent.call("gitring_declare", **declaration("Once", ["app/f1.py"]), requestId="r-1")
        async with asyncio.timeout(20):
            woken = await waiting
        assert "conflict.opened" in [event["event_type"] for event in woken["events"]]

        again = await there.call("gitring_declare", **declaration("Once", ["app/f1.py"]), requestId="r-1")
        assert again["said"][0].startswith("Answer of the first call with this requestId")
        assert again["intent"]["id"] == first["intent"]["id"]
        both = await asyncio.gather(
            *(
                agent.call("gitring_declare", **declaration("Race", ["app/f2.py"]), requestId="r-2")
                for agent in (at.agent, there)
            ),
            return_exceptions=True,
        )
        assert {a["intent"]["number"] for a in both if isinstance(a, dict)} == {3}

        moved = at.intent["push"]["command"].replace(owner.url, url)
        ran = await at.work.push(moved)
        assert ran.code == 0, ran.err
        await there.wait_until(await there.submit(at.intent), "merged")
        await ended_well(broken, owner, at.project, [1])


async def test_when_one_of_two_workers_dies_the_other_takes_over_what_it_did(
    broken: RunningStack, owner: Owner
) -> None:
    async with second_worker(broken):
        scenes = await asyncio.gather(*(pushed_scene(owner, "sleep 1.737") for _ in range(4)))
        submitted = [await at.agent.submit(at.intent) for at in scenes]
        await observed(lambda: sleeping("1.737"))
        broken.kill("worker")
        for at, intent in zip(scenes, submitted, strict=True):
            await reached(at.agent, intent, "merged")
            await ended_well(broken, owner, at.project, [1])
        await broken.wait_restarted("worker")
