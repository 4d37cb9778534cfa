"""The main job, end to end: agents meet, hold, push, submit, and the queue lands their work."""

import asyncio

import pytest

from tests.e2e.line import landed, repository_of
from tests.support.agent import Agent, Owner, Refused, git
from tests.support.stack import RunningStack

SHOP = {f"app/f{n}.py": f"x = {n}\n" for n in range(1, 9)}
GREEN = "test -f app/f1.py && echo ok 1 - all there"


@pytest.mark.parametrize("door", ["mcp", "rest"])
async def test_the_second_of_two_that_overlap_holds_then_merges_main_and_lands(
    stack: RunningStack, owner: Owner, door: str
) -> None:
    project = await owner.project(SHOP, GREEN)
    one, two = await owner.agent(project, "claude"), await owner.agent(project, "codex")
    if door == "mcp":
        async with one.over_mcp(), two.over_mcp():
            await two_overlap(stack, one, two)
    else:
        await two_overlap(stack, one, two)
    await owner.audit(project)


async def two_overlap(stack: RunningStack, one: Agent, two: Agent) -> None:
    first = await one.declare("Rename x", ["app/f1.py", "app/f2.py"])
    second = await two.declare("Double x", ["app/f1.py"])
    assert (first["intent"]["state"], second["intent"]["state"]) == ("active", "held")
    assert [c["intents"] for c in second["conflicts"]] == [[1, 2]]
    assert "#2 holds until #1 merges or is withdrawn (rule R5)" in second["conflicts"][0]["text"]
    assert second["waitingFor"] == "other_intent"

    held = await two.checkout(second)
    await held.commit({"app/f1.py": "x = 1\ny = 2\n"})
    refused = await held.push()
    assert refused.code != 0
    assert "Intent #2 is held until #1 merges. Your work is safe locally. Call gitring_wait." in refused.err
    with pytest.raises(Refused, match="wrong_state"):
        await two.submit(second)

    waiting = asyncio.create_task(two.wait_until(second, "active"))
    work = await one.checkout(first)
    await work.pushed({"app/f1.py": "z = 1\n"})
    submitted = await one.submit(first)
    assert submitted["intent"]["state"] in ("verifying", "queued")
    merged = await one.wait_until(submitted, "merged")
    assert merged["canStop"] and merged["waitingFor"] == "nothing"
    released = await waiting
    assert released["conflicts"] == []

    conflict = await held.merge_line()
    assert conflict.code != 0 and "app/f1.py" in conflict.out
    await held.pushed({"app/f1.py": "z = 1\ny = 2\n"}, "Merge main")
    await two.wait_until(await two.submit(second), "merged")
    assert await landed(stack, one.project) == [1, 2]
    assert await git(repository_of(stack, one.project), "show", "main:app/f1.py") == "z = 1\ny = 2"


async def test_disjoint_intents_land_side_by_side(stack: RunningStack, owner: Owner) -> None:
    project = await owner.project(SHOP, GREEN)
    agents = [await owner.agent(project, f"agent-{n}") for n in range(1, 5)]
    intents = [await a.declare(f"Change {n}", [f"app/f{n}.py"]) for n, a in enumerate(agents, 1)]
    assert [i["intent"]["state"] for i in intents] == ["active"] * 4
    assert all(i["conflicts"] == [] for i in intents)
    for n, (agent, intent) in enumerate(zip(agents, intents, strict=True), 1):
        await (await agent.checkout(intent)).pushed({f"app/f{n}.py": f"y = {n}\n"})
    submitted = await asyncio.gather(*(a.submit(i) for a, i in zip(agents, intents, strict=True)))
    await asyncio.gather(*(a.wait_until(i, "merged") for a, i in zip(agents, submitted, strict=True)))
    assert sorted(await landed(stack, project)) == [1, 2, 3, 4]
    bare = repository_of(stack, project)
    assert [await git(bare, "show", f"main:app/f{n}.py") for n in range(1, 5)] == [
        f"y = {n}" for n in range(1, 5)
    ]
    await owner.audit(project)


async def test_a_merge_commit_has_both_parents_the_trailer_the_issue_line_and_no_closing_word(
    stack: RunningStack, owner: Owner
) -> None:
    project = await owner.project(SHOP, GREEN)
    agent = await owner.agent(project)
    issue = "https://tracker.example.com/issues/7"
    intent = await agent.declare("Fixes #12 at last", ["app/f1.py"], issue=issue)
    work = await agent.checkout(intent)
    base = await git(work.at, "rev-parse", "HEAD")
    head = await work.pushed({"app/f1.py": "y = 1\n"})
    merged = await agent.wait_until(await agent.submit(intent), "merged")
    bare = repository_of(stack, project)
    commit = await git(bare, "rev-parse", "main")
    assert merged["intent"]["mergedCommit"] == commit
    assert (await git(bare, "log", "-1", "--format=%P", "main")).split() == [base, head]
    message = await git(bare, "log", "-1", "--format=%B", "main")
    assert message.startswith("Merge #1: Fixes issue #12 at last\n")
    assert f"Issue: {issue}" in message.splitlines()
    trailer = await git(bare, "log", "-1", "--format=%(trailers:key=Gitring-Intent,valueonly)", "main")
    assert trailer.strip() == intent["intent"]["id"]
    clone = await agent.call("gitring_clone", projectId=project["id"])
    assert clone["remote"] == intent["push"]["url"]
    await owner.audit(project)


async def test_a_merge_that_conflicts_returns_the_intent_with_the_files_named(
    stack: RunningStack, owner: Owner
) -> None:
    project = await owner.project(SHOP, GREEN)
    one, two = await owner.agent(project, "claude"), await owner.agent(project, "codex")
    first = await one.declare("One", ["app/f1.py"])
    second = await two.declare("Two", ["app/f2.py"])
    left, right = await one.checkout(first), await two.checkout(second)
    # The second goes outside its plan into the first's file, before the first has pushed there.
    await left.pushed({"app/f1.py": "left = 1\n"})
    await one.wait_until(await one.submit(first), "merged")
    await right.pushed({"app/f1.py": "right = 1\n", "app/f2.py": "right = 2\n"})
    back = await two.wait_until(await two.submit(second), "active")
    [request] = back["changeRequests"]
    assert request["kind"] == "merge" and request["blocking"]
    assert "app/f1.py" in request["reason"] and "app/f2.py" not in request["reason"]
    assert "app/f1.py" in back["drift"]
    with pytest.raises(Refused, match="open_change_requests"):
        await two.submit(second)
    await right.merge_line()
    head = await right.pushed({"app/f1.py": "left = 1\nright = 1\n"}, "Merge main")
    again = await two.submit(second, headCommit=head)
    assert again["changeRequests"] == []
    await two.wait_until(again, "merged")
    assert await landed(stack, project) == [1, 2]
    await owner.audit(project)


async def test_withdrawing_frees_the_one_that_waited_and_is_final(stack: RunningStack, owner: Owner) -> None:
    project = await owner.project(SHOP, GREEN)
    one, two = await owner.agent(project, "claude"), await owner.agent(project, "codex")
    first = await one.declare("One", ["app/"])
    first = (
        await owner.decide(first, "approve", "plan") if first["intent"]["state"] == "plan_review" else first
    )
    second = await two.declare("Two", ["app/f2.py"])
    assert second["intent"]["state"] == "held"
    waiting = asyncio.create_task(two.wait_until(second, "active"))
    gone = await one.withdraw(first)
    assert gone["intent"]["state"] == "withdrawn" and gone["waitingFor"] == "nothing"
    freed = await waiting
    assert freed["conflicts"] == [] and freed["waitingFor"] == "you"
    for again in (one.submit(first), one.withdraw(first)):
        with pytest.raises(Refused, match="wrong_state"):
            await again
    assert (await one.wait(first, gone["afterSeq"]))["canStop"]
    await owner.audit(project)


async def test_a_dependent_waits_in_the_queue_until_what_it_depends_on_has_landed(
    stack: RunningStack, owner: Owner
) -> None:
    project = await owner.project(SHOP, GREEN)
    agents = [await owner.agent(project, name) for name in ("base", "middle", "top")]
    base = await agents[0].declare("Base", ["app/f1.py"])
    middle = await agents[1].declare("Middle", ["app/f2.py"], dependsOn=[base["intent"]["id"]])
    top = await agents[2].declare("Top", ["app/f3.py"], dependsOn=[middle["intent"]["id"]], priority="high")
    assert [i["intent"]["state"] for i in (base, middle, top)] == ["active"] * 3
    for n, (agent, intent) in enumerate(zip(agents, (base, middle, top), strict=True), 1):
        await (await agent.checkout(intent)).pushed({f"app/f{n}.py": "y = 1\n"})
    top_queued = await agents[2].submit(top)
    middle_queued = await agents[1].submit(middle)
    # Another intent passes through the queue: whatever could land by then, would have landed.
    other = await owner.agent(project, "other")
    passing = await other.declare("Passing", ["app/f4.py"])
    await (await other.checkout(passing)).pushed({"app/f4.py": "y = 4\n"})
    await other.wait_until(await other.submit(passing), "merged")
    assert await landed(stack, project) == [4]
    assert (await agents[2].status(top))["waitingFor"] in ("checks", "merge", "other_intent")
    base_queued = await agents[0].submit(base)
    await asyncio.gather(
        agents[0].wait_until(base_queued, "merged"),
        agents[1].wait_until(middle_queued, "merged"),
        agents[2].wait_until(top_queued, "merged"),
    )
    assert await landed(stack, project) == [4, 1, 2, 3]
    await owner.audit(project)


async def test_a_dependent_lands_when_what_it_depends_on_is_withdrawn(
    stack: RunningStack, owner: Owner
) -> None:
    project = await owner.project(SHOP, GREEN)
    one, two = await owner.agent(project, "claude"), await owner.agent(project, "codex")
    base = await one.declare("Base", ["app/f1.py"])
    top = await two.declare("Top", ["app/f2.py"], dependsOn=[base["intent"]["id"]])
    await (await two.checkout(top)).pushed({"app/f2.py": "y = 2\n"})
    queued = await two.submit(top)
    await one.withdraw(base)
    await two.wait_until(queued, "merged")
    assert await landed(stack, project) == [2]
    await owner.audit(project)


async def test_a_dependent_goes_back_to_waiting_when_its_dependency_fails_beside_it(
    stack: RunningStack, owner: Owner
) -> None:
    project = await owner.project(SHOP, "! grep -rq bad app")
    one, two = await owner.agent(project, "claude"), await owner.agent(project, "codex")
    base = await one.declare("Base", ["app/f1.py"])
    top = await two.declare("Top", ["app/f2.py"], dependsOn=[base["intent"]["id"]])
    bad = await one.checkout(base)
    await bad.pushed({"app/f1.py": "bad = 1\n"})
    await (await two.checkout(top)).pushed({"app/f2.py": "y = 2\n"})
    top_queued = await two.submit(top)
    back = await one.wait_until(await one.submit(base), "active")
    assert await landed(stack, project) == []
    assert (await two.status(top))["intent"]["state"] in ("verifying", "queued")
    await bad.pushed({"app/f1.py": "good = 1\n"})
    await one.wait_until(await one.submit(base), "merged", after=back["afterSeq"])
    await two.wait_until(top_queued, "merged")
    assert await landed(stack, project) == [1, 2]
    await owner.audit(project)


async def test_a_dependent_waits_when_its_dependency_does_not_merge(
    stack: RunningStack, owner: Owner
) -> None:
    project = await owner.project(SHOP, GREEN)
    one, two, three = [await owner.agent(project, name) for name in ("first", "base", "top")]
    first = await one.declare("First", ["app/f1.py"])
    base = await two.declare("Base", ["app/f3.py"])
    top = await three.declare("Top", ["app/f2.py"], dependsOn=[base["intent"]["id"]])
    bad = await two.checkout(base)
    await (await one.checkout(first)).pushed({"app/f1.py": "first = 1\n"})
    await one.wait_until(await one.submit(first), "merged")
    await bad.pushed({"app/f1.py": "base = 1\n", "app/f3.py": "base = 3\n"})
    await (await three.checkout(top)).pushed({"app/f2.py": "top = 2\n"})
    top_queued = await three.submit(top)
    back = await two.wait_until(await two.submit(base), "active")
    assert [r["kind"] for r in back["changeRequests"]] == ["merge"]
    assert await landed(stack, project) == [1]
    await bad.merge_line()
    await bad.pushed({"app/f1.py": "first = 1\nbase = 1\n"}, "Merge main")
    await two.wait_until(await two.submit(base), "merged", after=back["afterSeq"])
    await three.wait_until(top_queued, "merged")
    assert await landed(stack, project) == [1, 2, 3]
    await owner.audit(project)
