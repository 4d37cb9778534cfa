"""gitring_projects and gitring_declare in all the forms the document shows."""

import re

import pytest

from tests.document import commands
from tests.document.shop import CURRENCY, SHOP, Shop, Told, ask, opened, plan, work
from tests.support.agent import Owner, answered

ULID = "[0-9A-HJKMNP-TV-Z]{26}"


def began(shop: Shop, told: Told, number: int) -> None:
    """A declare that may start at once: the document's first example."""
    url, project_id = shop.owner.url, shop.project["id"]
    assert told.lines[0] == f"#{number} declared in {shop.slug}. State: Active. Risk: low."
    assert told.lines[1] == "0 conflicts."
    where = commands.remote(url, project_id)
    assert told.line("Intent id: ") == f"Intent id: {told.id}. Push to refs/intents/{told.id} on {where}."
    push = commands.push(url, project_id, told.id)
    assert told.line("Next: ") == (
        "Next: Write and commit your work; get a git token with gitring_clone and export it as GITRING_GIT_TOKEN, then "
        f"push from the checkout you work in with: {push}; then call gitring_submit."
    )
    assert told.data["push"] == {"url": where, "ref": f"refs/intents/{told.id}", "command": push}
    assert told.lines[-1] == f"afterSeq: {told.seq}"
    assert (told.data["waitingFor"], told.data["conflicts"], told.data["reserved"]) == ("you", [], [])


async def test_projects_are_listed_with_their_heads_and_live_intents(shop: Shop) -> None:
    await ask(shop.ana, "gitring_declare", **CURRENCY)
    told = await ask(shop.ana, "gitring_projects")
    head = shop.project["head"][:7]
    assert told.lines[:2] == ["1 project:", f"{shop.slug} {shop.project['id']} main {head} 1 live intent"]
    assert told.lines[2] == "You act for Owner."


async def test_an_intent_is_declared_by_id_by_slug_and_without_either(shop: Shop) -> None:
    for number, named in enumerate(({"projectId": shop.project["id"]}, {"projectId": shop.slug}, {}), 1):
        told = await ask(shop.ana, "gitring_declare", **named, **CURRENCY)
        began(shop, told, number)
        assert re.fullmatch(f"int_{ULID}", told.id)
        assert told.data["intent"]["plan"]["scope"] == CURRENCY["plan"]["scope"]
        await ask(shop.ana, "gitring_withdraw", intentId=told.id, reason="Again.")


async def test_a_token_of_several_projects_is_told_to_name_one(owner: Owner) -> None:
    first, second = await owner.project(SHOP), await owner.project(SHOP)
    made = answered(
        await owner.http.post("/api/v1/tokens", json={"name": "a", "projects": [first["id"], second["id"]]})
    )
    agent = await owner.agent_with(first, made["token"])
    async with agent.over_mcp():
        told = await ask(agent, "gitring_declare", **CURRENCY)
        assert told.text.startswith("invalid_input: Name the project with projectId: ")
        for project in (first, second):
            assert f"{project['slug']} ({project['id']})" in told.text
        listed = await ask(agent, "gitring_projects")
        assert listed.lines[0] == "2 projects:"
        assert not (await ask(agent, "gitring_declare", projectId=second["slug"], **CURRENCY)).refused


async def test_numbers_and_names_are_reserved_and_said_to_the_letter(shop: Shop) -> None:
    made = await shop.owner.http.post(
        f"/api/v1/projects/{shop.slug}/series", json={"prefix": "D", "next": 560}
    )
    assert made.status_code == 201, made.text
    claims = [{"series": "D", "count": 2}, {"name": "table:invoices"}]
    told = await ask(
        shop.ana, "gitring_declare", **work("Record the invoice decision", "docs/DECISIONS.md"), claims=claims
    )
    assert told.line("Reserved: ") == "Reserved: D560, D561, table:invoices."
    assert told.data["reserved"] == ["D560", "D561", "table:invoices"]
    assert (
        "Reserves D560, D561, table:invoices."
        in (await ask(shop.ana, "gitring_board", projectId=shop.slug)).text
    )
    held = await ask(shop.priya, "gitring_declare", **work("Too", "README.md"), claims=claims[1:])
    assert held.data["code"] == "claim_held" and "intent #1" in held.text and "table:invoices" in held.text
    unknown = await ask(shop.priya, "gitring_declare", **work("Too", "README.md"), claims=[{"series": "ADR"}])
    assert unknown.data["code"] == "unknown_series"
    assert f"{shop.slug} has no series ADR" in unknown.text and "ask Owner to create ADR" in unknown.text
    await ask(shop.ana, "gitring_withdraw", intentId=told.id, reason="Later.")
    again = await ask(shop.priya, "gitring_declare", **work("Too", "README.md"), claims=claims)
    assert again.line("Reserved: ") == "Reserved: D562, D563, table:invoices."


async def test_a_fix_for_a_shipped_version_targets_its_line_and_meets_only_what_is_there(shop: Shop) -> None:
    lines = f"/api/v1/projects/{shop.slug}/lines"
    fix = work("Fix rounding on refunds", "src/refunds.ts#refund", target="release/2.x")
    unknown = await ask(shop.ana, "gitring_declare", **fix)
    assert unknown.data["code"] == "unknown_line"
    assert unknown.text == (
        f"unknown_line: There is no line release/2.x in {shop.slug}. An owner creates it first."
    )
    answered(await shop.owner.http.post(lines, json={"name": "release/2.x", "from": "main"}))
    assert not (
        await ask(shop.priya, "gitring_declare", **work("Round on main", "src/refunds.ts#refund"))
    ).refused
    told = await ask(shop.ana, "gitring_declare", **fix)
    assert (told.data["intent"]["line"], told.data["conflicts"]) == ("release/2.x", [])
    board = await ask(shop.ana, "gitring_board", projectId=shop.slug)
    assert [line for line in board.lines if line.startswith("On ")] == ["On main:", "On release/2.x:"]


async def test_a_risky_plan_that_uses_what_another_changes_waits_for_a_person_with_its_change_request(
    shop: Shop,
) -> None:
    first = await ask(shop.ana, "gitring_declare", **work("Add gift cards", "src/cart/cart.ts#Cart.total"))
    told = await ask(
        shop.priya,
        "gitring_declare",
        **work("Take orders", "src/payments/", use=("src/cart/cart.ts#Cart.total",)),
    )
    assert told.lines[0] == f"#2 declared in {shop.slug}. State: Plan review. Risk: high."
    assert told.lines[1] == "High risk: changes a whole folder (src/payments/)"
    assert told.lines[2] == "A person must approve the plan before you write code."
    assert told.lines[3:5] == [
        "1 conflict:",
        "#1 and #2. Range 1: Changes what the other uses (src/cart/cart.ts#Cart.total). #2 adapts its plan to #1 "
        "(rule R1a).",
    ]
    page = f"{shop.owner.url}/p/{shop.slug}/i/2"
    assert told.line("Next: ") == (
        f"Next: A person must approve the plan first, at {page}: call gitring_wait with intentId {told.id} and afterSeq "
        f"{told.seq}. Do not write code yet."
    )
    [request] = told.data["changeRequests"]
    assert told.text.split("\n\n")[1] == (
        f"GITRING CHANGE REQUEST {request['id']} (from gitring, conflict {told.data['conflicts'][0]['id']}, "
        "src/cart/cart.ts#Cart.total)\n"
        "  Intent #1 changes src/cart/cart.ts#Cart.total, which your plan uses.\n"
        f"Do: adapt your steps to that change (gitring_board with intentId {first.id} shows the plan of #1), push, then "
        "gitring_ack."
    )
    assert told.line("Goes after ") == "Goes after #1 (uses src/cart/cart.ts)."


async def test_two_sessions_of_one_connection_are_told_apart_without_their_names(shop: Shop) -> None:
    for name in ("left window", "right window"):
        await ask(
            shop.ana, "gitring_declare", **work(f"From {name[:4]}", f"docs/{name[:4]}.md"), **{"as": name}
        )
    board = (await ask(shop.priya, "gitring_board", projectId=shop.slug)).text
    assert "Active (claude-code (agent 1) for Owner, waits for its agent)" in board
    assert "Active (claude-code (agent 2) for Owner, waits for its agent)" in board
    assert "window" not in board


async def test_the_issue_and_what_the_intent_goes_after_are_kept(shop: Shop) -> None:
    first = await ask(shop.ana, "gitring_declare", **work("First", "src/money.ts"))
    issue = "https://github.com/acme/storefront/issues/7"
    told = await ask(
        shop.priya,
        "gitring_declare",
        **work("Second", "src/format/price.ts", use=("src/money.ts#Money",)),
        issue=issue,
        dependsOn=[first.id],
    )
    assert told.data["intent"]["issue"] == issue
    assert told.data["intent"]["dependsOn"] == [
        {"id": first.id, "number": 1, "why": "declared", "path": None}
    ]
    assert told.line("Goes after ") == "Goes after #1 (declared)."
    assert (await ask(shop.ana, "gitring_status", intentId=first.id)).data["intent"]["dependents"] == [2]
    kept = await ask(
        shop.priya, "gitring_update_plan", intentId=told.id, plan=plan("src/format/price.ts", "README.md")
    )
    assert (kept.data["intent"]["issue"], len(kept.data["intent"]["dependsOn"])) == (issue, 1)
    gone = await ask(
        shop.priya, "gitring_update_plan", intentId=told.id, plan=plan("README.md"), issue=None, dependsOn=[]
    )
    assert (gone.data["intent"]["issue"], gone.data["intent"]["dependsOn"]) == (None, [])


@pytest.mark.parametrize(
    ("use", "shown"),
    [
        ("src/money.ts#Money.add", [{"number": 1, "why": "uses", "path": "src/money.ts"}]),
        ("src/", []),
    ],
)
async def test_a_file_in_use_implies_an_order_and_a_folder_none(
    owner: Owner, use: str, shown: list[dict[str, object]]
) -> None:
    async with opened(owner) as shop:
        first = await ask(shop.ana, "gitring_declare", **work("Money", "src/money.ts#Money"))
        told = await ask(shop.priya, "gitring_declare", **work("Docs", "README.md", use=(use,)))
        found = told.data["intent"]["dependsOn"]
        assert [{key: one[key] for key in ("number", "why", "path")} for one in found] == shown
        assert ("Goes after #1 (uses src/money.ts)." in told.lines) == bool(shown)
        after = (await ask(shop.ana, "gitring_status", intentId=first.id)).data["intent"]["dependents"]
        assert after == ([2] if shown else [])
