"""Work of every odd shape that Git allows: it lands whole, or comes back with a sentence."""

import os

from tests.e2e.line import landed, repository_of
from tests.e2e.scenes import APP, scene
from tests.support.agent import Owner, git
from tests.support.stack import RunningStack

NAMES = [
    b"caf\xe9.txt",
    b"new\nline.txt",
    b'quote".txt',
    b"-dash",
    b"tab\there",
    "Ä/ü b.txt".encode(),
    b"a:b",
]


async def test_files_whose_names_are_odd_land_as_they_are(stack: RunningStack, owner: Owner) -> None:
    at = await scene(owner)
    root = os.fsencode(at.work.at)
    os.makedirs(os.path.join(root, "Ä".encode()))
    for name in NAMES:
        with open(os.path.join(root, name), "wb") as file:  # noqa: ASYNC230
            file.write(b"\x00binary\xff" + name)
    os.symlink("/etc/passwd", os.path.join(root, b"link"))
    head = await at.work.commit({"run.sh": "#!/bin/sh\n", "empty": "", "crlf.txt": "a\r\nb\r\n"})
    ran = await at.work.push()
    assert ran.code == 0, ran.err
    detail = await at.agent.status(at.intent)
    assert len(detail["drift"]) == len(NAMES) + 4
    await at.agent.wait_until(await at.agent.submit(at.intent), "merged")
    bare = repository_of(stack, at.project)
    assert await git(bare, "rev-parse", "main^{tree}") == await git(
        at.work.at, "rev-parse", f"{head}^{{tree}}"
    )
    await owner.audit(at.project)


async def test_work_that_changes_nothing_ends_as_merged_without_a_commit(
    stack: RunningStack, owner: Owner
) -> None:
    project = await owner.project(APP, "true")
    agent = await owner.agent(project)
    intent = await agent.declare("Nothing", ["app/f1.py"])
    work = await agent.checkout(intent)
    assert (await work.push()).code == 0
    done = await agent.wait_until(await agent.submit(intent), "merged")
    assert done["intent"]["mergedCommit"] == intent["intent"]["base"]
    assert await landed(stack, project) == []
    await owner.audit(project)


async def test_work_without_a_common_history_comes_back_with_a_sentence(
    stack: RunningStack, owner: Owner
) -> None:
    at = await scene(owner)
    await git(at.work.at, "checkout", "-q", "--orphan", "apart")
    await at.work.commit({"app/f1.py": "apart = 1\n"})
    ran = await at.work.push()
    assert ran.code == 0, ran.err
    back = await at.agent.wait_until(await at.agent.submit(at.intent), "active")
    [request] = back["changeRequests"]
    assert request["kind"] == "merge" and "no commit" in request["reason"]
    assert await landed(stack, at.project) == []
    await owner.audit(at.project)


async def test_a_line_that_was_moved_by_hand_is_taken_as_it_is(stack: RunningStack, owner: Owner) -> None:
    at = await scene(owner)
    assert (await at.work.push()).code == 0
    bare = repository_of(stack, at.project)
    tree = await git(bare, "rev-parse", "main^{tree}")
    by_hand = await git(bare, "commit-tree", tree, "-p", "main", "-m", "By hand")
    await git(bare, "update-ref", "refs/heads/main", by_hand)
    await at.agent.wait_until(await at.agent.submit(at.intent), "merged")
    assert await landed(stack, at.project) == [1]
    assert await git(bare, "merge-base", "main", by_hand) == by_hand
    moved = [e["payload"] for e in await owner.events(at.project) if e["event_type"] == "line.moved"]
    assert (moved[0]["to"], moved[0]["outside"]) == (by_hand, True)
    await owner.audit(at.project)


async def test_a_push_of_thousands_of_files_makes_the_intent_risky_and_lands_when_a_person_agrees(
    stack: RunningStack, owner: Owner
) -> None:
    at = await scene(owner)
    await at.work.commit({f"many/d{n % 60}/f{n}.txt": f"{n}\n" for n in range(6000)})
    ran = await at.work.push()
    assert ran.code == 0, ran.err
    asked = await at.agent.wait_until(await at.agent.submit(at.intent), "awaiting_approval")
    assert asked["intent"]["risk"] == "high" and len(asked["drift"]) == 6000
    await owner.decide(asked, "approve", "merge")
    await at.agent.wait_until(asked, "merged")
    count = await git(repository_of(stack, at.project), "ls-tree", "-r", "--name-only", "main", "many/")
    assert len(count.splitlines()) == 6000
    await owner.audit(at.project)
