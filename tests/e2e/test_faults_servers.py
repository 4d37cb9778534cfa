"""Gateway, NATS, Temporal and Postgres are killed in the middle of things; nothing is lost or done twice."""

import asyncio
import contextlib
import signal
from collections.abc import AsyncIterator
from pathlib import Path

import asyncpg
import httpx2
import pytest
import pytest_asyncio
from temporalio.client import Client

from protocol.names import intent_workflow, line_workflow
from tests.e2e.line import landed, repository_of
from tests.e2e.locks import observed, release, trap
from tests.e2e.scenes import (
    answered,
    ended_well,
    reached,
    scene,
    sleeping,
    told_how_it_went,
)
from tests.support.agent import Owner, git, owner_of
from tests.support.stack import RunningStack

pytestmark = pytest.mark.timeout(240)


@pytest_asyncio.fixture
async def owner(broken: RunningStack, tmp_path: Path) -> AsyncIterator[Owner]:
    async with owner_of(broken.connection, tmp_path) as found:
        yield found


async def waits_held(owner: Owner, count: int) -> None:
    """Return once the gateway holds so many waits."""

    async def holds() -> bool:
        text = (await owner.http.get("/metrics")).text
        return f"gitring_waits_held {count}.0" in text

    await observed(holds)


async def test_a_gateway_killed_in_mid_wait_and_mid_push_costs_a_repeat_and_no_handshake(
    broken: RunningStack, owner: Owner
) -> None:
    at = await scene(owner)
    spoken = await scene(owner)
    async with (
        spoken.agent.over_mcp(),
        trap(broken.connection["postgres"], "INSERT", "push", at.project["id"]) as push,
    ):
        waiting = asyncio.create_task(at.agent.wait(at.intent, at.intent["afterSeq"], 60))
        pushing = asyncio.create_task(at.work.push())
        await waits_held(owner, 1)
        await push.caught()
        broken.kill("gateway")
        ran = await pushing
        assert ran.code != 0 and ran.err
        with pytest.raises(httpx2.TransportError):
            await waiting
        await release(push)
        await broken.wait_restarted("gateway")
        # The same MCP client goes on with the new process, without a word of greeting.
        assert (await spoken.work.push()).code == 0
        heard = await spoken.agent.wait(spoken.intent, spoken.intent["afterSeq"], 40)
        assert [e["event_type"] for e in heard["events"]] == ["intent.pushed"]
    # The commits of the push that was cut off are there; a repeat says so, and the submit finds them recorded.
    again = await at.work.push()
    assert again.code == 0 and "up-to-date" in again.err
    submitted = await at.agent.submit(at.intent)
    assert submitted["intent"]["submittedHead"] == await git(at.work.at, "rev-parse", "HEAD")
    await at.agent.wait_until(submitted, "merged")
    await ended_well(broken, owner, at.project, [1])
    await ended_well(broken, owner, spoken.project, [])


async def test_a_gateway_killed_before_a_push_was_judged_leaves_nothing_of_it_behind(
    broken: RunningStack, owner: Owner
) -> None:
    at = await scene(owner)
    head = await git(at.work.at, "rev-parse", "HEAD")
    record = await asyncpg.connect(broken.connection["postgres"])
    async with record.transaction():
        await record.execute("LOCK TABLE conflict IN ACCESS EXCLUSIVE MODE")
        pushing = asyncio.create_task(at.work.push())

        async def judging() -> bool:
            return bool(await record.fetchval("SELECT count(*) FROM pg_locks WHERE NOT granted"))

        await observed(judging)
        broken.kill("gateway")
        assert (await pushing).code != 0
    await record.close()
    await broken.wait_restarted("gateway")
    bare = repository_of(broken, at.project)

    assert head not in await git(bare, "cat-file", "--batch-check", "--batch-all-objects")
    ran = await at.work.push()
    assert ran.code == 0, ran.err
    await at.agent.wait_until(await at.agent.submit(at.intent), "merged")
    await ended_well(broken, owner, at.project, [1])


async def test_a_gateway_told_to_stop_answers_its_waits_first(broken: RunningStack, owner: Owner) -> None:
    at = await scene(owner)
    waiting = asyncio.create_task(at.agent.wait(at.intent, at.intent["afterSeq"], 60))
    await waits_held(owner, 1)
    broken.kill("gateway", signal.SIGTERM)
    empty = await waiting
    assert empty["events"] == [] and empty["afterSeq"] == at.intent["afterSeq"] and not empty["canStop"]
    await broken.wait_restarted("gateway")


async def test_while_nats_is_gone_commands_work_and_afterwards_every_waiter_and_subscriber_catches_up(
    broken: RunningStack, owner: Owner
) -> None:
    at = await scene(owner)
    other = await owner.agent(at.project, "other")
    waiting = asyncio.create_task(at.agent.wait(at.intent, at.intent["afterSeq"], 60))
    await waits_held(owner, 1)
    broken.kill("nats")
    held = await other.declare("Meets it", ["app/f1.py"])
    assert held["intent"]["state"] == "held"
    await broken.wait_restarted("nats")
    # Nobody rang while NATS was away: the waiter is woken by its return, long before its 60 seconds.
    async with asyncio.timeout(20):
        woken = await waiting
    assert "conflict.opened" in [event["event_type"] for event in woken["events"]]
    assert (await at.work.push()).code == 0
    await at.agent.wait_until(await at.agent.submit(at.intent), "merged")
    await other.wait_until(held, "active", after=0)
    await ended_well(broken, owner, at.project, [1])


async def test_temporal_killed_in_mid_check_and_mid_declare_loses_neither(
    broken: RunningStack, owner: Owner
) -> None:
    at = await scene(owner, "sleep 2.717")
    assert (await at.work.push()).code == 0
    submitted = await at.agent.submit(at.intent)
    await observed(lambda: sleeping("2.717"))
    broken.kill("temporal")
    declaring = asyncio.create_task(
        answered(lambda: at.agent.declare("Meanwhile", ["app/f2.py"], requestId="meanwhile"))
    )
    # What needs no engine goes on.
    assert (await at.agent.status(at.intent))["intent"]["state"] in ("verifying", "merged")
    await broken.wait_restarted("temporal")
    declared = await declaring
    assert (declared["intent"]["number"], declared["intent"]["state"]) == (2, "active")
    await reached(at.agent, submitted, "merged")
    await ended_well(broken, owner, at.project, [1])


async def test_postgres_killed_between_ref_and_record_of_a_merge_and_in_a_declare_loses_neither(
    broken: RunningStack, owner: Owner
) -> None:
    landing, declaring = await scene(owner), await scene(owner)
    assert (await landing.work.push()).code == 0
    dsn = broken.connection["postgres"]
    with contextlib.suppress(asyncpg.PostgresError, OSError):
        async with (
            trap(dsn, "UPDATE OF head", "line", landing.project["id"]) as merge,
            trap(dsn, "INSERT", "intent", declaring.project["id"]) as admit,
        ):
            submitted = await landing.agent.submit(landing.intent)
            second = asyncio.create_task(
                answered(lambda: declaring.agent.declare("Meanwhile", ["app/f2.py"], requestId="meanwhile"))
            )
            await merge.caught()
            await admit.caught()
            assert await landed(broken, landing.project) == [1]
            broken.kill("postgres")
            await broken.wait_restarted("postgres")
            # The crash took the traps' locks; their triggers came back with the data.
            await merge.forget(dsn)
            await admit.forget(dsn)
    declared = await second
    assert (declared["intent"]["number"], declared["intent"]["state"]) == (2, "active")
    await reached(landing.agent, submitted, "merged")
    for at, merged in ((landing, [1]), (declaring, [])):
        await ended_well(broken, owner, at.project, merged)
    pushed = await declaring.work.push()
    told_how_it_went(pushed)


async def test_workflows_ended_behind_gitrings_back_are_rebuilt_by_the_next_command_and_by_the_sweep(
    broken: RunningStack, owner: Owner
) -> None:
    client = await Client.connect(broken.connection["temporal"], namespace="gitring")
    at, checking = await scene(owner), await scene(owner, "sleep 600.717")

    async def end(workflow: str) -> None:
        await client.get_workflow_handle(workflow).terminate("by a test")

    # The next command: a push, then a submit.
    await end(intent_workflow(at.intent["intent"]["id"]))
    assert (await at.work.push()).code == 0
    await end(intent_workflow(at.intent["intent"]["id"]))
    await at.agent.wait_until(await at.agent.submit(at.intent), "merged")
    await ended_well(broken, owner, at.project, [1])

    # The sweep: nothing comes in any more, and intent and queue are both gone in the middle of a check.
    assert (await checking.work.push()).code == 0
    submitted = await checking.agent.submit(checking.intent)
    await observed(lambda: sleeping("600.717"))
    await end(line_workflow(checking.project["id"], "main"))
    await end(intent_workflow(checking.intent["intent"]["id"]))
    settings = f"/api/v1/projects/{checking.project['id']}"
    assert (await owner.http.patch(settings, json={"checks": {"test": "true"}})).status_code == 200
    broken.kill("worker", signal.SIGTERM)
    await broken.wait_restarted("worker")
    await checking.agent.wait_until(submitted, "merged")
    await ended_well(broken, owner, checking.project, [1])
