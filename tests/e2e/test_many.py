"""Many at once: one order, one chain of holds, no number twice; and a subscriber hears it all in order."""

import asyncio
from itertools import combinations

from tests.e2e.line import landed
from tests.e2e.listener import listening, published
from tests.support.agent import Owner
from tests.support.stack import RunningStack

APP = {f"app/f{n}.py": f"x = {n}\n" for n in range(1, 5)}
MANY = 30


async def test_thirty_declares_at_once_on_one_file_make_one_order_and_one_chain_of_holds(
    stack: RunningStack, owner: Owner
) -> None:
    project = await owner.project(APP, "true")
    agents = [await owner.agent(project, f"agent-{n}") for n in range(6)]
    async with listening(stack.connection, project["id"]) as listener:
        made = await asyncio.gather(*(agents[n % 6].declare(f"Work {n}", ["app/f1.py"]) for n in range(MANY)))
        assert sorted(i["intent"]["number"] for i in made) == [*range(1, MANY + 1)]
        details = {
            d["intent"]["number"]: d
            for d in await asyncio.gather(*(agents[n % 6].status(i) for n, i in enumerate(made)))
        }
        pairs: dict[str, tuple[int, int]] = {}
        for number, detail in details.items():
            assert len({c["id"] for c in detail["conflicts"]}) == len(detail["conflicts"]) == MANY - 1
            assert all(number in c["intents"] for c in detail["conflicts"])
            pairs |= {c["id"]: (c["first"], c["second"]) for c in detail["conflicts"]}
        # Each overlapping pair is one conflict, whichever of the two is asked; the lower number goes first.
        assert sorted(pairs.values()) == [*combinations(range(1, MANY + 1), 2)]
        states = [details[n]["intent"]["state"] for n in sorted(details)]
        assert states == ["active"] + ["held"] * (MANY - 1)

        by_number = {i["intent"]["number"]: (agents[n % 6], i) for n, i in enumerate(made)}
        agent, intent = by_number[1]
        await agent.withdraw(intent)
        agent, intent = by_number[2]
        await agent.wait_until(intent, "active", after=0)
        board = await agents[0].call("gitring_board", projectId=project["id"])
        on_board = {e["number"]: (e["state"], e["waitingOn"]) for e in board["entries"]}
        assert on_board == {2: ("active", [])} | {n: ("held", [*range(2, n)]) for n in range(3, MANY + 1)}
        verdict = await owner.audit(project)
        heard = await listener.until(verdict["lastSeq"])
    # The subscriber came after the project was made.
    assert heard == [*range(heard[0], verdict["lastSeq"] + 1)]
    opened = [e for e in listener.events if e["event_type"] == "conflict.opened"]
    assert len(opened) == 2 * len(pairs), "each of the two hears of it once"
    assert len({(e["entity_id"], e["intent_id"]) for e in opened}) == len(opened)


async def test_a_subscriber_hears_each_event_of_a_whole_life_in_order_as_the_record_has_it(
    stack: RunningStack, owner: Owner
) -> None:
    project = await owner.project(APP, "true")
    agent = await owner.agent(project)
    async with listening(stack.connection, project["id"]) as listener:
        intent = await agent.declare("Life", ["app/f1.py"])
        await (await agent.checkout(intent)).pushed({"app/f1.py": "y = 1\n"})
        await agent.wait_until(await agent.submit(intent), "merged")
        verdict = await owner.audit(project)
        heard = await listener.until(verdict["lastSeq"])
    events = await owner.events(project)
    assert listener.events == events[heard[0] - 1 :]
    assert await published(stack.connection, project["id"], verdict["lastSeq"]) == events
    own = [e["event_type"] for e in listener.events if e["intent_id"] == intent["intent"]["id"]]
    assert own[0] == "intent.declared" and "intent.pushed" in own and "intent.submitted" in own
    prefix = f"gitring.v1.{project['id']}"
    assert f"{prefix}.{intent['intent']['id']}.intent.state_changed" in listener.subjects
    assert f"{prefix}._.line.moved" in listener.subjects
    # What the agent heard by waiting is the same.
    heard_by_agent = [e["seq"] for e in agent.heard]
    assert heard_by_agent == sorted(set(heard_by_agent))
    assert await landed(stack, project) == [1]


async def test_ten_agents_at_once_through_their_whole_lives_land_each_once(
    stack: RunningStack, owner: Owner
) -> None:
    files = {f"lib/m{n}.py": "x = 0\n" for n in range(10)}
    project = await owner.project(files, "! grep -rq broken lib")
    agents = [await owner.agent(project, f"agent-{n}") for n in range(10)]

    async def life(n: int) -> None:
        agent = agents[n]
        intent = await agent.declare(f"Module {n}", [f"lib/m{n}.py"])
        work = await agent.checkout(intent)
        if n == 3:
            await work.pushed({f"lib/m{n}.py": "broken = 1\n"})
            back = await agent.wait_until(await agent.submit(intent), "active")
            assert back["changeRequests"][0]["kind"] == "check"
        await work.pushed({f"lib/m{n}.py": f"x = {n}\n"})
        await agent.wait_until(await agent.submit(intent), "merged", after=0)

    await asyncio.gather(*(life(n) for n in range(10)))
    assert sorted(await landed(stack, project)) == [*range(1, 11)]
    blamed = [e for e in await owner.events(project) if e["event_type"] == "change_request.opened"]
    assert len(blamed) == 1, "only the broken one is blamed"
    await owner.audit(project)
