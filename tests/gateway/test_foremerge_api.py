"""The Foremerge JSON API under /v1, over real HTTP: routes, envelope, codes, statuses."""

import asyncio
import json
from collections.abc import AsyncIterator
from typing import Any

import httpx2
import jsonschema
import pytest
import pytest_asyncio

from protocol.foremerge.changesets import AcceptInput
from protocol.foremerge.errors import ERRORS, ErrorCode, foremerge_refusal
from protocol.foremerge.operators import OPERATOR_ROUTES
from protocol.foremerge.routes import ROUTES
from protocol.foremerge.validations import RunVerificationInput
from protocol.foremerge.work import QueryWorkInput
from protocol.refusals import refused
from storage.sql.pool import RecordBusy
from tests.gateway.edge import TOKEN, Edge, served
from tests.gateway.foremerge_edge import (
    AGENT,
    ANSWERS,
    CHANGESET,
    CONFLICT,
    INTENT,
    PERSON_TOKEN,
    ScriptedForemerge,
)
from tests.gateway.test_foremerge_mcp import CALLS

IDS = {"intent_id": INTENT, "changeset_id": CHANGESET, "conflict_id": CONFLICT, "agent_id": AGENT}
CASES = [
    (route.method, route.path, route.operation) for route in (*ROUTES, *OPERATOR_ROUTES) if not route.public
]
BODIES = {
    **CALLS,
    "publish_inferring": {**CALLS["publish_intent"], "undeclared": [{"kind": "file", "key": "a.py"}]},
    "adopt_work": CALLS["discard_work"],
    "release_claims": {"agent_id": AGENT, "intent_id": INTENT, "scopes": [{"kind": "file", "key": "a.py"}]},
    "read_messages": {"agent_id": AGENT, "message_ids": ["msg_1"]},
    "check_inferring": {"intent": "Drop it", "undeclared": [{"kind": "file", "key": "a.py"}]},
    "run_command": {"changeset_id": CHANGESET, "command": ["make", "test"]},
    "bind": {"common_dir": "/srv/shop/.git"},
}
VALIDATE = f"/v1/changesets/{CHANGESET}/validate"


@pytest_asyncio.fixture(scope="module")
async def _served() -> AsyncIterator[Edge]:
    async with served(foremerge=ScriptedForemerge()) as running:
        yield running


@pytest.fixture
def edge(_served: Edge) -> Edge:
    """The edge with this face, its operations as new."""
    operations(_served).begin()
    return _served


def operations(edge: Edge) -> ScriptedForemerge:
    """The scripted operations behind this edge."""
    found = edge.foremerge
    assert isinstance(found, ScriptedForemerge)
    return found


def body_of(path: str, operation: str) -> dict[str, Any]:
    """The tool's own arguments without what stands in the address."""
    in_path = {name for name in IDS if f"{{{name}}}" in path}
    return {name: value for name, value in BODIES[operation].items() if name not in in_path}


async def send(edge: Edge, method: str, path: str, operation: str) -> httpx2.Response:
    """A right call of a route."""
    body = body_of(path, operation) if method == "POST" else None
    return await edge.http.request(method, path.format(**IDS), json=body)


def failed(response: httpx2.Response, code: ErrorCode) -> str:
    """The message of a failure in the envelope, its status the one of its code."""
    answer = response.json()
    assert set(answer) == {"ok", "error"} and answer["ok"] is False, answer
    assert set(answer["error"]) == {"code", "message"}
    assert (answer["error"]["code"], response.status_code) == (code, ERRORS[code].http), answer
    assert response.headers["content-type"] == "application/json"
    return str(answer["error"]["message"])


@pytest.mark.parametrize(("method", "path", "operation"), CASES)
async def test_each_route_answers_in_the_envelope_what_its_description_says(
    edge: Edge, method: str, path: str, operation: str
) -> None:
    response = await send(edge, method, path, operation)
    assert response.status_code == 200, response.text
    answer = response.json()
    assert set(answer) == {"ok", "data"} and answer["ok"] is True
    assert isinstance(answer["data"], list) == isinstance(ANSWERS[operation], list)
    ((asked, visit, _),) = operations(edge).asked
    assert (asked, visit.operator, visit.project) == (operation, True, None)
    described = await openapi(edge)
    spec = described["paths"][path][method.lower()]
    schema = spec["responses"]["200"]["content"]["application/json"]["schema"]
    jsonschema.validate(answer, {**schema, "components": described["components"]})
    if method == "POST":
        content = spec["requestBody"]["content"]["application/json"]
        jsonschema.validate(body_of(path, operation), content["schema"])


async def openapi(edge: Edge) -> dict[str, Any]:
    """The description, which needs no token."""
    response = await edge.http.get("/v1/openapi.json", headers={"Authorization": ""})
    found: dict[str, Any] = response.json()
    return found


async def test_all_28_routes_are_there_and_described(edge: Edge) -> None:
    assert len(ROUTES) == 28
    described = await openapi(edge)
    there = {(method.upper(), path) for path, found in described["paths"].items() for method in found}
    assert there == {(m, p) for m, p, _ in CASES} | {("GET", "/v1/events/stream")}
    for public in ("/healthz", "/readyz"):
        answer = (await edge.http.get(public, headers={"Authorization": ""})).json()
        assert answer["ok"] is True and answer["data"]["status"] in ("alive", "ready")
    for path, methods in described["paths"].items():
        for spec in methods.values():
            named = {one["name"] for one in spec["parameters"] if one["in"] == "path"}
            assert all(f"{{{name}}}" in path for name in named) and path.count("{") == len(named)


@pytest.mark.parametrize(("method", "path", "operation"), CASES)
async def test_without_a_token_nothing_of_the_call_is_looked_at(
    edge: Edge, method: str, path: str, operation: str
) -> None:
    for token in ("", "Bearer x", "Bearer gitring_agent_unknown", f"Basic {TOKEN}"):
        response = await edge.http.request(
            method,
            path.format(**IDS) + "?limit=x&scope=nonsense",
            content=b"{nope",
            headers={"Authorization": token, "Content-Type": "text/plain"},
        )
        failed(response, ErrorCode.UNAUTHORIZED)
        assert response.headers["www-authenticate"].startswith("Bearer")
    assert operations(edge).asked == []


async def test_a_git_token_opens_git_only_and_the_scheme_is_read_in_any_case(edge: Edge) -> None:
    answer = await edge.http.get("/v1/status", headers={"Authorization": "Bearer gitring_git_abc"})
    assert "Git only" in failed(answer, ErrorCode.FORBIDDEN)
    answer = await edge.http.get("/v1/status", headers={"Authorization": f"bEARER {PERSON_TOKEN}"})
    assert answer.status_code == 200
    ((_, visit, _),) = operations(edge).asked
    assert visit.may_override


async def test_an_agents_token_may_not_override_even_here(edge: Edge) -> None:
    accept = f"/v1/changesets/{CHANGESET}/accept"
    body = {"allow_high_conflicts": True, "override_reason": "r"}
    assert (await edge.http.post(accept, json=body)).status_code == 200
    ((_, visit, given),) = operations(edge).asked
    assert given == AcceptInput(changeset_id=CHANGESET, **body) and visit.operator and not visit.may_override


@pytest.mark.parametrize(
    ("content", "kind"),
    [
        (b"", "application/json"),
        (b"{nope", "application/json"),
        (b"[1]", "application/json"),
        (b"\xff\xfe", "application/json"),
        (b"[" * 100_000, "application/json"),
        (b"{}", "text/plain"),
        (b"{}", ""),
    ],
)
async def test_a_body_that_is_no_json_object_is_invalid_input(edge: Edge, content: bytes, kind: str) -> None:
    response = await edge.http.post("/v1/intents", content=content, headers={"Content-Type": kind})
    failed(response, ErrorCode.INVALID_INPUT)
    assert operations(edge).asked == []


@pytest.mark.parametrize("text", ["NaN", "-Infinity", "1e999", "[" * 60 + "]" * 60, '"\\u0000"', '"\\ud800"'])
async def test_json_that_the_record_cannot_keep_is_invalid_input(edge: Edge, text: str) -> None:
    body = json.dumps(CALLS["publish_intent"])[:-1] + f', "metadata": {{"a": {text}}}}}'
    response = await edge.http.post(
        "/v1/intents", content=body.encode(), headers={"Content-Type": "application/json"}
    )
    assert "metadata" in failed(response, ErrorCode.INVALID_INPUT)
    assert operations(edge).asked == []


async def test_a_validation_takes_the_name_of_a_check_and_nothing_else(edge: Edge) -> None:
    for more in ({"command": ["rm"]}, {"worktree": "/"}, {"changeset_id": "chg_9"}):
        response = await edge.http.post(VALIDATE, json={"check": "unit", **more})
        assert next(iter(more)) in failed(response, ErrorCode.INVALID_INPUT)
    failed(await edge.http.post(VALIDATE, json={"check": "a b"}), ErrorCode.INVALID_INPUT)
    assert operations(edge).asked == []
    answer = (await edge.http.post(VALIDATE, json={"check": "unit"})).json()
    assert answer["ok"] is True and answer["data"]["passed"] is False
    assert operations(edge).asked[-1][2] == RunVerificationInput(changeset_id=CHANGESET, check="unit")


async def test_no_part_of_the_address_can_be_said_again_in_the_body(edge: Edge) -> None:
    start = f"/v1/work/{INTENT}/start"
    response = await edge.http.post(start, json={"agent_id": AGENT, "intent_id": "int_other"})
    assert "intent_id" in failed(response, ErrorCode.INVALID_INPUT)
    resolve = f"/v1/conflicts/{CONFLICT}/resolve"
    agreed = {"agent_id": AGENT, "resolution": "r", "rationale": "r"}
    failed(await edge.http.post(resolve, json={**agreed, "conflict_id": "cfl_2"}), ErrorCode.INVALID_INPUT)
    assert (await edge.http.post(resolve, json=agreed)).status_code == 200
    failed(await edge.http.post("/v1/conflicts/eph_1/resolve", json=agreed), ErrorCode.NOT_FOUND)


async def test_work_is_filtered_by_the_query(edge: Edge) -> None:
    query = {"agent_id": AGENT, "status": "claimed", "scope": "Symbol: Report::render ", "limit": "9999"}
    assert (await edge.http.get("/v1/work", params=query)).status_code == 200
    assert operations(edge).asked[-1][2] == QueryWorkInput.model_validate(
        {**query, "scope": {"kind": "symbol", "key": "Report::render"}, "limit": 500}
    )
    for wrong in ("nocolon", "class:Cart", "symbol: "):
        response = await edge.http.get("/v1/work", params={"scope": wrong})
        failed(response, ErrorCode.INVALID_INPUT)
    failed(await edge.http.get("/v1/work", params={"scopes": "symbol:A"}), ErrorCode.INVALID_INPUT)


@pytest.mark.parametrize(
    "query", ["after_seq=-1", "after_seq=x", "after_seq=99999999999999999999", "limit=x"]
)
async def test_a_place_in_the_ledger_is_a_number(edge: Edge, query: str) -> None:
    response = await edge.http.get(f"/v1/events?{query}")
    assert query.partition("=")[0] in failed(response, ErrorCode.INVALID_INPUT)


async def test_what_is_not_there_is_told_in_the_envelope(edge: Edge) -> None:
    for path in ("/v1", "/v1/", "/v1/nothing", "/v1/work/", "/v1/changesets/a/b/c"):
        failed(await edge.http.get(path), ErrorCode.NOT_FOUND)
    for method, path in (("DELETE", "/v1/work"), ("GET", "/v1/claims"), ("PUT", "/v1/intents")):
        response = await edge.http.request(method, path)
        assert method in failed(response, ErrorCode.METHOD_NOT_ALLOWED)
        assert response.headers["allow"]
    assert (await edge.http.get("/v2")).json()["error"]["code"] == "not_found"


async def test_a_nul_in_an_address_is_invalid_input(edge: Edge) -> None:
    failed(await edge.http.get("/v1/intents/int_%00"), ErrorCode.INVALID_INPUT)
    failed(await edge.http.get("/v1/work?status=%00"), ErrorCode.INVALID_INPUT)


async def test_a_body_over_a_mebibyte_is_a_resource_limit(edge: Edge) -> None:
    response = await edge.http.post(
        "/v1/intents", content=b" " * (1024 * 1024 + 1), headers={"Content-Type": "application/json"}
    )
    failed(response, ErrorCode.RESOURCE_LIMIT)


@pytest.mark.parametrize("code", [code for code, facts in ERRORS.items() if facts.http])
async def test_each_code_has_its_status(edge: Edge, code: ErrorCode) -> None:
    async def refuse(_: Any) -> None:
        raise foremerge_refusal(code, "It\u202e is so.", "Do that.")

    operations(edge).script["get_changeset"] = refuse
    message = failed(await edge.http.get(f"/v1/changesets/{CHANGESET}"), code)
    assert message.startswith("It") and message.endswith("Do that.") and "\u202e" not in message


async def test_failures_of_gitring_itself_come_in_this_protocols_words(edge: Edge) -> None:
    problems: dict[ErrorCode, Exception] = {
        ErrorCode.NOT_READY: RecordBusy("no connection"),
        ErrorCode.FORBIDDEN: refused("project_not_in_token", "Not yours.", "Ask.", 403),
        ErrorCode.STATE_RACE: refused("already_done", "Done.", "Read it.", 409),
        ErrorCode.INTERNAL_ERROR: ZeroDivisionError("secret detail"),
    }
    for code, problem in problems.items():

        async def fail(_: Any, problem: Exception = problem) -> None:
            raise problem

        operations(edge).script["status"] = fail
        response = await edge.http.get("/v1/status")
        assert "secret" not in failed(response, code)
        assert ("retry-after" in response.headers) == (code is ErrorCode.NOT_READY)


async def test_events_are_pushed_as_they_are_committed(edge: Edge) -> None:
    ops = operations(edge)
    headers = {"Last-Event-ID": "41", "Gitring-Project": "storefront"}
    async with edge.http.stream("GET", "/v1/events/stream?after_seq=7", headers=headers) as stream:
        assert stream.headers["content-type"].startswith("text/event-stream")
        lines = (line async for line in stream.aiter_lines() if line and not line.startswith(":"))
        async with asyncio.timeout(20):
            first = [await anext(lines) for _ in range(4)]
            await ops.waiting.wait()
            ops.news.set()
            second = [await anext(lines) for _ in range(4)]
    assert (first[0], first[1], second[0], second[1]) == (
        "id: 42",
        "event: intent.published",
        "id: 43",
        "event: claim.created",
    )
    event = json.loads(first[3].removeprefix("data: "))
    assert event["seq"] == 42 and "intent_id" not in event and "prev_hash" in event
    async with asyncio.timeout(20):
        await ops.left.wait()
    ((_, visit, after),) = ops.asked
    assert (visit.project, after) == ("storefront", 41)


async def test_a_stream_that_is_refused_is_refused_in_the_envelope(edge: Edge) -> None:
    failed(await edge.http.get("/v1/events/stream", headers={"Authorization": ""}), ErrorCode.UNAUTHORIZED)
    failed(await edge.http.get("/v1/events/stream?after_seq=-1"), ErrorCode.INVALID_INPUT)


async def test_requests_are_counted_by_route(edge: Edge) -> None:
    await edge.http.get(f"/v1/intents/{INTENT}")
    numbers = (await edge.http.get("/metrics")).text
    assert 'route="/v1/intents/{intent_id}",status="200"' in numbers
    assert 'gitring_tool_calls_total{outcome="ok",tool="foremerge get_intent"}' in numbers


async def test_a_stop_ends_a_validation_under_way_with_a_word_on_how_to_find_out() -> None:
    async with served(foremerge=ScriptedForemerge()) as edge:
        ops = operations(edge)

        async def slow(_: Any) -> Any:
            ops.waiting.set()
            await ops.news.wait()
            return ANSWERS["run_verification"]

        ops.script["run_verification"] = slow
        running = asyncio.ensure_future(edge.http.post(VALIDATE, json={"check": "unit"}))
        async with asyncio.timeout(20):
            await ops.waiting.wait()
            edge.stopping.set()
            response = await running
        assert "get_changeset" in failed(response, ErrorCode.NOT_READY)
        ops.news.set()
