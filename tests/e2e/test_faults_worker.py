"""The worker is killed in the middle of every step; afterwards each intent ends where it should, once."""

import asyncio
import signal
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack
from dataclasses import dataclass
from pathlib import Path

import asyncpg
import psutil
import pytest
import pytest_asyncio
from temporalio.client import Client

from protocol.names import intent_workflow
from tests.e2e.line import landed, repository_of
from tests.e2e.listener import each_once_in_order, published
from tests.e2e.locks import Trap, observed, trap
from tests.support.agent import Agent, Answer, Owner, Ran, Refused, Work, git, owner_of
from tests.support.stack import RunningStack, running_stack

APP = {"app/f1.py": "x = 1\n", "app/f2.py": "x = 2\n"}
CHANGED = {"app/f1.py": "y = 1\n"}


@pytest_asyncio.fixture(scope="module")
async def broken(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[RunningStack]:
    """A stack of this file's own, to be broken."""
    async with running_stack(tmp_path_factory.mktemp("worker") / "data") as running:
        yield running


@pytest_asyncio.fixture
async def owner(broken: RunningStack, tmp_path: Path) -> AsyncIterator[Owner]:
    async with owner_of(broken.connection, tmp_path) as found:
        yield found


@dataclass
class Scene:
    """One project in which one thing is under way."""

    project: Answer
    agent: Agent
    intent: Answer
    work: Work


async def scene(owner: Owner, test: str = "true", **settings: str) -> Scene:
    """A project with one declared intent and its commit, not pushed yet."""
    project = await owner.project(APP, test, **settings)
    agent = await owner.agent(project)
    intent = await agent.declare("Work", ["app/f1.py"])
    work = await agent.checkout(intent)
    await work.commit(CHANGED)
    return Scene(project, agent, intent, work)


async def answered(call: Callable[[], Awaitable[Answer]]) -> Answer:
    """The answer of a call with a requestId, repeated as its refusals say."""
    async with asyncio.timeout(60):
        while True:
            try:
                return await call()
            except Refused as refused:
                assert refused.code in ("outcome_unknown", "idempotency_in_progress", "busy"), refused


async def all_caught(traps: list[Trap]) -> None:
    """Return once somebody is inside each of the traps at the same moment."""

    async def caught() -> bool:
        return all(await asyncio.gather(*(each.holds() for each in traps)))

    await observed(caught)


def told_how_it_went(ran: Ran) -> None:
    """A push during a fault is taken, or its pusher is told that the commits are there and what to look at."""
    assert ran.code == 0 or "could not record the push yet. Look with gitring_status" in ran.err, ran.err


async def ended_well(stack: RunningStack, owner: Owner, project: Answer, merged: list[int]) -> None:
    """The line holds each merge once, the ledger is whole, and the stream has each event once, in order."""
    assert await landed(stack, project) == merged
    verdict = await owner.audit(project)
    events = await owner.events(project)
    assert each_once_in_order(await published(stack.connection, project["id"], verdict["lastSeq"])) == [
        event["seq"] for event in events
    ]
    kinds = [(event["event_type"], event["entity_id"], str(event["payload"].get("to"))) for event in events]
    once = [kind for kind in kinds if kind[0] in ("intent.declared", "line.moved") or kind[2] == "merged"]
    assert len(once) == len(set(once)), once


async def test_a_worker_killed_in_every_step_at_once_loses_nothing_and_does_nothing_twice(
    broken: RunningStack, owner: Owner
) -> None:
    dsn = broken.connection["postgres"]
    names = ("submitting", "pushing", "starting", "recording", "landing", "landed")
    scenes = dict(zip(names, await asyncio.gather(*(scene(owner) for _ in names)), strict=True))
    scenes["checking"] = await scene(owner, "sleep 600.713")
    scenes["asking"] = await scene(owner, mergeApproval="always")
    bare = await owner.project(APP, "true")
    declarer = await owner.agent(bare)
    for name, at in scenes.items():
        if name != "pushing":
            assert (await at.work.push()).code == 0

    async with AsyncExitStack() as open:

        async def set(name: str, operation: str, table: str) -> Trap:
            project = bare if name == "declaring" else scenes[name].project
            return await open.enter_async_context(trap(dsn, operation, table, project["id"]))

        traps = [
            await set("declaring", "INSERT", "intent"),
            await set("submitting", "UPDATE", "intent"),
            await set("pushing", "INSERT", "push"),
            await set("starting", "INSERT", "check_run"),
            await set("recording", "UPDATE", "check_run"),
            await set("landing", "INSERT", "landing"),
            await set("landed", "UPDATE", "line"),
            await set("asking", "INSERT", "check_run"),
        ]
        declaring = asyncio.create_task(
            answered(lambda: declarer.declare("Work", ["app/f1.py"], requestId="declare"))
        )
        pushing: asyncio.Task[Ran] = asyncio.create_task(scenes["pushing"].work.push())
        submits = {
            name: asyncio.create_task(answered(lambda at=at: at.agent.submit(at.intent, requestId="submit")))
            for name, at in scenes.items()
            if name != "pushing"
        }
        await submits["checking"]
        await observed(lambda: sleeping("600.713"))
        await all_caught(traps)
        # The ref has moved, the record has not heard of it.
        line = await git(repository_of(broken, scenes["landed"].project), "log", "-1", "--format=%s", "main")
        assert line.startswith("Merge #1: Work")
        listed = (await owner.http.get(f"/api/v1/projects/{scenes['landed'].project['id']}")).json()
        assert listed["head"] == scenes["landed"].intent["intent"]["base"]

        broken.kill("worker")
        for each in traps:
            await each.release()
        await observed(lambda: ended("600.713"))
        # The check is run again from its beginning, by then with another command.
        checking = f"/api/v1/projects/{scenes['checking'].project['id']}"
        assert (await owner.http.patch(checking, json={"checks": {"test": "true"}})).status_code == 200
    await broken.wait_restarted("worker")

    assert (await declaring)["intent"]["state"] == "active"
    told_how_it_went(await pushing)
    submits["pushing"] = asyncio.create_task(
        answered(lambda: scenes["pushing"].agent.submit(scenes["pushing"].intent, requestId="submit"))
    )
    for name, at in scenes.items():
        submitted = await submits[name]
        if name == "asking":
            await at.agent.wait_until(submitted, "awaiting_approval", after=0)
            await owner.decide(at.intent, "approve", "merge")
        await at.agent.wait_until(submitted, "merged", after=0)
        await ended_well(broken, owner, at.project, [1])
    await ended_well(broken, owner, bare, [])


async def test_a_worker_killed_after_each_commit_before_its_report_does_nothing_twice(
    broken: RunningStack, owner: Owner
) -> None:
    dsn = broken.connection["postgres"]
    names = ("submitting", "pushing", "recording", "landing", "withdrawing")
    scenes = dict(zip(names, await asyncio.gather(*(scene(owner) for _ in names)), strict=True))
    bare = await owner.project(APP, "true")
    declarer = await owner.agent(bare)
    for name in ("submitting", "recording", "landing"):
        assert (await scenes[name].work.push()).code == 0
    waiter = await owner.agent(scenes["withdrawing"].project)
    waiting = await waiter.declare("Waits", ["app/f1.py"])
    assert waiting["intent"]["state"] == "held"

    record = await asyncpg.connect(dsn)
    async with AsyncExitStack() as open:

        async def set(project: Answer, operation: str, table: str) -> Trap:
            return await open.enter_async_context(trap(dsn, operation, table, project["id"]))

        traps = [
            await set(bare, "INSERT", "command"),
            await set(scenes["submitting"].project, "INSERT", "command"),
            await set(scenes["pushing"].project, "INSERT", "push"),
            await set(scenes["recording"].project, "UPDATE", "check_run"),
            await set(scenes["landing"].project, "UPDATE", "landing"),
            await set(scenes["withdrawing"].project, "INSERT", "command"),
        ]
        declaring = asyncio.create_task(
            answered(lambda: declarer.declare("Work", ["app/f1.py"], requestId="declare"))
        )
        pushing: asyncio.Task[Ran] = asyncio.create_task(scenes["pushing"].work.push())
        gone = scenes["withdrawing"]
        withdrawing = asyncio.create_task(
            answered(lambda: gone.agent.withdraw(gone.intent, requestId="withdraw"))
        )
        submits = {
            name: asyncio.create_task(
                answered(lambda at=scenes[name]: at.agent.submit(at.intent, requestId="submit"))
            )
            for name in ("submitting", "recording", "landing")
        }
        await all_caught(traps)

        async def committed() -> bool:
            found = await record.fetchrow(
                "SELECT (SELECT count(*) FROM command WHERE project_id = ANY ($1)) AS commands, "
                "(SELECT count(*) FROM push WHERE project_id = $2) AS pushes, "
                "(SELECT count(*) FROM check_run WHERE project_id = $3 AND state = 'passed') AS checks, "
                "(SELECT count(*) FROM landing WHERE project_id = $4 AND state = 'landed') AS landings",
                [bare["id"], scenes["submitting"].project["id"], gone.project["id"]],
                *(scenes[name].project["id"] for name in ("pushing", "recording", "landing")),
            )
            # Three declares of before, and the three commands that were trapped.
            return tuple(found) == (6, 1, 1, 1)

        broken.kill("temporal", signal.SIGSTOP)
        for each in traps:
            await each.release()
        await observed(committed)
        broken.kill("worker")
        broken.kill("temporal", signal.SIGCONT)
    await record.close()
    await broken.wait_restarted("worker")

    declared = await declaring
    assert (declared["intent"]["state"], declared["intent"]["number"]) == ("active", 1)
    assert (await withdrawing)["intent"]["state"] == "withdrawn"
    await waiter.wait_until(waiting, "active")
    told_how_it_went(await pushing)
    at = scenes["pushing"]
    submits["pushing"] = asyncio.create_task(answered(lambda: at.agent.submit(at.intent, requestId="submit")))
    client = await Client.connect(broken.connection["temporal"], namespace="gitring")
    for name, submit in submits.items():
        submitted = await submit
        await scenes[name].agent.wait_until(submitted, "merged", after=0)
        await ended_well(broken, owner, scenes[name].project, [1])
        async with asyncio.timeout(30):
            handle = client.get_workflow_handle(intent_workflow(submitted["intent"]["id"]))
            assert await handle.result() == "merged"
    for project in (bare, gone.project):
        await ended_well(broken, owner, project, [])
    async with asyncio.timeout(30):
        assert (
            await client.get_workflow_handle(intent_workflow(gone.intent["intent"]["id"])).result()
            == "withdrawn"
        )


async def sleeping(seconds: str) -> bool:
    """Whether a check's `sleep` runs."""
    return any(["sleep", seconds] == _words(process) for process in psutil.process_iter())


async def ended(seconds: str) -> bool:
    """Whether no such `sleep` runs: what a killed worker started ends with it."""
    return not await sleeping(seconds)


def _words(process: psutil.Process) -> list[str]:
    try:
        return process.cmdline()
    except psutil.NoSuchProcess:
        return []
