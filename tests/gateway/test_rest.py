"""REST at /api/v1: the twins of the tools, and what only REST has."""

import asyncio
import json
from typing import Any

import pytest
from inline_snapshot import snapshot

from gateway.rest.examples import EXAMPLES
from protocol.answers import DeclareResult, IntentDetail, WaitAnswer
from protocol.refusals import busy, not_found
from protocol.states import State
from protocol.tools import TOOLS
from storage.sql.pool import RecordBusy
from tests.gateway import samples
from tests.gateway.edge import Edge

INTENT = f"/api/v1/intents/{samples.INTENT}"
PROJECT = "/api/v1/projects/storefront"
DECLARE = EXAMPLES[next(tool.input for tool in TOOLS if tool.name == "gitring_declare")]
WAIT = f"{INTENT}/wait"

CALLS: dict[str, tuple[str, dict[str, Any] | None]] = {
    "gitring_projects": ("/api/v1/projects", None),
    "gitring_asks": ("/api/v1/asks?projectId=storefront&wait=0", None),
    "gitring_declare": ("/api/v1/intents", DECLARE),
    "gitring_clone": (f"{PROJECT}/git-token", {"intentId": samples.INTENT}),
    "gitring_status": (INTENT, None),
    "gitring_wait": (f"{WAIT}?afterSeq=3&seconds=0", None),
    "gitring_update_plan": (f"{INTENT}/plan", {"plan": {"summary": "s", "scope": {}}, "issue": None}),
    "gitring_ack": (f"{INTENT}/ack", {"changeRequestId": samples.REQUEST}),
    "gitring_submit": (f"{INTENT}/submit", {}),
    "gitring_withdraw": (f"{INTENT}/withdraw", {"reason": "no"}),
    "gitring_board": (f"{PROJECT}/board?intentId={samples.INTENT}", None),
    "gitring_brief": (f"{PROJECT}/brief?area=src/,README.md&afterSeq=4", None),
    "gitring_nearby": (f"{INTENT}/nearby", None),
}


def error(response: Any) -> dict[str, str]:
    """The error of an answer in our shape."""
    found: dict[str, str] = response.json()["error"]
    assert set(found) == {"code", "message", "next"}
    assert found["message"] and found["next"]
    return found


@pytest.mark.parametrize("tool", TOOLS, ids=lambda tool: tool.name)
async def test_each_tool_has_a_twin_with_the_same_input_and_answer(edge: Edge, tool: Any) -> None:
    path, body = CALLS[tool.name]
    method = tool.rest.split()[0]
    response = (
        await edge.http.request(method, path, json=body) if body is not None else await edge.http.get(path)
    )
    assert response.status_code == (201 if tool.name == "gitring_declare" else 200), response.text
    assert response.headers["content-type"] == "application/json"
    tool.answer.model_validate(response.json())
    [(operation, given)] = edge.operations.asked
    assert operation == tool.operation
    assert isinstance(given, tool.input)


async def test_a_twin_takes_its_ids_from_the_address_and_keeps_what_was_left_out_apart_from_null(
    edge: Edge,
) -> None:
    await edge.http.post(f"{INTENT}/plan", json={"plan": {"summary": "s", "scope": {}}, "issue": None})
    [(_, given)] = edge.operations.asked
    assert given.intent_id == samples.INTENT
    assert "issue" in given.model_fields_set
    assert "depends_on" not in given.model_fields_set


async def test_a_body_of_only_optional_fields_may_be_left_out(edge: Edge) -> None:
    assert (await edge.http.post(f"{INTENT}/submit")).status_code == 200


async def test_answers_are_camel_case_and_typed(edge: Edge) -> None:
    declared = DeclareResult.model_validate((await edge.http.post("/api/v1/intents", json=DECLARE)).json())
    assert declared == samples.declare_result()
    status = (await edge.http.get(INTENT)).json()
    assert IntentDetail.model_validate(status) == samples.full_detail()
    assert status["changeRequests"][0]["from"] == "Jonas Weber"


@pytest.mark.parametrize(
    ("method", "path", "body", "message"),
    [
        ("GET", "/api/v1/intents/49", None, "intentId must be an intent's id, such as int_01JBQ8M4ZK7V3XW9N2D5HT6RYE."),
        ("GET", WAIT, None, "afterSeq is missing."),
        ("GET", f"{WAIT}?afterSeq=1&seconds=201", None, "seconds should be less than or equal to 200."),
        ("GET", f"{WAIT}?afterSeq=1&second=2", None, "second is not a field of this call."),
        ("POST", f"{INTENT}/submit", {"headCommit": "abc"}, "headCommit must be a full commit id, 40 hex digits in lower case."),
        ("POST", f"{INTENT}/submit", {"intentId": samples.INTENT}, "intentId is not a field of this call."),
        ("POST", "/api/v1/intents", {**DECLARE, "title": ""}, "title needs at least 1 characters."),
        ("POST", "/api/v1/projects", {"slug": "No Slug"}, "slug has lower-case letters, digits and hyphens, at most 63, and starts with a letter or digit."),
        ("POST", "/api/v1/tokens", {"name": "n", "projects": []}, "projects needs at least 1 items."),
        ("POST", "/api/v1/projects", [], "The input must be a JSON object."),
        ("POST", f"{INTENT}/decisions", {"decision": "merge", "subject": "plan"}, "decision should be 'approve' or 'send_back'."),
        ("GET", f"{PROJECT}/intents?state=merging", None, "state.0 should be 'plan_review', 'active', 'held', 'verifying', 'awaiting_approval', 'queued', 'merged' or 'withdrawn'."),
        ("GET", f"{PROJECT}/events?afterSeq=-1", None, "afterSeq should be greater than or equal to 0."),
    ],
)  # fmt: skip
async def test_bad_input_is_400_and_names_the_field(
    edge: Edge, method: str, path: str, body: Any, message: str
) -> None:
    response = await edge.http.request(method, path, **({"json": body} if body is not None else {}))
    assert response.status_code == 400
    found = error(response)
    assert (found["code"], found["message"]) == ("invalid_input", message)
    assert edge.operations.asked == []


async def test_a_body_that_is_not_json_is_400(edge: Edge) -> None:
    headers = {"Content-Type": "application/json"}
    response = await edge.http.post("/api/v1/intents", content=b"{nope", headers=headers)
    assert (response.status_code, error(response)["message"]) == (400, "The body is not JSON.")


async def test_an_address_that_is_not_there_is_404(edge: Edge) -> None:
    for path in ("/", "/api/v1/nothing", "/api/v2/projects", "/docs"):
        response = await edge.http.get(path)
        assert (response.status_code, error(response)["code"]) == (404, "not_found")


async def test_a_method_that_is_not_taken_is_405(edge: Edge) -> None:
    response = await edge.http.delete(INTENT)
    assert (response.status_code, error(response)["code"]) == (405, "method_not_allowed")
    assert response.headers["allow"] == "GET"


async def test_a_body_over_a_mebibyte_is_413(edge: Edge) -> None:
    response = await edge.http.post("/api/v1/intents", content=b"x" * (1024 * 1024 + 1))
    assert (response.status_code, error(response)["code"]) == (413, "too_large")


async def test_git_takes_bodies_of_any_size_and_keeps_its_own_headers(edge: Edge) -> None:
    response = await edge.http.post("/git/p.git/git-receive-pack", content=b"x" * (3 * 1024 * 1024))
    assert response.text == str(3 * 1024 * 1024)
    assert "content-security-policy" not in response.headers


@pytest.mark.parametrize("token", ["gitring_agent_other", "x", "gitring_mcp_for-tests", "gitring_git_x"])
async def test_a_token_that_does_not_open_rest_is_refused(edge: Edge, token: str) -> None:
    response = await edge.http.get("/api/v1/projects", headers={"Authorization": f"Bearer {token}"})
    kind = token.split("_")[1] if "_" in token else ""
    assert response.status_code == (403 if kind in ("mcp", "git") else 401)
    assert error(response)["code"] == ("forbidden" if kind in ("mcp", "git") else "unauthenticated")
    assert ("www-authenticate" in response.headers) == (response.status_code == 401)


async def test_a_busy_record_is_503_with_retry_after(edge: Edge) -> None:
    async def locked(_: Any) -> None:
        raise RecordBusy("locked")

    edge.operations.script["status"] = locked
    response = await edge.http.get(INTENT)
    assert (response.status_code, error(response)["code"]) == (503, "busy")
    assert response.headers["retry-after"] == "2"


async def test_a_defect_is_500_in_our_shape(edge: Edge, caplog: pytest.LogCaptureFixture) -> None:
    async def broken(_: Any) -> None:
        raise ZeroDivisionError("secret")

    edge.operations.script["status"] = broken
    response = await edge.http.get(INTENT)
    assert (response.status_code, error(response)["code"]) == (500, "internal_error")
    assert "secret" not in response.text
    assert "ZeroDivisionError" in caplog.text


async def test_every_answer_forbids_guessing_framing_and_keeping(edge: Edge) -> None:
    for path in ("/healthz", INTENT, "/nothing", f"{WAIT}?afterSeq=1&seconds=0"):
        headers = (await edge.http.get(path)).headers
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["x-frame-options"] == "DENY"
        assert "no-store" in headers["cache-control"]
        assert headers["strict-transport-security"]


async def test_a_wait_begins_before_there_is_anything_to_say(edge: Edge) -> None:
    async with edge.http.stream("GET", f"{WAIT}?afterSeq=230") as response:
        assert response.status_code == 200
        chunks = response.aiter_bytes()
        assert await anext(chunks) == b" "
        assert await anext(chunks) == b" "  # kept open
        edge.operations.news.set()
        answer = WaitAnswer.model_validate(json.loads(b"".join([chunk async for chunk in chunks])))
    assert answer.events[0].seq == 231
    [(_, given)] = edge.operations.asked
    assert (given.after_seq, given.seconds) == (230, 60)


async def test_a_client_that_leaves_ends_its_wait(edge: Edge) -> None:
    async with edge.http.stream("GET", f"{WAIT}?afterSeq=230&seconds=200"):
        await edge.operations.waiting.wait()
    async with asyncio.timeout(40):
        await edge.operations.left.wait()


async def test_a_wait_refused_at_once_has_its_own_status(edge: Edge) -> None:
    async def refuse(_: Any) -> None:
        raise not_found("intent", "Call gitring_board.")

    edge.operations.script["wait"] = refuse
    response = await edge.http.get(f"{WAIT}?afterSeq=230")
    assert (response.status_code, error(response)["code"]) == (404, "not_found")


async def test_a_wait_refused_after_it_began_says_so_in_its_body(edge: Edge) -> None:
    async def refuse_late(_: Any) -> None:
        await edge.operations.news.wait()
        raise busy("The record")

    edge.operations.script["wait"] = refuse_late
    async with edge.http.stream("GET", f"{WAIT}?afterSeq=230") as response:
        chunks = response.aiter_bytes()
        await anext(chunks)
        edge.operations.news.set()
        told = json.loads(b"".join([chunk async for chunk in chunks]))
    assert told["error"]["code"] == "busy"


async def test_projects_and_tokens_are_made_and_changed(edge: Edge) -> None:
    http = edge.http
    assert (await http.post("/api/v1/projects", json={"slug": "storefront"})).status_code == 201
    assert (await http.get(PROJECT)).json()["slug"] == "storefront"
    assert (await http.get("/api/v1/projects/absent")).status_code == 404
    await http.patch(PROJECT, json={"checks": None, "maxPlaces": 3})
    changed = edge.operations.asked[-1][1]
    assert changed.model_fields_set == {"checks", "max_places"}
    assert (await http.get(f"{PROJECT}/audit")).json()["valid"] is True
    [found] = (await http.get(f"{PROJECT}/watch")).json()["findings"]
    assert (found["kind"], found["number"], found["heals"]) == ("nobody_moves", 49, 0)
    [flaky] = (await http.get(f"{PROJECT}/flaky")).json()["flaky"]
    assert (flaky["check"], flaky["test"], flaky["seen"]) == ("unit", "greets", 2)
    made = await http.post("/api/v1/tokens", json={"name": "n", "projects": ["storefront"]})
    assert (made.status_code, made.json()["token"]) == (201, "gitring_agent_new")
    assert [token["id"] for token in (await http.get("/api/v1/tokens")).json()["tokens"]] == ["tok_1"]
    assert (await http.delete("/api/v1/tokens/tok_1")).json()["kind"] == "agent"


async def test_intents_are_listed_by_state(edge: Edge) -> None:
    listed = await edge.http.get(f"{PROJECT}/intents?state=active&state=held&limit=5")
    assert [intent["number"] for intent in listed.json()["intents"]] == [49]
    await edge.http.get(f"{PROJECT}/intents")
    assert edge.operations.asked == [
        ("intents", ("storefront", frozenset({State.ACTIVE, State.HELD}), 5)),
        ("intents", ("storefront", None, 100)),
    ]


async def test_asks_are_written_read_with_a_wait_of_200_seconds_and_closed(edge: Edge) -> None:
    written = await edge.http.post(f"{PROJECT}/asks", json={"text": "Prices in euros"})
    assert (written.status_code, written.json()["id"]) == (201, samples.ASK)
    read = (await edge.http.get("/api/v1/asks?wait=200")).json()
    assert ([ask["id"] for ask in read["asks"]], read["mostWaitSec"]) == ([samples.ASK], 200)
    assert edge.operations.asked[-1][1].wait == 200
    assert (await edge.http.get("/api/v1/asks?wait=201")).status_code == 400
    assert (await edge.http.post(f"/api/v1/asks/{samples.ASK}/close")).json()["closedAt"]
    wrong = await edge.http.post("/api/v1/asks/7/close")
    assert error(wrong)["code"] == "invalid_input"
    large = {"text": "t", "draft": {"goal": "g" * 9000}}
    assert "8000 bytes" in error(await edge.http.post(f"{PROJECT}/asks", json=large))["message"]
    whole = {"text": "t", "draft": {"projectId": "storefront"}}
    assert "projectId is not a field" in error(await edge.http.post(f"{PROJECT}/asks", json=whole))["message"]


async def test_members_are_listed_read_changed_and_removed(edge: Edge) -> None:
    members = f"{PROJECT}/members"
    one = f"{members}/{samples.member().id}"
    assert [member["role"] for member in (await edge.http.get(members)).json()["members"]] == ["viewer"]
    assert (await edge.http.get(one)).json()["name"] == "Jonas Weber"
    assert (await edge.http.put(one, json={"role": "viewer"})).status_code == 200
    assert (await edge.http.delete(one)).status_code == 200
    assert [name for name, _ in edge.operations.asked] == ["members", "member", "set_role", "remove_member"]
    assert error(await edge.http.put(one, json={"role": "king"}))["message"].startswith("role should be")


async def test_an_agent_that_decides_is_told_whom_to_ask(edge: Edge) -> None:
    response = await edge.http.post(f"{INTENT}/decisions", json={"decision": "approve", "subject": "merge"})
    assert (response.status_code, error(response)["code"]) == (403, "people_only")


async def test_a_log_is_plain_text_that_no_browser_interprets(edge: Edge) -> None:
    assert (await edge.http.get(f"/api/v1/checks/{samples.CHECK}")).json()["state"] == "failed"
    response = await edge.http.get(f"/api/v1/checks/{samples.CHECK}/log")
    assert response.content == b"<script>alert(1)</script>\xff\n"
    assert response.headers["content-type"] == "text/plain; charset=utf-8"
    assert response.headers["x-content-type-options"] == "nosniff"


async def test_events_are_paged_by_seq(edge: Edge) -> None:
    edge.operations.live = [samples.event(seq, "line.moved") for seq in (3, 4, 5)]
    page = (await edge.http.get(f"{PROJECT}/events?afterSeq=3&limit=1")).json()
    assert ([event["seq"] for event in page["events"]], page["afterSeq"]) == ([4], 4)
    empty = (await edge.http.get(f"{PROJECT}/events?afterSeq=9")).json()
    assert (empty["events"], empty["afterSeq"]) == ([], 9)


async def test_the_stream_tells_each_event_and_goes_on_after_the_last_one_seen(edge: Edge) -> None:
    edge.operations.live = [samples.event(3, "intent.pushed", note="a\nb"), samples.event(4, "line.moved")]
    headers = {"Last-Event-ID": "3"}
    async with edge.http.stream("GET", f"{PROJECT}/events/stream?afterSeq=1", headers=headers) as response:
        assert response.headers["content-type"].startswith("text/event-stream")
        frames = response.aiter_lines()
        assert [await anext(frames) for _ in range(2)] == ["id: 4", "event: line.moved"]
        edge.operations.news.set()
        rest = [line async for line in frames]
    assert "id: 99" in rest
    assert edge.operations.asked == [("live_events", ("storefront", 3))]


async def test_a_silent_stream_begins_and_is_kept_open(edge: Edge) -> None:
    async with edge.http.stream("GET", f"{PROJECT}/events/stream") as response:
        chunks = response.aiter_bytes()
        assert [await anext(chunks) for _ in range(2)] == [b": open\n\n", b": open\n\n"]
    async with asyncio.timeout(40):
        await edge.operations.left.wait()


async def test_a_stream_of_an_absent_project_is_404(edge: Edge) -> None:
    response = await edge.http.get("/api/v1/projects/absent/events/stream")
    assert (response.status_code, error(response)["code"]) == (404, "not_found")


async def test_the_description_shows_every_route_with_examples_that_are_valid_calls(edge: Edge) -> None:
    described = (await edge.http.get("/openapi.json")).json()
    for model, example in EXAMPLES.items():
        ids = {"intentId": samples.INTENT} if "intent_id" in model.model_fields else {}
        model.model_validate({**example, **ids})
    shown = {
        f"{method.upper()} {path}": operation
        for path, operations in described["paths"].items()
        for method, operation in operations.items()
    }
    assert {tool.rest for tool in TOOLS} <= set(shown)
    assert sorted(set(shown) - {tool.rest for tool in TOOLS}) == snapshot(
        [
            "DELETE /api/v1/projects/{project_id}/members/{person_id}",
            "DELETE /api/v1/tokens/{token_id}",
            "GET /api/v1/checks/{check_id}",
            "GET /api/v1/checks/{check_id}/artifacts",
            "GET /api/v1/checks/{check_id}/artifacts/{number}",
            "GET /api/v1/checks/{check_id}/log",
            "GET /api/v1/checks/{check_id}/log/stream",
            "GET /api/v1/intents/wait",
            "GET /api/v1/projects/{project_id}",
            "GET /api/v1/projects/{project_id}/audit",
            "GET /api/v1/projects/{project_id}/events",
            "GET /api/v1/projects/{project_id}/events/stream",
            "GET /api/v1/projects/{project_id}/flaky",
            "GET /api/v1/projects/{project_id}/intents",
            "GET /api/v1/projects/{project_id}/lines",
            "GET /api/v1/projects/{project_id}/members",
            "GET /api/v1/projects/{project_id}/members/{person_id}",
            "GET /api/v1/projects/{project_id}/series",
            "GET /api/v1/projects/{project_id}/watch",
            "GET /api/v1/tokens",
            "GET /healthz",
            "GET /metrics",
            "GET /readyz",
            "PATCH /api/v1/projects/{project_id}",
            "POST /api/v1/asks/{ask_id}/close",
            "POST /api/v1/intents/{intent_id}/accepted-drift",
            "POST /api/v1/intents/{intent_id}/comments",
            "POST /api/v1/intents/{intent_id}/decisions",
            "POST /api/v1/intents/{intent_id}/landing",
            "POST /api/v1/intents/{intent_id}/settlements",
            "POST /api/v1/intents/{intent_id}/suggestions",
            "POST /api/v1/people",
            "POST /api/v1/projects",
            "POST /api/v1/projects/{project_id}/asks",
            "POST /api/v1/projects/{project_id}/lines",
            "POST /api/v1/projects/{project_id}/lines/{line}/drain",
            "POST /api/v1/projects/{project_id}/lines/{line}/pause",
            "POST /api/v1/projects/{project_id}/lines/{line}/resume",
            "POST /api/v1/projects/{project_id}/series",
            "POST /api/v1/sign-in-links",
            "POST /api/v1/tokens",
            "PUT /api/v1/projects/{project_id}/members/{person_id}",
        ]
    )
    for name, operation in shown.items():
        if "/api/" in name:
            assert {"400", "401", "413", "503"} <= set(operation["responses"]), name
            assert operation["security"] == [{"HTTPBearer": []}], name
    wait = shown["GET /api/v1/intents/{intent_id}/wait"]["parameters"]
    assert {field["name"] for field in wait} == {"intent_id", "afterSeq", "seconds"}
    example = shown["POST /api/v1/intents"]["requestBody"]["content"]["application/json"]["examples"]
    assert example["example"]["value"] == DECLARE
