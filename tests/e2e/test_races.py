"""Calls that meet: each race ends in one clear answer, and the record holds one of the two."""

import asyncio
from typing import Any

import httpx2

from tests.e2e.line import landed
from tests.e2e.locks import observed
from tests.e2e.scenes import APP, pushed_scene, scene
from tests.support.agent import Answer, Owner, Refused, client, declaration
from tests.support.stack import RunningStack


def sorted_out(results: list[Answer | BaseException]) -> tuple[list[Answer], list[str]]:
    """The answers, and the codes of the refusals."""
    answers = [r for r in results if isinstance(r, dict)]
    refusals = [r for r in results if isinstance(r, BaseException)]
    assert all(isinstance(r, Refused) for r in refusals), refusals
    return answers, [r.code for r in refusals if isinstance(r, Refused)]


async def at_once(*calls: Any) -> tuple[list[Answer], list[str]]:
    """Run the calls at the same time."""
    return sorted_out(await asyncio.gather(*calls, return_exceptions=True))


async def test_of_two_submits_at_once_one_is_taken(stack: RunningStack, owner: Owner) -> None:
    at = await pushed_scene(owner)
    answers, refusals = await at_once(*(at.agent.submit(at.intent) for _ in range(5)))
    assert len(answers) == 1 and set(refusals) == {"wrong_state"}
    await at.agent.wait_until(answers[0], "merged")
    assert await landed(stack, at.project) == [1]
    await owner.audit(at.project)


async def test_submit_and_withdraw_at_once_end_in_one_of_the_two(stack: RunningStack, owner: Owner) -> None:
    at = await pushed_scene(owner)
    answers, _ = await at_once(at.agent.submit(at.intent), at.agent.withdraw(at.intent))
    assert answers
    final = await at.agent.wait(at.intent, answers[-1]["afterSeq"], 20)
    while final["intent"]["state"] not in ("merged", "withdrawn"):
        final = await at.agent.wait(at.intent, final["afterSeq"], 20)
    assert await landed(stack, at.project) == ([1] if final["intent"]["state"] == "merged" else [])
    await owner.audit(at.project)


async def test_of_two_decisions_at_once_one_is_recorded(owner: Owner) -> None:
    at = await scene(owner)
    await owner.http.patch(f"/api/v1/projects/{at.project['id']}", json={"mergeApproval": "always"})
    await at.work.push()
    asked = await at.agent.wait_until(await at.agent.submit(at.intent), "awaiting_approval")
    answers, refusals = await at_once(
        *(owner.decide(asked, "approve", "merge") for _ in range(3)), at.agent.withdraw(asked)
    )
    assert answers and set(refusals) <= {"wrong_state"}
    detail = await at.agent.status(asked)
    assert len(detail["decisions"]) <= 1
    assert detail["intent"]["state"] in ("queued", "verifying", "merged", "withdrawn")
    await owner.audit(at.project)


async def test_forty_plan_changes_at_once_on_one_intent_are_all_answered(owner: Owner) -> None:
    at = await scene(owner)
    plans = [declaration("", [f"lib/m{n}.py"])["plan"] for n in range(40)]
    answers, refusals = await at_once(
        *(
            at.agent.call(
                "gitring_update_plan", intentId=at.intent["intent"]["id"], plan=plan, requestId=f"p-{n}"
            )
            for n, plan in enumerate(plans)
        )
    )
    assert refusals == []
    versions = sorted(a["intent"]["plan"]["version"] for a in answers)
    assert versions == [*range(2, 42)]
    await owner.audit(at.project)


async def test_a_client_that_goes_away_frees_its_waiter(stack: RunningStack, owner: Owner) -> None:
    project = await owner.project(APP, "true")
    agent = await owner.agent(project)
    intent = await agent.declare("Waits", ["app/f1.py"])
    path = f"/api/v1/intents/{intent['intent']['id']}/wait"
    before = await waits_held(owner)

    async def held(more: int) -> bool:
        return await waits_held(owner) == before + more

    async with client(owner.url, agent.token) as http:
        waits = [
            asyncio.create_task(http.get(path, params={"afterSeq": intent["afterSeq"], "seconds": 200}))
            for _ in range(20)
        ]
        await observed(lambda: held(20))
        for wait in waits:
            wait.cancel()
        await asyncio.wait(waits)
    await observed(lambda: held(0))
    async with agent.over_mcp():
        listening = asyncio.create_task(agent.wait(intent, intent["afterSeq"], 40))
        await observed(lambda: held(1))
        listening.cancel()
        await asyncio.wait([listening])
        await observed(lambda: held(0))
        assert (await agent.status(intent))["intent"]["state"] == "active"


async def waits_held(owner: Owner) -> float:
    """What the gateway says of its held waits."""
    answer: httpx2.Response = await owner.http.get("/metrics")
    [line] = [line for line in answer.text.splitlines() if line.startswith("gitring_waits_held ")]
    return float(line.split()[1])
