"""gitring_wait: what ends it, what an empty one says, and when to stop."""

import asyncio

from tests.document import commands
from tests.document.shop import CURRENCY, Shop, Told, ask, plan, work

RISKY = work("Charge in the account's currency", "src/payments/")


async def waited(shop: Shop, intent: Told, seconds: int = 30) -> Told:
    """One wait of Ana's agent from an answer on."""
    return await ask(
        shop.ana, "gitring_wait", intentId=intent.id, afterSeq=intent.data["afterSeq"], seconds=seconds
    )


async def until_quiet(shop: Shop, intent: Told, state: str) -> Told:
    """Wait, as an agent does, until nothing more comes for a second and the intent is in `state`."""
    async with asyncio.timeout(60):
        while True:
            intent = await waited(shop, intent, 1)
            if not intent.data["events"] and intent.data["intent"]["state"] == state:
                return intent


async def test_a_wait_ends_when_a_person_approves_the_plan(shop: Shop) -> None:
    intent = await ask(shop.ana, "gitring_declare", **RISKY)
    waiting = asyncio.create_task(waited(shop, intent))
    await shop.decide(intent, "approve", "plan")
    told = await waiting
    assert told.lines[:3] == [
        "decision.recorded: plan_approved",
        "intent.state_changed: Active",
        "State: Active.",
    ]
    push = commands.push(shop.owner.url, shop.project["id"], intent.id)
    step = told.line("Next: ")
    assert step.startswith("Next: Write and commit your work; get a git token with gitring_clone")
    assert push in step and step.endswith(f"call gitring_submit. Pass afterSeq {told.seq} next time.")
    assert (told.data["waitingFor"], told.data["canStop"]) == ("you", False)


async def test_an_empty_wait_is_no_error_and_after_three_the_agent_may_stop(shop: Shop) -> None:
    intent = await ask(shop.ana, "gitring_declare", **RISKY)
    page = f"{shop.owner.url}/p/{shop.slug}/i/1"
    told = await waited(shop, intent, 1)
    assert told.lines[:2] == ["Nothing new.", "State: Plan review."]
    assert told.line("Next: ") == (
        f"Next: A person must approve the plan first, at {page}: call gitring_wait with intentId {intent.id} and afterSeq "
        f"{told.seq}. Do not write code yet. Pass afterSeq {told.seq} next time."
    )
    assert (told.data["waitingFor"], told.data["canStop"], told.seq) == ("person", False, intent.seq)
    async with asyncio.timeout(60):
        while not told.data["canStop"]:
            told = await waited(shop, told, 1)
    assert told.lines[:2] == ["Nothing new.", "State: Plan review."]
    assert told.line("Next: ") == (
        f"Next: #1 still waits for a person to approve the plan, at {page}, and nothing waits on you: stop polling here, "
        "gitring keeps the intent. Call gitring_status when you come back, or when the person you act for tells you that "
        f"it moved. Pass afterSeq {told.seq} next time."
    )
    assert told.data["waitingFor"] == "person"


async def test_a_merge_that_waits_for_a_person_can_be_left_as_well(shop: Shop) -> None:
    await shop.owner.http.patch(f"/api/v1/projects/{shop.slug}", json={"mergeApproval": "always"})
    intent = await ask(shop.ana, "gitring_declare", **work("Refunds", "src/refunds.ts"))
    await shop.pushed(shop.ana, intent, {"src/refunds.ts": "// none\n"})
    submitted = await ask(shop.ana, "gitring_submit", intentId=intent.id)
    told = await until_quiet(shop, submitted, "awaiting_approval")
    assert told.lines[:2] == ["Nothing new.", "State: Awaiting approval."]
    page = f"{shop.owner.url}/p/{shop.slug}/i/1"
    assert told.data["waitingFor"] == "person"
    assert told.line("Next: ").startswith(
        f"Next: A person decides about the merge, at {page}; nothing waits on you: "
    )


async def test_a_plan_that_a_person_sent_back_needs_a_new_version_only(shop: Shop) -> None:
    intent = await ask(shop.ana, "gitring_declare", **RISKY)
    waiting = asyncio.create_task(waited(shop, intent))
    note = "Keep createOrder(input) working; add the options object as a second argument."
    await shop.decide(intent, "send_back", "plan", note=note)
    told = await waiting
    assert set(told.lines[:2]) == {"change_request.opened", "decision.recorded: plan_returned"}
    assert told.lines[2] == "State: Plan review."
    assert told.data["waitingFor"] == "you"
    assert told.line("Next: ") == (
        "Next: A person sent the plan back: send the next version with gitring_update_plan, as the change request below "
        f"says. Do not write code yet. Pass afterSeq {told.seq} next time."
    )
    [request] = told.data["changeRequests"]
    assert told.text.split("\n\n")[1] == (
        f"GITRING CHANGE REQUEST {request['id']} (from Owner)\n"
        f"> Owner sent plan version 1 back: {note}\n"
        "Do: Send plan v2 with gitring_update_plan. No push or ack is needed."
    )
    again = await ask(
        shop.ana, "gitring_update_plan", intentId=intent.id, plan=plan("src/payments/charge.ts")
    )
    assert again.lines[0] == "#1 has plan v2. State: Active."
    assert again.data["changeRequests"] == []


async def test_a_landing_near_the_work_wakes_the_wait_and_the_line_comes_first(shop: Shop) -> None:
    first = await ask(shop.priya, "gitring_declare", **work("One", "src/money.ts"))
    held = await ask(shop.ana, "gitring_declare", **CURRENCY)
    assert held.data["intent"]["state"] == "held"
    await shop.landed(shop.priya, first, {"src/money.ts": "export class Money {}\n"})
    head = (await ask(shop.ana, "gitring_projects")).data["projects"][0]["head"]
    told = await until_active(shop, held)
    start = shop.project["head"]
    assert f"base.moved: main moved from {start[:7]} to {head[:7]} when #1 merged" in told.lines
    assert "conflict.ended: #1 and #2" in told.lines
    assert "intent.state_changed: Active" in told.lines
    fetch = f"{commands.environment(shop.owner.url)} fetch {shop.project['git']} main"
    assert told.line("Next: ").startswith(
        "Next: main moved near your places when #1 merged: first get a git token with gitring_clone and export it as "
        f"GITRING_GIT_TOKEN, and merge main into your work with `{fetch}` and `git merge FETCH_HEAD`. Write and commit "
        "your work; push from the checkout you work in with: "
    )


async def until_active(shop: Shop, intent: Told) -> Told:
    """Wait until it is released; the answer that says so."""
    async with asyncio.timeout(60):
        while True:
            intent = await waited(shop, intent)
            if intent.data["intent"]["state"] == "active":
                return intent


async def test_a_final_intent_answers_at_once_and_has_nothing_to_pass_on(shop: Shop) -> None:
    intent = await ask(shop.ana, "gitring_declare", **CURRENCY)
    withdrawn = await ask(
        shop.ana, "gitring_withdraw", intentId=intent.id, reason="Superseded by #52, without a new signature."
    )
    assert withdrawn.lines[0].startswith("#1 withdrawn.")
    told = await waited(shop, withdrawn)
    assert told.lines[:2] == ["Nothing new.", "State: Withdrawn."]
    assert told.line("Next: ") == "Next: Nothing: #1 is withdrawn."
    assert (told.data["waitingFor"], told.data["canStop"]) == ("nothing", True)
