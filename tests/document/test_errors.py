"""The document's table of errors: each row that there is, as agents meet it.

The rows of a write whose outcome nobody can tell, and of its repeat meanwhile, are in `tests/e2e/test_exactly_once.py`.
"""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import asyncpg
import pytest

from protocol.ids import new_id
from tests.document import commands
from tests.document.shop import CURRENCY, TYPED, Shop, Told, ask, opened, work
from tests.support.agent import Owner, Ran, Work, answered, client, git
from tests.support.stack import RunningStack


@asynccontextmanager
async def record_of(stack: RunningStack) -> AsyncIterator[asyncpg.Connection]:
    """The stack's record, for what no door lets a test do."""
    connection = await asyncpg.connect(stack.connection["postgres"])
    try:
        yield connection
    finally:
        await connection.close()


async def started(shop: Shop, *change: str) -> tuple[Told, Work]:
    """An intent of Ana's agent, and its checkout with a commit."""
    told = await ask(shop.ana, "gitring_declare", **work("Start", *(change or ("src/money.ts",))))
    work_at = await shop.work(shop.ana, told)
    await work_at.commit(TYPED)
    return told, work_at


def said(ran: Ran) -> str:
    """What git shows of a refused push, on one line: git puts `remote: ` before each line and may break them."""
    assert ran.code != 0, ran.out
    return " ".join(line.removeprefix("remote: ").strip() for line in ran.err.splitlines())


async def pushed_to(work_at: Work, ref: str) -> str:
    """What a push of HEAD to another ref is told."""
    intent = work_at.intent
    own = f"refs/intents/{intent['intent']['id']}"
    return said(await work_at.push(intent["push"]["command"].replace(f"HEAD:{own}", f"HEAD:{ref}")))


async def test_a_request_id_stands_for_one_call(stack: RunningStack, shop: Shop) -> None:
    call = {**CURRENCY, "requestId": f"once-{new_id('x')}"}
    first = await ask(shop.ana, "gitring_declare", **call)
    again = await ask(shop.ana, "gitring_declare", **call)
    assert again.lines[0].startswith("Answer of the first call with this requestId") and again.id == first.id
    other = await ask(shop.ana, "gitring_declare", **{**call, "title": "Something else"})
    assert other.text == (
        "idempotency_key_reused: This requestId was used for a different call in the last 24 hours. Use a new requestId "
        "for each operation."
    )
    async with record_of(stack) as record:
        await record.execute(
            "UPDATE command SET answer = '{}' FROM request WHERE command_id = id AND request_id = $1",
            call["requestId"],
        )
    lost = await ask(shop.ana, "gitring_declare", **call)
    assert lost.text == (
        "already_done: The first call with this requestId was saved, but its answer was lost. Call gitring_status on the "
        "intent to see the result; do not call gitring_declare again."
    )


async def test_only_an_intents_own_ref_takes_pushes(shop: Shop) -> None:
    told, work_at = await started(shop)
    own = f"refs/intents/{told.id}"
    assert f"gitring writes main. Push to {own}, then call gitring_submit." in await pushed_to(
        work_at, "refs/heads/main"
    )
    for ref, name in (("refs/heads/release/3.x", "release/3.x"), ("refs/tags/v3", "the tag v3")):
        refusal = await pushed_to(work_at, ref)
        assert f"Refused: only people create lines and tags. Ask Owner to create {name}" in refusal
    assert "then declare your intent into it" in await pushed_to(work_at, "refs/heads/release/3.x")


async def test_a_held_intent_takes_no_push_and_no_submit(shop: Shop) -> None:
    await ask(shop.priya, "gitring_declare", **work("First", "src/money.ts"))
    told, work_at = await started(shop)
    words = "Intent #2 is held until #1 merges. Your work is safe locally. Call gitring_wait."
    assert words in said(await work_at.push())
    assert (await ask(shop.ana, "gitring_submit", intentId=told.id)).text == f"wrong_state: {words}"


async def test_a_queued_intents_code_is_locked(shop: Shop) -> None:
    line = f"/api/v1/projects/{shop.slug}/lines/main"
    answered(await shop.owner.http.post(f"{line}/pause", json={"reason": "Cutting a release."}))
    await shop.owner.http.patch(f"/api/v1/projects/{shop.slug}", json={"mergeApproval": "always"})
    told, work_at = await started(shop)
    head = await work_at.pushed({})
    submitted = await ask(shop.ana, "gitring_submit", intentId=told.id, headCommit=head)
    asked = await shop.ana.wait_until(submitted.data, "awaiting_approval")
    await work_at.commit({"README.md": "soon\n"})
    locked = "so its code is locked. To change it, ask Owner to send it back, or call gitring_withdraw."
    assert f"Intent #1 is awaiting approval, {locked}" in said(await work_at.push())
    await shop.decide(told, "approve", "merge")
    await shop.ana.wait_until(asked, "queued")
    await work_at.commit({"README.md": "later\n"})
    assert f"Intent #1 is queued, {locked}" in said(await work_at.push())


async def test_an_old_commit_and_open_requests_are_not_submitted(shop: Shop) -> None:
    told, work_at = await started(shop)
    old = await work_at.pushed({})
    new = await work_at.pushed({"src/money.ts": "// new\n"})
    stale = await ask(shop.ana, "gitring_submit", intentId=told.id, headCommit=old)
    assert stale.text == (
        f"stale_head: You submitted {old[:7]}, but the latest push to your ref is {new[:7]}. Submit {new}, or push again."
    )
    await ask(
        shop.ana,
        "gitring_update_plan",
        intentId=told.id,
        plan=work("", "src/money.ts", use=("src/refunds.ts",))["plan"],
    )
    await ask(shop.priya, "gitring_declare", **work("Refunds", "src/refunds.ts"))
    comments = f"/api/v1/intents/{told.id}/comments"
    answered(await shop.owner.http.post(comments, json={"text": "Name it amount."}))
    refused = await ask(shop.ana, "gitring_submit", intentId=told.id)
    mine = {
        one["fromKind"]: one["id"]
        for one in (await ask(shop.ana, "gitring_status", intentId=told.id)).data["changeRequests"]
    }
    assert refused.text == (
        f"open_change_requests: Intent #1 has 2 open change requests: {mine['person']} (from Owner), {mine['gitring']} "
        "(from gitring (a conflict)). Apply each one, push, call gitring_ack with each id, then submit again."
    )


async def test_git_takes_a_live_git_token_and_nothing_else(stack: RunningStack, shop: Shop) -> None:
    told, work_at = await started(shop)
    for token in (shop.ana.token, stack.connection["owner_token"]):
        work_at.environment = {"GITRING_GIT_TOKEN": token}
        assert (
            "git accepts only a git token. Call gitring_clone (or POST /api/v1/projects/<id>/git-token) with your agent "
            "token, then send the git token it returns; it lasts 60 minutes." in said(await work_at.push())
        )
    clone = await ask(shop.ana, "gitring_clone", intentId=told.id)
    async with record_of(stack) as record:
        done = await record.execute(
            "UPDATE token SET expires_at = now() - interval '1 second' WHERE expires_at = $1::text::timestamptz "
            "AND kind = 'git'",
            clone.data["expiresAt"],
        )
    assert done == "UPDATE 1"
    work_at.environment = {"GITRING_GIT_TOKEN": clone.data["token"]}
    refusal = said(await work_at.push())
    assert "Call gitring_clone for a new one" in refusal and "is safe on your intent's ref" in refusal


async def test_a_secret_in_any_pushed_commit_is_refused_by_file_and_line(shop: Shop) -> None:
    _, work_at = await started(shop)
    key = "-----BEGIN RSA PRIVATE KEY-----\n" + "MIIEpAIBAAKCAQEA7w1fJmVb3xS2n0qk\n" * 12
    await work_at.commit({"deploy/config.txt": f"host\nport\n{key}-----END RSA PRIVATE KEY-----\n"})
    refusal = said(await work_at.push())
    assert (
        "deploy/config.txt line 3 holds what looks like a private key. Remove it from every commit you push"
        in refusal
    )
    assert "git commit --amend" in refusal and "rotate the secret, and push again." in refusal


async def test_a_folder_shaped_like_a_bare_repository_is_refused(shop: Shop) -> None:
    _, work_at = await started(shop)
    files = {"HEAD": "ref: refs/heads/main\n", "objects/info/packs": "\n", "refs/heads/main": "0\n"}
    head = await work_at.commit({f"fixtures/repo/{name}": text for name, text in files.items()})
    refusal = said(await work_at.push())
    assert (
        f"bare_repository_refused: fixtures/repo/ in {head[:12]} is shaped like a bare git repository"
        in refusal
    )
    assert "Keep a fixture repository as an archive and unpack it in the test" in refusal


async def test_a_decision_by_an_agent_is_refused_by_name(shop: Shop) -> None:
    told = await ask(shop.ana, "gitring_declare", **work("Risky", "src/payments/"))
    body = {"decision": "approve", "subject": "plan"}
    refused = (await shop.ana.http.post(f"/api/v1/intents/{told.id}/decisions", json=body)).json()["error"]
    assert refused == {
        "code": "people_only",
        "message": "Only a person can decide.",
        "next": "Ask Owner to open intent #1 in gitring.",
    }


async def test_a_token_that_is_refused_and_a_project_it_does_not_name(owner: Owner, shop: Shop) -> None:
    async with client(owner.url, "gitring_agent_" + "x" * 43) as http:
        error = (await http.get("/api/v1/projects")).json()["error"]
    assert error["message"] == "The token was not accepted: it is missing, revoked or expired."
    assert "Ask the person you act for to make a new one with `gitring tokens create`" in error["next"]
    async with opened(owner) as other:
        told = await ask(shop.ana, "gitring_board", projectId=other.project["id"])
        assert told.text == (
            f"project_not_in_token: This token cannot use project {other.project['id']}. It names {shop.slug} only. Ask "
            "the person you act for to add the project, or call gitring_projects."
        )


async def test_people_only_paths_and_folders_of_named_people_are_refused_at_declare_and_push(
    shop: Shop,
) -> None:
    invited = answered(
        await shop.owner.http.post("/api/v1/people", json={"name": "Priya Raman", "projects": [shop.slug]})
    )
    rules = {"folderWriters": {"src/payments/": [invited["personId"]]}}
    answered(await shop.owner.http.patch(f"/api/v1/projects/{shop.slug}", json=rules))
    people_only = (
        f"folder_write_refused: Refused: .github/workflows/ci.yml is a people-only path in {shop.slug}. An agent's intent "
        "cannot change it. What to do: leave it out of this intent, or ask Owner to declare the change."
    )
    named = (
        f"folder_write_refused: Refused: src/payments/ is written only by intents of Priya Raman in {shop.slug}. What to "
        "do: leave src/payments/charge.ts out of this intent, or ask Priya Raman to declare the change."
    )
    for path, words in ((".github/workflows/ci.yml", people_only), ("src/payments/charge.ts", named)):
        told = await ask(shop.ana, "gitring_declare", **work("Change it", path))
        assert told.text == words
    told, work_at = await started(shop)
    for path, words in ((".github/workflows/ci.yml", people_only), ("src/payments/charge.ts", named)):
        await work_at.commit({path: "changed\n"})
        assert words in said(await work_at.push())
        await git(work_at.at, "reset", "-q", "--hard", "HEAD~1")
    status = await ask(shop.ana, "gitring_status", intentId=told.id)
    assert "- src/payments/: Written only by intents of Priya Raman." in status.lines
    assert commands.push(shop.owner.url, shop.project["id"], told.id) in status.text


@pytest.mark.parametrize("tool", ["gitring_status", "gitring_submit", "gitring_nearby"])
async def test_an_intent_that_is_not_there_is_told_with_where_to_look(shop: Shop, tool: str) -> None:
    told = await ask(shop.ana, tool, intentId="int_01JBQ8M4ZK7V3XW9N2D5HT6RYE")
    assert told.data["code"] == "not_found" and "Call gitring_board to see the live intents" in told.text
