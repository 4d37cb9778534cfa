"""The worker is killed in the middle of every step; afterwards each intent ends where it should, once."""

import asyncio
import signal
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from pathlib import Path

import asyncpg
import pytest
import pytest_asyncio
from temporalio.client import Client

from protocol.names import intent_workflow
from tests.e2e.line import repository_of
from tests.e2e.locks import Trap, all_caught, observed, release, trap
from tests.e2e.scenes import APP, answered, ended, ended_well, scene, sleeping, told_how_it_went
from tests.support.agent import Answer, Owner, Ran, git, owner_of
from tests.support.stack import RunningStack

pytestmark = pytest.mark.timeout(240)


@pytest_asyncio.fixture
async def owner(broken: RunningStack, tmp_path: Path) -> AsyncIterator[Owner]:
    async with owner_of(broken.connection, tmp_path) as found:
        yield found


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
            await set("landed", "UPDATE OF head", "line"),
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
        await observed(lambda: ended("600.713"))
        # The check is run again from its beginning, by then with another command.
        checking = f"/api/v1/projects/{scenes['checking'].project['id']}"
        assert (await owner.http.patch(checking, json={"checks": {"test": "true"}})).status_code == 200
        await release(*traps)
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
        await release(*traps)
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
