"""The Foremerge tools at /mcp/foremerge: by raw messages of both revisions, and by the real client."""

import asyncio
import json
from collections.abc import AsyncIterator
from typing import Any

import jsonschema
import pytest
import pytest_asyncio

from protocol.foremerge.errors import ErrorCode, foremerge_refusal
from protocol.foremerge.instructions import AGENT_INSTRUCTIONS
from protocol.foremerge.tools import FOREMERGE_TOOLS
from protocol.refusals import not_found
from tests.gateway.edge import REVISIONS, TOKEN, Edge, served
from tests.gateway.foremerge_edge import (
    AGENT,
    ANSWERS,
    CHANGESET,
    CONFLICT,
    INTENT,
    OTHER,
    ScriptedForemerge,
    foremerge_client,
)

ACCEPT = {"Accept": "application/json, text/event-stream"}
OWN = {"agent_id": AGENT, "intent_id": INTENT}
SCOPE = {"kind": "symbol", "key": "Cart"}
PUBLISH = {"agent_id": AGENT, "task": "t", "summary": "s", "scopes": [{**SCOPE, "operation": "replace"}]}
CALLS: dict[str, dict[str, Any]] = {
    "register_agent": {"name": "stripe", "model": None},
    "publish_intent": PUBLISH,
    "record_assessment": {
        **OWN,
        "related_intent_id": OTHER,
        "verdict": "compatible",
        "rationale": "r",
        "action": "waiting",
    },
    "claim_work": {**OWN, "scopes": [SCOPE], "lease_seconds": 60},
    "start_work": OWN,
    "query_work": {"scope": SCOPE, "status": "claimed", "limit": 9},
    "check_conflicts": {"intent": "Add it", "scopes": []},
    "coordinate_with_agent": {
        "from_agent_id": AGENT,
        "to_agent_id": "agt_2",
        "message": "m",
        "conflict_id": CONFLICT,
    },
    "resolve_conflict": {"conflict_id": CONFLICT, "agent_id": AGENT, "resolution": "split", "rationale": "r"},
    "publish_changeset": {**OWN, "summary": "s", "tests": [{"command": "make", "status": "passed"}]},
    "run_verification": {"changeset_id": CHANGESET, "check": "unit"},
    "accept_changeset": {"changeset_id": CHANGESET},
    "record_commit": {"changeset_id": CHANGESET, "git_ref": "main"},
    "discard_work": {**OWN, "reason": "r"},
    "list_agents": {},
    "get_intent": {"id": INTENT},
    "get_changeset": {"id": CHANGESET},
    "status": {},
}


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


async def send(edge: Edge, body: Any, **headers: str) -> Any:
    """One raw message as its own POST."""
    content = body if isinstance(body, bytes) else json.dumps(body).encode()
    sent = {"Content-Type": "application/json", **ACCEPT, **headers}
    return await edge.http.post("/mcp/foremerge", content=content, headers=sent)


def old(method: str, params: dict[str, Any] | None = None, number: int = 1) -> dict[str, Any]:
    """A message of 2025-11-25."""
    return {"jsonrpc": "2.0", "id": number, "method": method, "params": params or {}}


def new(method: str, params: dict[str, Any] | None = None, revision: object = "2026-07-28") -> dict[str, Any]:
    """A message of 2026-07-28."""
    meta = {
        "io.modelcontextprotocol/protocolVersion": revision,
        "io.modelcontextprotocol/clientCapabilities": {},
    }
    return old(method, {**(params or {}), "_meta": meta})


def call(name: str, arguments: dict[str, Any]) -> dict[str, Any]:
    """The parameters of a tool call."""
    return {"name": name, "arguments": arguments}


def text_of(result: Any) -> str:
    """The only block of a result."""
    (block,) = result.content
    return str(block.text)


def said(result: Any) -> str:
    """The error of a refused call; text and structure say the same."""
    assert result.is_error
    assert json.loads(text_of(result)) == result.structured_content
    assert set(result.structured_content) == {"error"}
    return str(result.structured_content["error"])


@pytest.mark.parametrize("revision", REVISIONS)
async def test_each_tool_answers_compact_json_and_structure_only_for_objects(
    edge: Edge, revision: str
) -> None:
    async with foremerge_client(edge, revision) as client:
        listed = {tool.name: tool for tool in (await client.list_tools()).tools}
        assert set(listed) == set(CALLS) and len(CALLS) == 18
        for name, arguments in CALLS.items():
            jsonschema.validate(
                {k: v for k, v in arguments.items() if v is not None}, listed[name].input_schema
            )
            result = await client.call_tool(name, arguments)
            assert not result.is_error, (name, result)
            text = text_of(result)
            answer = json.loads(text)
            assert "\u202e" not in text and "\n" not in text
            if isinstance(ANSWERS[name], list):
                assert isinstance(answer, list) and result.structured_content is None
            else:
                assert result.structured_content == answer
    assert [name for name, _, _ in operations(edge).asked] == list(CALLS)
    assert not any(visit.operator for _, visit, _ in operations(edge).asked)


async def test_tools_come_in_the_order_of_the_alphabet_each_property_described(edge: Edge) -> None:
    answer = (await send(edge, old("tools/list"))).json()["result"]
    names = [tool["name"] for tool in answer["tools"]]
    assert names == sorted(names) == [tool.name for tool in FOREMERGE_TOOLS]
    for tool in answer["tools"]:
        assert set(tool) == {"name", "description", "inputSchema", "annotations"}
        assert tool["inputSchema"]["additionalProperties"] is False
        undescribed = [
            path for path, schema in properties(tool["inputSchema"]) if not schema.get("description")
        ]
        assert not undescribed, (tool["name"], undescribed)
    hints = {tool["name"]: tool["annotations"] for tool in answer["tools"]}
    reads = {"check_conflicts", "get_changeset", "get_intent", "list_agents", "query_work", "status"}
    assert {name for name, hint in hints.items() if hint["readOnlyHint"]} == reads
    assert {name for name, hint in hints.items() if hint["idempotentHint"]} == reads - {"check_conflicts"}
    assert {name for name, hint in hints.items() if hint["destructiveHint"]} == {"discard_work"}
    assert not any(hint["openWorldHint"] for hint in hints.values())
    assert "allow_unverified" not in json.dumps(answer)


def properties(schema: Any, at: str = "") -> list[tuple[str, dict[str, Any]]]:
    """Every property in a schema, nested ones included."""
    found: list[tuple[str, dict[str, Any]]] = []
    if isinstance(schema, list):
        return [one for item in schema for one in properties(item, at)]
    if not isinstance(schema, dict):
        return found
    for name, inner in schema.get("properties", {}).items():
        found += [(f"{at}.{name}", inner), *properties(inner, f"{at}.{name}")]
    for key in ("items", "anyOf", "allOf", "oneOf"):
        found += properties(schema.get(key), at)
    return found


async def test_a_handshake_comes_to_2025_11_25_whatever_it_asked_for(edge: Edge) -> None:
    for version in ("2024-11-05", "2025-06-18", "2025-11-25", "2026-07-28", "2031-01-01"):
        hello = {"protocolVersion": version, "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}
        answer = (await send(edge, old("initialize", hello))).json()["result"]
        assert answer["protocolVersion"] == "2025-11-25"
        assert answer["serverInfo"]["name"] == "foremerge"
        assert answer["instructions"] == AGENT_INSTRUCTIONS
        assert answer["capabilities"]["tools"] == {"listChanged": False}


async def test_both_revisions_interleave_in_one_process(edge: Edge) -> None:
    messages = [old("ping"), new("server/discover"), old("tools/list"), new("tools/list"), old("ping")] * 4
    ping, discovered, listed, listed_new, _ = [
        (await one).json()["result"] for one in [asyncio.ensure_future(send(edge, m)) for m in messages]
    ][:5]
    assert set(ping) == {"_meta"}
    assert discovered["resultType"] == "complete" == listed_new["resultType"]
    assert discovered["supportedVersions"] == ["2026-07-28", "2025-11-25"]
    assert isinstance(discovered["ttlMs"], int) and discovered["cacheScope"] in ("public", "private")
    assert listed["tools"] == listed_new["tools"]
    assert "resultType" not in listed and "ttlMs" not in listed and "ttlMs" in listed_new
    for result in (ping, discovered, listed, listed_new):
        info = result["_meta"]["io.modelcontextprotocol/serverInfo"]
        assert (info["name"], info["version"]) == ("foremerge", "0.1.0")


async def test_a_raw_call_is_answered_alike_at_both_revisions(edge: Edge) -> None:
    asked = call("get_intent", {"id": INTENT})
    older = (await send(edge, old("tools/call", asked))).json()["result"]
    newer = (await send(edge, new("tools/call", asked))).json()["result"]
    assert older["structuredContent"] == newer["structuredContent"] == json.loads(older["content"][0]["text"])
    assert older["isError"] is False is newer["isError"] and newer["resultType"] == "complete"
    found = (await send(edge, old("tools/call", call("query_work", {})))).json()["result"]
    assert (
        "structuredContent" not in found and json.loads(found["content"][0]["text"])[0]["open_conflicts"] == 0
    )


async def error(edge: Edge, body: Any, **headers: str) -> dict[str, Any]:
    """The JSON-RPC error of a message; nothing stands beside it."""
    response = await send(edge, body, **headers)
    answer = response.json()
    assert set(answer) == {"jsonrpc", "id", "error"}, answer
    assert answer["id"] == (None if isinstance(body, bytes) else body["id"])
    found: dict[str, Any] = answer["error"]
    return found


async def test_a_revision_nobody_speaks_is_told_which_there_are(edge: Edge) -> None:
    found = await error(edge, new("tools/list", revision="2031-01-01"))
    assert found["code"] == -32022
    assert found["data"] == {"supported": ["2026-07-28", "2025-11-25"], "requested": "2031-01-01"}


async def test_what_json_rpc_refuses_has_the_code_of_json_rpc(edge: Edge) -> None:
    assert (await error(edge, b"{nope"))["code"] == -32700
    assert (await error(edge, new("ping")))["code"] == -32601
    assert (await error(edge, new("initialize")))["code"] == -32601
    assert (await error(edge, old("server/discover")))["code"] in (-32601, -32602)
    assert (await error(edge, old("nothing/here")))["code"] == -32601
    assert (await error(edge, new("tools/list", revision=7)))["code"] == -32602
    for make in (old, new):
        assert (await error(edge, make("tools/call", call("merge_all", {}))))["code"] == -32602
        assert (await error(edge, make("tools/call", {"arguments": {}})))["code"] == -32602
    bare = old("tools/list", {"_meta": {"io.modelcontextprotocol/protocolVersion": "2026-07-28"}})
    assert (await error(edge, bare))["code"] == -32602
    assert (await error(edge, old("tools/list"), **{"MCP-Protocol-Version": "2026-07-28"}))["code"] == -32602
    assert operations(edge).asked == []


async def test_a_header_that_disagrees_with_the_body_is_refused(edge: Edge) -> None:
    found = await error(
        edge, new("tools/list"), **{"MCP-Protocol-Version": "2026-07-28", "Mcp-Method": "ping"}
    )
    assert found["code"] == -32020


async def test_a_notification_gets_no_reply(edge: Edge) -> None:
    for message in (old("notifications/initialized"), new("notifications/cancelled", {"requestId": 1})):
        del message["id"]
        response = await send(edge, message)
        assert (response.status_code, response.content) == (202, b"")


@pytest.mark.parametrize("revision", REVISIONS)
async def test_a_field_that_does_not_fit_is_named_behind_its_code(edge: Edge, revision: str) -> None:
    wrong = [
        ("publish_intent", {**PUBLISH, "scopes": [SCOPE]}, "operation"),
        (
            "publish_intent",
            {**PUBLISH, "scopes": [{"kind": "class", "key": "A", "operation": "add"}]},
            "kind",
        ),
        ("publish_intent", {**PUBLISH, "scopes": [{**SCOPE, "key": " ", "operation": "add"}]}, "key"),
        ("claim_work", {**OWN, "scopes": []}, "scopes"),
        ("check_conflicts", {}, "intent_id"),
        ("run_verification", {"changeset_id": CHANGESET, "check": "unit; rm -rf /"}, "check"),
        ("publish_intent", {**PUBLISH, "metadata": ["a"]}, "metadata"),
    ]
    async with foremerge_client(edge, revision) as client:
        for tool, arguments, named in wrong:
            text = said(await client.call_tool(tool, arguments))
            assert text.startswith("INVALID_INPUT: ") and named in text, text
    assert operations(edge).asked == []


@pytest.mark.parametrize("revision", REVISIONS)
@pytest.mark.parametrize(
    "override", [{"allow_high_conflicts": True}, {"allow_unverified": True}, {"override_reason": "now"}]
)
async def test_an_override_is_for_operators_alone(
    edge: Edge, revision: str, override: dict[str, Any]
) -> None:
    async with foremerge_client(edge, revision) as client:
        text = said(await client.call_tool("accept_changeset", {"changeset_id": CHANGESET, **override}))
        assert text.startswith("FORBIDDEN: ") and next(iter(override)) in text
        assert operations(edge).asked == []
        harmless: dict[str, Any] = {
            "changeset_id": CHANGESET,
            "allow_unverified": False,
            "override_reason": "",
        }
        assert not (await client.call_tool("accept_changeset", harmless)).is_error


async def test_a_finding_that_was_never_kept_cannot_be_resolved(edge: Edge) -> None:
    async with foremerge_client(edge, "legacy") as client:
        arguments = {**CALLS["resolve_conflict"], "conflict_id": "eph_1"}
        assert said(await client.call_tool("resolve_conflict", arguments)).startswith("NOT_FOUND: ")


@pytest.mark.parametrize("revision", REVISIONS)
async def test_a_refusal_says_its_code_what_happened_and_what_to_do(edge: Edge, revision: str) -> None:
    async def blocked(_: Any) -> None:
        raise foremerge_refusal(ErrorCode.BLOCKING_CONFLICT, "cfl_1 is\nopen.", "Resolve it.")

    async def absent(_: Any) -> None:
        raise not_found("project nowhere", "Name another.")

    async def broken(_: Any) -> None:
        raise ZeroDivisionError("secret detail")

    operations(edge).script = {"accept_changeset": blocked, "status": absent, "get_intent": broken}
    async with foremerge_client(edge, revision) as client:
        said_of = {name: said(await client.call_tool(name, CALLS[name])) for name in operations(edge).script}
    assert said_of["accept_changeset"] == "BLOCKING_CONFLICT: cfl_1 is open. Resolve it."
    assert said_of["status"].startswith("NOT_FOUND: ") and said_of["status"].endswith("Name another.")
    assert said_of["get_intent"].startswith("INTERNAL_ERROR: ") and "secret" not in said_of["get_intent"]


async def test_the_project_is_named_by_a_header(edge: Edge) -> None:
    await send(edge, old("tools/call", call("status", {})), **{"Gitring-Project": "storefront"})
    await send(edge, new("tools/call", call("status", {})), **{"Gitring-Project": "storefront"})
    await send(edge, old("tools/call", call("status", {})))
    assert [visit.project for _, visit, _ in operations(edge).asked] == ["storefront", "storefront", None]
    assert {visit.caller.person_name for _, visit, _ in operations(edge).asked} == {"Priya Raman"}


async def test_a_validation_may_take_longer_than_other_calls_and_blocks_none_of_them(_served: Edge) -> None:
    async with foremerge_client(_served, "2026-07-28") as client:
        ops = operations(_served)
        ops.begin()
        started, going_on = asyncio.Event(), asyncio.Event()

        async def slow(_: Any) -> Any:
            started.set()
            await going_on.wait()
            return ANSWERS["run_verification"]

        ops.script["run_verification"] = slow
        running = asyncio.ensure_future(client.call_tool("run_verification", CALLS["run_verification"]))
        await started.wait()
        assert not (await client.call_tool("status", {})).is_error
        going_on.set()
        assert json.loads(text_of(await running))["passed"] is False


async def test_the_same_door_as_gitrings_own(edge: Edge) -> None:
    assert (await send(edge, old("ping"), Authorization="")).status_code == 401
    assert (await send(edge, old("ping"), Authorization="Bearer gitring_git_x")).status_code == 403
    assert (await send(edge, old("ping"), Host="evil.example")).status_code == 421
    assert (await send(edge, old("ping"), Origin="https://evil.example")).status_code == 403
    assert (await edge.http.get("/mcp/foremerge")).status_code == 405
    assert (await send(edge, b" " * (1024 * 1024 + 1))).status_code == 413
    assert (await send(edge, old("ping"), Authorization=f"bearer {TOKEN}")).status_code == 200
