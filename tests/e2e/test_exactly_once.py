"""A write repeated with its requestId is done once, whatever happened to the first call."""

import asyncio
from typing import Any

import asyncpg
import pytest

from tests.e2e.locks import observed, project_locked
from tests.support.agent import Agent, Answer, Owner, Refused, declaration
from tests.support.stack import RunningStack

REPEATED = "Answer of the first call with this requestId"
APP = {"app/f1.py": "x = 1\n", "app/f2.py": "x = 2\n"}


async def declare_again(agent: Agent, request: str, path: str = "app/f1.py") -> Answer:
    return await agent.call("gitring_declare", **declaration("Once", [path]), requestId=request)


@pytest.mark.parametrize("door", ["mcp", "rest"])
async def test_a_repeat_gets_the_first_answer_and_other_arguments_are_refused(
    owner: Owner, door: str
) -> None:
    project = await owner.project(APP, "true")
    agent = await owner.agent(project)
    if door == "mcp":
        async with agent.over_mcp():
            await repeated_declare(agent)
            text = await agent.text("gitring_declare", **declaration("Once", ["app/f1.py"]), requestId="r-1")
            assert text.startswith(REPEATED)
    else:
        await repeated_declare(agent)
    assert (await agent.call("gitring_board", projectId=project["id"]))["entries"][1:] == []
    await owner.audit(project)


async def repeated_declare(agent: Agent) -> None:
    first = await declare_again(agent, "r-1")
    again = await declare_again(agent, "r-1")
    assert again["said"][0].startswith(REPEATED)
    assert {**again, "said": []} == {**first, "said": []}
    with pytest.raises(Refused, match=r"idempotency_key_reused.*Use a new requestId"):
        await declare_again(agent, "r-1", "app/f2.py")


async def test_each_write_repeated_with_its_request_id_is_done_once(owner: Owner) -> None:
    project = await owner.project(APP, "true")
    agent = await owner.agent(project)
    intent = await agent.declare("Once", ["app/f1.py"])
    named = {"intentId": intent["intent"]["id"]}
    plan = declaration("", ["app/f1.py", "app/f2.py"])["plan"]
    await twice(agent, "gitring_update_plan", **named, plan=plan)
    assert (await agent.status(intent))["intent"]["plan"]["version"] == 2
    await (await agent.checkout(intent)).pushed({"app/f1.py": "y = 1\n"})
    await twice(agent, "gitring_submit", **named)
    await agent.wait_until(intent, "merged")
    other = await agent.declare("Twice", ["app/f1.py"])
    await twice(agent, "gitring_withdraw", intentId=other["intent"]["id"], reason="No.")
    kinds = [event["event_type"] for event in await owner.events(project)]
    assert kinds.count("intent.submitted") == 1 and kinds.count("intent.plan_changed") == 1
    await owner.audit(project)


async def twice(agent: Agent, tool: str, **arguments: Any) -> None:
    first = await agent.call(tool, **arguments, requestId="again")
    again = await agent.call(tool, **arguments, requestId="again")
    assert again["said"][0].startswith(REPEATED), again["said"]
    assert again["afterSeq"] == first["afterSeq"]


async def test_the_same_request_id_of_another_token_or_tool_is_another_call(owner: Owner) -> None:
    project = await owner.project(APP, "true")
    one, two = await owner.agent(project), await owner.agent(project)
    first, second = await declare_again(one, "r-1"), await declare_again(two, "r-1")
    assert (first["intent"]["number"], second["intent"]["number"]) == (1, 2)
    gone = await one.withdraw(first, requestId="r-1")
    assert gone["intent"]["state"] == "withdrawn" and gone["said"] == []


async def test_a_refused_write_leaves_its_request_id_free(owner: Owner) -> None:
    project = await owner.project(APP, "true")
    agent = await owner.agent(project)
    intent = await agent.declare("Once", ["app/f1.py"])
    with pytest.raises(Refused, match="nothing_pushed"):
        await agent.submit(intent, requestId="r-1")
    await (await agent.checkout(intent)).pushed({"app/f1.py": "y = 1\n"})
    submitted = await agent.submit(intent, requestId="r-1")
    assert submitted["said"] == []
    with pytest.raises(Refused, match="unknown_line"):
        await agent.declare("Nowhere", ["app/f2.py"], target="release/9", requestId="r-2")
    assert (await agent.declare("Here", ["app/f2.py"], requestId="r-2"))["intent"]["number"] == 2


async def test_thirty_calls_at_once_with_one_request_id_make_one_intent(owner: Owner) -> None:
    project = await owner.project(APP, "true")
    agent = await owner.agent(project)
    calls = await asyncio.gather(*(declare_again(agent, "r-1") for _ in range(30)), return_exceptions=True)
    answers = [c for c in calls if isinstance(c, dict)]
    refusals = [c for c in calls if isinstance(c, BaseException)]
    assert answers and {a["intent"]["number"] for a in answers} == {1}
    assert {r.code for r in refusals if isinstance(r, Refused)} <= {"idempotency_in_progress"}
    assert all(isinstance(r, Refused) for r in refusals), refusals
    assert [e["event_type"] for e in await owner.events(project)].count("intent.declared") == 1


async def test_a_slow_record_ends_calls_in_typed_refusals_and_later_the_request_id_gives_the_answer(
    stack: RunningStack, owner: Owner
) -> None:
    project, beside = await owner.project(APP, "true"), await owner.project(APP, "true")
    agent, neighbour = await owner.agent(project), await owner.agent(beside)
    intent = await agent.declare("Before", ["app/f2.py"])
    async with project_locked(stack.connection["postgres"], project["id"]) as record:
        first = asyncio.create_task(declare_again(agent, "r-1"))
        withdrawing = asyncio.create_task(agent.withdraw(intent))
        await waits_for_a_lock(record)
        with pytest.raises(
            Refused, match=r"idempotency_in_progress.*Wait a second, then call gitring_declare"
        ):
            await declare_again(agent, "r-1")
        # Reads, and writes of another project, do not wait behind the lock.
        assert (await agent.status(intent))["intent"]["state"] == "active"
        assert (await neighbour.declare("Beside", ["app/f1.py"]))["intent"]["number"] == 1
        with pytest.raises(Refused, match=r"outcome_unknown.*again with the same requestId") as unknown:
            await first
        assert unknown.value.status == 503
        with pytest.raises(Refused, match=r"outcome_unknown.*This call had no requestId"):
            await withdrawing
    answer = await eventually_answered(agent, "r-1")
    assert answer["intent"]["number"] == 2
    await agent.wait_until(intent, "withdrawn", after=0)
    kinds = [e["event_type"] for e in await owner.events(project)]
    assert kinds.count("intent.declared") == 2
    await owner.audit(project)


async def eventually_answered(agent: Agent, request: str) -> Answer:
    """The answer of a repeat, which is told to come again as long as the first call runs."""
    async with asyncio.timeout(30):
        while True:
            try:
                return await declare_again(agent, request)
            except Refused as refused:
                assert refused.code in ("idempotency_in_progress", "outcome_unknown"), refused


async def waits_for_a_lock(record: asyncpg.Connection) -> None:
    """Return once somebody waits for the row."""

    async def waits() -> bool:
        found = await record.fetchval("SELECT count(*) FROM pg_locks WHERE NOT granted")
        return bool(found)

    await observed(waits)
