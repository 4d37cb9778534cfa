"""Bad input at every door: a clear refusal with a next step, nothing lost, and the next call works."""

import json
from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Any

import httpx2
import pytest_asyncio

from protocol.ids import new_id
from tests.e2e.line import landed
from tests.support.agent import Agent, Answer, Owner, Work, client, declaration, git
from tests.support.stack import RunningStack

APP = {"app/f1.py": "x = 1\n", "app/f2.py": "x = 2\n"}
MISSING = "int_01ARZ3NDEKTSV4RRFFQ69G5FAV"


@dataclass
class Scene:
    """One project with an intent, and a second project of the same owner."""

    owner: Owner
    project: Answer
    agent: Agent
    intent: Answer
    other: Answer
    stranger: Agent
    strange: Answer

    async def still_works(self) -> None:
        """After whatever was refused, the same agent declares, and nothing else came into the record."""
        before = await self.owner.events(self.project)
        made = await self.agent.declare("After it", ["app/f2.py"])
        assert made["intent"]["state"] == "active"
        await self.agent.withdraw(made)
        kinds = [e["event_type"] for e in (await self.owner.events(self.project))[len(before) :]]
        assert kinds == ["intent.declared", "intent.state_changed"]
        await self.owner.audit(self.project)


@pytest_asyncio.fixture
async def scene(owner: Owner) -> AsyncIterator[Scene]:
    project, other = await owner.project(APP, "true"), await owner.project(APP, "true")
    agent, stranger = await owner.agent(project), await owner.agent(other, "stranger")
    intent = await agent.declare("First", ["app/f1.py"])
    yield Scene(owner, project, agent, intent, other, stranger, await stranger.declare("Far", ["app/f1.py"]))


def refusal(response: httpx2.Response, status: int, code: str) -> dict[str, str]:
    """The error of a refused REST call, which names a next step."""
    assert response.status_code == status, response.text
    error: dict[str, str] = response.json()["error"]
    assert error["code"] == code, error
    assert error["message"] and error["next"], error
    return error


def body(**more: Any) -> dict[str, Any]:
    return {**declaration("Bad", ["app/f2.py"]), **more}


async def test_what_does_not_exist_or_is_another_projects_is_not_found(scene: Scene) -> None:
    http = scene.agent.http
    for intent_id in (MISSING, scene.strange["intent"]["id"]):
        for method, path, sent in (
            ("GET", "", None),
            ("GET", "/wait?afterSeq=0&seconds=0", None),
            ("POST", "/submit", {}),
            ("POST", "/withdraw", {"reason": "no"}),
            ("POST", "/plan", {"plan": body()["plan"]}),
            ("POST", "/ack", {"changeRequestId": "chq_01ARZ3NDEKTSV4RRFFQ69G5FAV"}),
            ("POST", "/decisions", {"decision": "approve", "subject": "plan"}),
        ):
            answer = await http.request(method, f"/api/v1/intents/{intent_id}{path}", json=sent)
            # A wait opens its response early, so its failure may come under status 200.
            assert answer.json()["error"]["code"] == "not_found", (path, answer.text)
            assert scene.strange["intent"]["title"] not in answer.text
    for ref in ("nowhere", "prj_01ARZ3NDEKTSV4RRFFQ69G5FAV", scene.other["id"], scene.other["slug"]):
        error = refusal(
            await http.post("/api/v1/intents", json=body(projectId=ref)), 403, "project_not_in_token"
        )
        assert scene.project["slug"] in error["message"] and "gitring_projects" in error["next"]
        for path in ("board", "events", "audit", "intents"):
            answer = await http.get(f"/api/v1/projects/{ref}/{path}")
            assert answer.status_code in (403, 404), answer.text
    refusal(await http.get("/api/v1/checks/chk_01ARZ3NDEKTSV4RRFFQ69G5FAV/log"), 404, "not_found")
    error = refusal(await http.post("/api/v1/intents", json=body(target="release/9")), 400, "unknown_line")
    assert "release/9" in error["message"]
    for ids in ([MISSING], [scene.strange["intent"]["id"]]):
        refusal(await http.post("/api/v1/intents", json=body(dependsOn=ids)), 400, "invalid_input")
    await scene.still_works()


async def test_a_token_that_is_missing_malformed_revoked_or_of_the_wrong_kind_is_refused(
    scene: Scene,
) -> None:
    git_token = (await scene.agent.call("gitring_clone", projectId=scene.project["id"]))["token"]
    for token in (None, "nonsense", "gitring_agent_" + "x" * 43, "gitring_person_\u00e4", "gitring_agent_"):
        headers = {"Authorization": f"Bearer {token}".encode()} if token else {}
        async with client(scene.owner.url) as http:
            for method, path in (("GET", "/api/v1/projects"), ("POST", "/api/v1/intents"), ("POST", "/mcp")):
                answer = await http.request(method, path, json={}, headers=headers)
                assert answer.status_code == 401, (token, path, answer.text)
                assert "Bearer" in answer.headers["www-authenticate"]
    async with client(scene.owner.url, git_token) as http:
        refusal(await http.get("/api/v1/projects"), 403, "forbidden")
    for path, sent in (
        ("tokens", {"name": "x", "projects": [scene.project["slug"]]}),
        ("projects", {"slug": "mine"}),
    ):
        refusal(await scene.agent.http.post(f"/api/v1/{path}", json=sent), 403, "people_only")
    refusal(
        await scene.agent.http.patch(
            f"/api/v1/projects/{scene.project['id']}", json={"mergeApproval": "never"}
        ),
        403,
        "forbidden",
    )
    listed = (await scene.owner.http.get("/api/v1/tokens")).json()["tokens"]
    mine = next(t for t in listed if t["name"] == "stranger" and t["projects"] == [scene.other["slug"]])
    assert (await scene.owner.http.delete(f"/api/v1/tokens/{mine['id']}")).status_code == 200
    refusal(await scene.stranger.http.get("/api/v1/projects"), 401, "unauthenticated")
    await scene.still_works()


async def test_bodies_that_are_no_json_too_large_or_hold_unknown_fields_are_refused(scene: Scene) -> None:
    http = scene.agent.http
    for content in (b"", b"{", b"[1]", b'"text"', b"null", b"\xff\xfe", b"{'a': 1}", b'{"a": NaN}'):
        headers = {"content-type": "application/json"}
        refusal(await http.post("/api/v1/intents", content=content, headers=headers), 400, "invalid_input")
    large = body(goal="g" * (1 << 20))
    refusal(await http.post("/api/v1/intents", json=large), 413, "too_large")
    assert (await http.post("/mcp", json=large)).status_code == 413

    async def chunks() -> AsyncIterator[bytes]:
        for _ in range(40):
            yield b" " * (1 << 15)

    refusal(await http.post("/api/v1/intents", content=chunks()), 413, "too_large")
    error = refusal(await http.post("/api/v1/intents", json=body(colour="red")), 400, "invalid_input")
    assert "colour" in error["message"]
    wrong: list[dict[str, Any]] = [
        {"title": ""},
        {"title": "t" * 301},
        {"title": None},
        {"priority": "urgent"},
        {"issue": "http://insecure.example.com/1"},
        {"issue": "https://user:word@example.com/1"},
        {"requestId": "with space"},
        {"plan": {"summary": "s"}},
        {"plan": {"summary": "s", "scope": {"change": []}}},
        {"plan": {"summary": "s", "scope": {"change": [{"path": "a", "colour": 1}]}}},
        {"goal": "zero \u0000 byte"},
        {"title": "zero \u0000 byte"},
        {"title": "half \ud800 pair"},
    ]
    for fields in wrong:
        raw = json.dumps(body(**fields)).encode()
        headers = {"content-type": "application/json"}
        refusal(await http.post("/api/v1/intents", content=raw, headers=headers), 400, "invalid_input")
    await scene.still_works()


async def test_a_zero_byte_or_half_a_character_is_refused_wherever_it_stands(scene: Scene) -> None:
    mine, http, person = f"/api/v1/intents/{scene.intent['intent']['id']}", scene.agent.http, scene.owner.http
    settings = f"/api/v1/projects/{scene.project['id']}"
    plan = body()["plan"]
    for bad in ("zero \u0000 byte", "half \ud800 pair"):
        tries: list[tuple[httpx2.AsyncClient, str, str, Any]] = [
            (http, "POST", "/api/v1/intents", body(plan={**plan, "summary": bad})),
            (http, "POST", "/api/v1/intents", body(plan={**plan, "steps": [bad]})),
            (http, "POST", "/api/v1/intents", body(plan={**plan, "checks": [bad]})),
            (http, "POST", "/api/v1/intents", body(goal=bad)),
            (http, "POST", "/api/v1/intents", body(target=bad)),
            (http, "POST", "/api/v1/intents", body(projectId=bad)),
            (http, "POST", "/api/v1/intents", {**body(), "as": bad}),
            (http, "POST", f"{mine}/plan", {"plan": plan, "reason": bad}),
            (http, "POST", f"{mine}/withdraw", {"reason": bad}),
            (http, "POST", f"{mine}/withdraw", {"reason": "no", "requestId": bad}),
            (person, "POST", f"{mine}/decisions", {"decision": "approve", "subject": "plan", "note": bad}),
            (person, "POST", "/api/v1/tokens", {"name": bad, "projects": [scene.project["id"]]}),
            (person, "POST", "/api/v1/tokens", {"name": "x", "projects": [bad]}),
            (person, "POST", "/api/v1/projects", {"slug": "fine", "source": bad}),
            (person, "POST", "/api/v1/projects", {"slug": "fine", "checks": {"test": bad}}),
            (person, "PATCH", settings, {"checks": {"test": "true", "environment": [bad]}}),
            (person, "PATCH", settings, {"checks": {"test": bad}}),
            (http, "GET", f"/api/v1/projects/{'%00' if 'zero' in bad else '%ed%a0%80'}/board", None),
            (http, "GET", f"/api/v1/projects/{scene.project['id']}/board?cursor=%00", None),
            (http, "GET", "/api/v1/checks/%00", None),
            (http, "GET", "/api/v1/checks/%00/log", None),
            (person, "DELETE", "/api/v1/tokens/%00", None),
            (http, "GET", "/api/v1/intents/int_%00", None),
        ]
        for who, method, path, sent in tries:
            raw = None if sent is None else json.dumps(sent).encode()
            answer = await who.request(
                method, path, content=raw, headers={"content-type": "application/json"}
            )
            assert 400 <= answer.status_code < 500, (path, sent, answer.status_code, answer.text)
            assert answer.json()["error"]["next"]
    await scene.still_works()


async def test_paths_that_leave_the_repository_or_cannot_be_in_one_are_refused_with_the_reason(
    scene: Scene,
) -> None:
    bad = {
        "": "empty",
        "/etc/passwd": "root",
        "../up": "..",
        "app/../../up": "..",
        "app/./f1.py": "'.'",
        "app//f1.py": "empty part",
        ".git/config": ".git",
        "app/.GIT/hooks": ".git",
        "app\\f1.py": "backslash",
        "app/\nf1.py": "control",
        "app/\u0000f1.py": "control",
        "a" * 4097: "4096",
    }
    for path, word in bad.items():
        for scope in (
            {"change": [{"path": path}]},
            {"change": [{"path": "app/f2.py"}], "use": [{"path": path}]},
        ):
            sent = body(plan={"summary": "s", "scope": scope})
            error = refusal(await scene.agent.http.post("/api/v1/intents", json=sent), 400, "invalid_input")
            assert word in error["message"], (path, error)
    await scene.still_works()


async def test_mcp_refuses_the_same_and_says_what_to_do(scene: Scene) -> None:
    async with scene.agent.over_mcp() as mcp:
        for name, arguments, word in (
            ("gitring_status", {"intentId": MISSING}, "not_found: "),
            ("gitring_declare", {"title": "x"}, "invalid_input: "),
            ("gitring_declare", {**body(), "colour": "red"}, "colour"),
            ("gitring_declare", body(target="release/9"), "unknown_line: "),
            ("gitring_explode", {}, "gitring_board"),
            ("gitring_submit", {"intentId": scene.intent["intent"]["id"]}, "nothing_pushed: "),
        ):
            result = await mcp.call_tool(name, arguments)
            assert result.is_error and word in result.content[0].text, (name, result)  # type: ignore[union-attr]
    await scene.still_works()


async def test_git_takes_only_a_git_token_of_this_project_and_pushes_only_to_the_own_intent(
    stack: RunningStack, scene: Scene
) -> None:
    work = await scene.agent.checkout(scene.intent)
    good, line = dict(work.environment), scene.intent["push"]["command"]
    head = await work.commit({"app/f1.py": "y = 1\n"})
    far = (await scene.stranger.call("gitring_clone", projectId=scene.other["id"]))["token"]
    for token, word in (
        (scene.agent.token, "git accepts only a git token"),
        (stack.connection["owner_token"], "git accepts only a git token"),
        (far, "This token cannot use project"),
        ("gitring_git_" + "x" * 43, "gitring_clone"),
    ):
        work.environment = {"GITRING_GIT_TOKEN": token}
        ran = await work.push()
        assert ran.code != 0 and word in ran.err, (token[:14], ran.err)
    work.environment = {}
    ran = await work.push()
    assert ran.code != 0 and "GITRING_GIT_TOKEN is not set" in ran.err
    work.environment = good
    own = scene.intent["intent"]["id"]
    for target, word in (
        ("refs/heads/main", f"gitring writes main. Push to refs/intents/{own}, then call gitring_submit."),
        ("refs/heads/new", "only people create lines"),
        ("refs/tags/v1", "only people create lines and tags"),
        (f"refs/intents/{MISSING}", "There is no intent"),
        ("refs/gitring/accepted/x", "Refused"),
        (f"refs/intents/{own} HEAD:refs/heads/main", "one ref at a time"),
    ):
        ran = await work.push(line.replace(f"refs/intents/{own}", target))
        assert ran.code != 0 and word in ran.err, (target, ran.err)
    ran = await work.push(line.replace(f"HEAD:refs/intents/{own}", f":refs/intents/{own}"))
    assert ran.code != 0
    assert (await scene.agent.status(scene.intent))["intent"]["head"] is None
    assert (await work.push()).code == 0
    ran = await work.push(line.replace(f"HEAD:refs/intents/{own}", f":refs/intents/{own}"))
    assert ran.code != 0 and "gitring_withdraw" in ran.err
    assert (await scene.agent.status(scene.intent))["intent"]["head"] == head
    stale = await work.commit({"app/f1.py": "z = 1\n"})
    assert stale != head
    error = await scene.agent.http.post(f"/api/v1/intents/{own}/submit", json={"headCommit": stale})
    assert refusal(error, 409, "stale_head")["message"].startswith(f"You submitted {stale[:7]}")
    await scene.agent.wait_until(await scene.agent.submit(scene.intent), "merged")
    ran = await work.push()
    assert ran.code != 0 and "is merged" in ran.err
    assert await landed(stack, scene.project) == [1]


async def test_a_forced_push_to_the_own_ref_replaces_the_work(scene: Scene) -> None:
    work: Work = await scene.agent.checkout(scene.intent)
    await work.pushed({"app/f1.py": "y = 1\n", "app/f2.py": "y = 1\n"})
    await git(work.at, "reset", "-q", "--hard", "HEAD~1")
    head = await work.commit({"app/f1.py": "z = 1\n"})
    forced = scene.intent["push"]["command"].replace("HEAD:", "+HEAD:")
    ran = await work.push(forced)
    assert ran.code == 0, ran.err
    detail = await scene.agent.status(scene.intent)
    assert detail["intent"]["head"] == head and detail["drift"] == []


async def test_sources_that_cannot_be_imported_are_refused_and_leave_nothing(
    stack: RunningStack, owner: Owner
) -> None:
    folder = owner.folder
    (folder / "empty").mkdir()
    await git(folder, "init", "-q", "-b", "main", "empty")
    (folder / "plain").mkdir()
    before = sorted(p.name for p in (stack.folder / "repositories").iterdir())
    for source in (
        str(folder / "empty"),
        str(folder / "plain"),
        str(folder / "absent"),
        "https://127.0.0.1:9/none.git",
        "ext::sh -c touch% /tmp/gitring-was-here",
        "--upload-pack=touch /tmp/gitring-was-here",
        "",
    ):
        slug = new_id("p").lower().replace("_", "-")
        error = refusal(
            await owner.http.post("/api/v1/projects", json={"slug": slug, "source": source}),
            400,
            "invalid_input",
        )
        assert "source" in error["message"] or "source" in error["next"], error
        assert (await owner.http.get(f"/api/v1/projects/{slug}")).status_code == 404
    assert sorted(p.name for p in (stack.folder / "repositories").iterdir()) == before
    project = await owner.project(APP, "true")
    answer = await owner.http.post("/api/v1/projects", json={"slug": project["slug"]})
    refusal(answer, 409, "exists")
    for slug in ("", "With Capitals", "../up", "a" * 64):
        refusal(await owner.http.post("/api/v1/projects", json={"slug": slug}), 400, "invalid_input")
