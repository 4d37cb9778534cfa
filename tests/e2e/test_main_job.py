"""The main job, end to end: agents meet, hold, push, submit, and the queue lands their work."""

import asyncio
import re

import pytest

from tests.e2e.line import landed, repository_of
from tests.support.agent import Owner, Refused, git
from tests.support.stack import RunningStack

SHOP = {f"app/f{n}.py": f"x = {n}\n" for n in range(1, 9)}
GREEN = "test -f app/f1.py && echo ok 1 - all there"


@pytest.mark.parametrize("door", ["mcp", "rest"])
async def test_the_second_of_two_that_overlap_holds_then_merges_main_and_lands(
    stack: RunningStack, owner: Owner, door: str
) -> None:
    project = await owner.project(SHOP, GREEN)
    one, two = await owner.agent(project, "claude"), await owner.agent(project, "codex")
    if door == "rest":
        await two_overlap(stack, owner, one, two)
        return
    async with one.over_mcp(), two.over_mcp():
        await two_overlap(stack, owner, one, two)


async def two_overlap(stack, owner, one, two) -> None:
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
    final = await git(repository_of(stack, one.project), "show", "main:app/f1.py")
    assert final == "z = 1\ny = 2"
    await owner.audit(one.project)
