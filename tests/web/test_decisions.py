"""Decisions on the pages: exactly when they are possible, about what was read, one clear sentence for who came late."""

import asyncio
import re

import pytest

from protocol.intents import DecideInput, UpdatePlanInput
from protocol.projects import ChangeSettings
from protocol.refusals import Refused
from protocol.states import State
from tests.support.engine import ProjectUnderTest
from tests.web.served import Pages
from tests.web.visitor import Visitor, words

APPROVE_PLAN = "Approve the plan"
APPROVE_MERGE = "Approve the merge"


async def asking_project(pages: Pages, test: str | None = "true") -> ProjectUnderTest:
    """A project that asks a person about every plan and every merge."""
    project = await pages.engine.project(test=test)
    rules = ChangeSettings(plan_review="always", merge_approval="always")
    await pages.engine.operations.change_settings(pages.engine.owner, project.slug, rules)
    return project


def hidden(text: str) -> dict[str, str]:
    """The hidden fields of the decision's form."""
    form = text.partition('/decide"')[2].partition("</form>")[0]
    return {
        name: value
        for name, value in re.findall(r'type="hidden" name="(\w+)" value="([^"]*)"', form)
        if name != "key"
    }


async def test_a_plan_is_approved_the_work_merged(pages: Pages, owner: Visitor) -> None:
    project = await asking_project(pages)
    work = await project.declare("app/f1.py")
    path = f"/p/{project.slug}/i/{work.intent.number}"
    page = await owner.get(path)
    assert APPROVE_PLAN in words(page) and APPROVE_MERGE not in words(page)
    assert hidden(page.text) == {"subject": "plan", "plan_version": "1"}
    answer = await owner.post(f"{path}/decide", decision="approve", **hidden(page.text))
    assert answer.headers["location"] == f"{path}?done=approved"
    done = words(await owner.get(answer.headers["location"]))
    assert "Approved." in done and APPROVE_PLAN not in done

    head = await project.push(work, {"app/f1.py": "value = 9\n"})
    await project.submit(work)
    await project.until(work, State.AWAITING_APPROVAL)
    page = await owner.get(path)
    assert f"May {head[:7]} land on main?" in words(page)
    assert "value = 9" in words(page)
    await owner.post(f"{path}/decide", decision="approve", **hidden(page.text))
    await project.until(work, State.MERGED)
    merged = words(await owner.get(path))
    assert "Merged as" in merged and "Send back" not in merged and "Withdraw" not in merged
    assert "value = 9" in merged, "the patch of what landed"


async def test_a_plan_sent_back_carries_the_note_to_the_agent(pages: Pages, owner: Visitor) -> None:
    project = await asking_project(pages)
    work = await project.declare("app/f1.py")
    path = f"/p/{project.slug}/i/{work.intent.number}"
    page = await owner.get(path)
    refused = await owner.post(f"{path}/decide", decision="send_back", note=" ", **hidden(page.text))
    assert (refused.status_code, "A note is missing." in words(refused)) == (400, True)
    await owner.post(
        f"{path}/decide", decision="send_back", note="Keep f1 <b>small</b>.", **hidden(page.text)
    )
    detail = await project.status(work)
    assert "Keep f1 <b>small</b>." in detail.change_requests[0].reason
    shown = await owner.get(path)
    assert "Keep f1 <b>small</b>." in words(shown) and "plan sent back" in words(shown)
    assert path not in (await owner.get("/")).text, "it waits for its agent"


async def test_a_merge_sent_back_makes_the_intent_active_again(pages: Pages, owner: Visitor) -> None:
    project = await asking_project(pages)
    work = await project.declare("app/f1.py")
    await project.decide(work, "approve", "plan")
    await project.push(work, {"app/f1.py": "value = 9\n"})
    await project.submit(work)
    await project.until(work, State.AWAITING_APPROVAL)
    path = f"/p/{project.slug}/i/{work.intent.number}"
    page = await owner.get(path)
    await owner.post(f"{path}/decide", decision="send_back", note="Test it too.", **hidden(page.text))
    found = (await project.until(work, State.ACTIVE)).change_requests[0]
    assert (found.sender, found.reason) == ("Ana Ruiz", "Test it too.")
    await project.push(work, {"app/f1.py": "value = 9\n", "tests.py": "newer = True\n"})
    assert "newer = True" in words(await owner.get(path)), "what was pushed since, not what was sent back"


async def test_a_decision_about_an_older_plan_is_refused_in_a_sentence(pages: Pages, owner: Visitor) -> None:
    project = await asking_project(pages)
    work = await project.declare("app/f1.py")
    path = f"/p/{project.slug}/i/{work.intent.number}"
    page = await owner.get(path)
    plan = {"summary": "Another plan.", "scope": {"change": [{"path": "app/f2.py"}]}}
    await pages.engine.operations.update_plan(
        project.agent, UpdatePlanInput(intent_id=work.intent.id, plan=plan)
    )
    refused = await owner.post(f"{path}/decide", decision="approve", note="Fine.", **hidden(page.text))
    assert refused.status_code == 409
    sentence = (
        f"You read plan v1 of #{work.intent.number}; its plan is v2 now. Read the new plan, then decide."
    )
    assert sentence in words(refused)
    assert hidden(refused.text)["plan_version"] == "2" and "Another plan." in words(refused)
    assert ">Fine.</textarea>" in refused.text, "the note that was typed is still there"
    assert (await project.status(work)).intent.state is State.PLAN_REVIEW
    changed = words(await owner.get(path))
    assert "What v2 changed" in changed and "removed: changes: app/f1.py" in changed
    assert "added: " in changed and "changes: app/f2.py" in changed


async def test_a_decision_about_another_commit_is_refused(pages: Pages) -> None:
    project = await asking_project(pages)
    work = await project.declare("app/f1.py")
    await project.decide(work, "approve", "plan")
    head = await project.push(work, {"app/f1.py": "value = 9\n"})
    await project.submit(work)
    await project.until(work, State.AWAITING_APPROVAL)
    for decision in ("approve", "send_back"):
        given = DecideInput(decision=decision, subject="merge", head_commit=work.intent.base)
        with pytest.raises(Refused, match=f"stale_head: You read .*; {head[:7]} is submitted now"):
            await pages.engine.operations.decide(pages.engine.owner, work.intent.id, given)


async def test_of_two_people_at_once_one_decides_and_one_is_told(pages: Pages, owner: Visitor) -> None:
    project = await asking_project(pages)
    second = await pages.person("Jonas Weber", project)
    work = await project.declare("app/f1.py")
    path = f"/p/{project.slug}/i/{work.intent.number}"
    async with Visitor(pages.url) as other:
        await other.sign_in(await pages.link(second.person_id))
        fields = hidden((await other.get(path)).text)
        await owner.get(path)
        answers = await asyncio.gather(
            owner.post(f"{path}/decide", decision="approve", **fields),
            other.post(f"{path}/decide", decision="approve", **fields),
        )
    assert sorted(answer.status_code for answer in answers) == [303, 409]
    (late,) = [answer for answer in answers if answer.status_code == 409]
    assert (
        f"Intent #{work.intent.number} waits for no decision on its plan: its state is Active. "
        "Read the intent again; someone may have decided already." in words(late)
    )
    assert APPROVE_PLAN not in words(late)
    assert len((await project.status(work)).decisions) == 1


async def test_a_merge_that_an_owner_approves_offers_no_writer_the_button(
    pages: Pages, owner: Visitor
) -> None:
    project = await pages.engine.project(test="true")
    writer = await pages.person("Jonas Weber", project)
    rules = ChangeSettings(owner_approves=["app/"])
    await pages.engine.operations.change_settings(pages.engine.owner, project.slug, rules)
    work = await project.declare("app/f1.py")
    await project.push(work, {"app/f1.py": "value = 9\n"})
    await project.submit(work)
    await project.until(work, State.AWAITING_APPROVAL)
    path = f"/p/{project.slug}/i/{work.intent.number}"
    page = await owner.get(path)
    assert APPROVE_MERGE in words(page) and "It changes app/: an owner approves the merge." in words(page)
    async with Visitor(pages.url) as other:
        await other.sign_in(await pages.link(writer.person_id))
        seen = await other.get(path)
        assert APPROVE_MERGE not in words(seen) and "Send back" in words(seen)
        refused = await other.post(f"{path}/decide", decision="approve", **hidden(page.text))
    assert (refused.status_code, "An owner approves merges that change app/." in words(refused)) == (
        403,
        True,
    )


async def test_a_decision_on_an_intent_that_was_withdrawn_is_told(pages: Pages, owner: Visitor) -> None:
    project = await asking_project(pages)
    work = await project.declare("app/f1.py")
    path = f"/p/{project.slug}/i/{work.intent.number}"
    fields = hidden((await owner.get(path)).text)
    assert "Withdraw…" in words(await owner.get(path))
    await owner.post(f"{path}/withdraw", reason="Its agent left.")
    refused = await owner.post(f"{path}/decide", decision="approve", **fields)
    assert (refused.status_code, f"Intent #{work.intent.number} is withdrawn." in words(refused)) == (
        409,
        True,
    )
    assert (await owner.get(f"{path}/decide")).headers["location"] == path


async def test_a_person_says_who_goes_first(pages: Pages, owner: Visitor) -> None:
    project = await pages.engine.project(test="true")
    first, second = await project.declare("app/f1.py"), await project.declare("app/f1.py")
    path = f"/p/{project.slug}/i/{second.intent.number}"
    (conflict,) = re.findall(r'name="conflict" value="(cnf_\w+)"', (await owner.get(path)).text)
    fields = {"conflict": conflict, "first": str(second.intent.number), "note": "It is smaller."}
    assert (await owner.post(f"{path}/settle", **fields)).headers["location"] == f"{path}?done=settled"
    assert (await project.status(first)).intent.state is State.HELD
    page = words(await owner.get(path))
    assert "conflict settled" in page and "It is smaller." in page
    refused = await owner.post(f"{path}/settle", **{**fields, "first": "99"})
    assert (refused.status_code, "#99 is not one of the two." in words(refused)) == (409, True)


async def test_what_lies_outside_the_plan_is_accepted(pages: Pages, owner: Visitor) -> None:
    project = await pages.engine.project(test="true")
    work = await project.declare("app/f1.py")
    await project.push(work, {"app/f1.py": "value = 9\n", "extra.txt": "x\n"})
    path = f"/p/{project.slug}/i/{work.intent.number}"
    assert "Changed outside the plan: extra.txt" in words(await owner.get(path))
    assert (await owner.post(f"{path}/accept-drift")).headers["location"] == f"{path}?done=accepted"
    page = words(await owner.get(path))
    assert "drift accepted" in page and "Accept it as it is" not in page


async def test_a_held_intent_offers_no_decision(pages: Pages, owner: Visitor) -> None:
    project = await pages.engine.project(test="true")
    await project.declare("app/f1.py")
    held = await project.declare("app/f1.py")
    page = words(await owner.get(f"/p/{project.slug}/i/{held.intent.number}"))
    assert "Held" in page and "Send back" not in page and APPROVE_PLAN not in page
