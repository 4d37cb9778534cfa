"""gitring_update_plan, narrowing, and what an intent goes after."""

from tests.document.shop import CURRENCY, PRICED, TYPED, Shop, Told, ask, plan, work
from tests.support.agent import answered


async def test_a_plan_changes_as_soon_as_the_work_needs_another_place(shop: Shop) -> None:
    first = await ask(shop.ana, "gitring_declare", **CURRENCY)
    told = await ask(shop.ana, "gitring_update_plan", intentId=first.id, **PRICED)
    assert told.lines[:2] == ["#1 has plan v2. State: Active.", "0 conflicts."]
    assert told.data["intent"]["plan"]["version"] == 2
    assert told.data["intent"]["plan"]["scope"] == PRICED["plan"]["scope"]
    assert f"refs/intents/{told.id}" in told.line("Next: ")
    assert told.seq > first.seq


async def test_a_plan_change_that_grows_risky_waits_for_a_person(shop: Shop) -> None:
    first = await ask(shop.ana, "gitring_declare", **CURRENCY)
    told = await ask(shop.ana, "gitring_update_plan", intentId=first.id, plan=plan("package.json"))
    assert told.lines[:2] == [
        "#1 has plan v2. State: Plan review.",
        "High risk: changes a dependency manifest or lock file (package.json)",
    ]
    assert "Do not write code yet." in told.line("Next: ")


async def test_a_circle_is_refused_by_the_numbers_of_the_whole_of_it_and_changes_nothing(shop: Shop) -> None:
    one = await ask(shop.ana, "gitring_declare", **work("One", "src/money.ts"))
    two = await ask(shop.ana, "gitring_declare", **work("Two", "src/refunds.ts"), dependsOn=[one.id])
    three = await ask(shop.ana, "gitring_declare", **work("Three", "README.md"), dependsOn=[two.id])
    told = await ask(
        shop.ana, "gitring_update_plan", intentId=one.id, plan=plan("src/money.ts"), dependsOn=[three.id]
    )
    assert told.text == (
        "dependency_cycle: #1 cannot go after #3, which goes after #2, which goes after #1. Leave #3 out of dependsOn; "
        "nothing was changed."
    )
    status = await ask(shop.ana, "gitring_status", intentId=one.id)
    assert (status.data["intent"]["plan"]["version"], status.data["intent"]["dependsOn"]) == (1, [])


async def test_a_hold_that_a_new_order_settles_is_released(shop: Shop) -> None:
    one = await ask(shop.ana, "gitring_declare", **work("One", "src/money.ts"))
    two = await ask(shop.priya, "gitring_declare", **work("Two", "src/money.ts"))
    assert two.data["intent"]["state"] == "held"
    held = await ask(
        shop.ana, "gitring_update_plan", intentId=one.id, plan=plan("src/money.ts"), dependsOn=[two.id]
    )
    assert held.lines[0] == "#1 has plan v2. State: Held."
    assert "#1 holds until #2 merges or is withdrawn (rule R1)" in held.text
    assert (await ask(shop.priya, "gitring_status", intentId=two.id)).data["intent"]["state"] == "active"


async def test_a_server_that_narrows_lets_the_later_one_go_on_with_the_rest(shop: Shop) -> None:
    answered(await shop.owner.http.patch(f"/api/v1/projects/{shop.slug}", json={"mediation": "narrow"}))
    keeper = await ask(shop.ana, "gitring_declare", **work("Add the Money type", "src/money.ts"))
    told = await ask(
        shop.priya,
        "gitring_declare",
        **work("Add a currency field to Money", "src/money.ts", "src/format/price.ts"),
    )
    said = "#2 leaves these places to #1 until #1 merges, and goes on with the rest (rule R5)."
    assert told.lines[:3] == [
        f"#2 declared in {shop.slug}. State: Active. Risk: low.",
        "1 conflict:",
        f"#1 and #2. Range 0: Same place (src/money.ts). {said}",
    ]
    [conflict] = told.data["conflicts"]
    assert (conflict["verdict"], conflict["yielded"]) == ("narrow", ["src/money.ts"])
    step = told.line("Next: ")
    for word in (
        "#2 leaves src/money.ts to #1",
        "gitring_update_plan",
        "a push that changes a yielded file is refused",
    ):
        assert word in step
    assert step.endswith("then call gitring_submit.") and "gitring_ack" not in step
    [request] = told.data["changeRequests"]
    header, *reason, do = told.text.split("\n\n")[1].split("\n")
    assert header == f"GITRING CHANGE REQUEST {request['id']} (from gitring, conflict {conflict['id']})"
    assert len(reason) == 1 and reason[0].startswith("  #2 leaves src/money.ts to #1 until #1 merges")
    assert "rule R5" in reason[0] and "they are yours again" in reason[0]
    assert do == (
        "Do: change your plan with gitring_update_plan to leave out src/money.ts; that closes this request."
    )
    await _the_keeper_has_one_notice(shop, keeper.id, told.id)
    await _a_push_of_the_yielded_file_is_refused(shop, told)
    changed = await ask(shop.priya, "gitring_update_plan", intentId=told.id, plan=plan("src/format/price.ts"))
    assert (changed.data["changeRequests"], changed.data["conflicts"]) == ([], [])


async def _the_keeper_has_one_notice(shop: Shop, keeper: str, other: str) -> None:
    status = await ask(shop.ana, "gitring_status", intentId=keeper)
    [notice] = status.data["changeRequests"]
    assert not notice["blocking"] and f"intentId {other}" in notice["do"] and "As said." not in status.text
    assert "1 open change request." in status.lines
    acked = await ask(shop.ana, "gitring_ack", intentId=keeper, changeRequestId=notice["id"])
    assert acked.data["changeRequests"] == []


async def _a_push_of_the_yielded_file_is_refused(shop: Shop, told: Told) -> None:
    work = await shop.work(shop.priya, told)
    await work.commit(TYPED)
    ran = await work.push()
    assert ran.code != 0
    assert (
        "Intent #2 yielded src/money.ts to intent #1, which keeps it until it merges or is withdrawn. Take the changes to "
        "src/money.ts out of the commits you push, leave it out of your plan with gitring_update_plan, and push again."
        in ran.err
    )
    status = await ask(shop.priya, "gitring_status", intentId=told.id)
    [kept] = [one for one in status.data["doNotChange"] if one["keeper"]]
    assert (kept["place"], kept["keeper"]) == ("src/money.ts", 1)


async def test_what_is_pushed_already_is_never_narrowed(shop: Shop) -> None:
    answered(await shop.owner.http.patch(f"/api/v1/projects/{shop.slug}", json={"mediation": "narrow"}))
    one = await ask(shop.ana, "gitring_declare", **work("One", "src/money.ts", "src/refunds.ts"))
    await shop.pushed(shop.ana, one, TYPED)
    urgent = await ask(
        shop.priya, "gitring_declare", **work("Now", "src/money.ts", "README.md"), priority="high"
    )
    assert urgent.data["intent"]["state"] == "active"
    held = await ask(shop.ana, "gitring_status", intentId=one.id)
    assert (held.data["intent"]["state"], held.data["conflicts"][0]["verdict"]) == ("held", "hold")
    assert "Same place (src/money.ts). #1 holds until #2 merges or is withdrawn (rule R3)." in held.text
    assert held.line("Next: ") == (
        "Next: #1 is held until #2 merges or is withdrawn. Do not push; your work is safe locally. Call gitring_wait with "
        f"intentId {one.id} and afterSeq {held.seq}."
    )


async def test_one_that_is_held_is_told_how_to_go_on_with_the_rest(shop: Shop) -> None:
    await ask(shop.ana, "gitring_declare", **work("One", "src/money.ts"))
    held = await ask(shop.priya, "gitring_declare", **work("Two", "src/money.ts", "src/refunds.ts"))
    assert held.line("Next: ") == (
        "Next: #2 is held until #1 merges or is withdrawn. Do not push; your work is safe locally. To go on now with the "
        "rest, leave src/money.ts out of your plan with gitring_update_plan; else call gitring_wait with intentId "
        f"{held.id} and afterSeq {held.seq}."
    )
    freed = await ask(shop.priya, "gitring_update_plan", intentId=held.id, plan=plan("src/refunds.ts"))
    assert freed.lines[:2] == ["#2 has plan v2. State: Active.", "0 conflicts."]
