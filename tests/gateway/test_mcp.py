"""MCP at /mcp, by the real client over real HTTP, in both kinds of protocol revision."""

import asyncio
import json
import logging
import re
from typing import Any

import jsonschema
import mcp_types as types
import pytest

from gateway.limits import Limits
from gateway.mcp.instructions import AGENT_INSTRUCTIONS
from protocol.refusals import people_only
from protocol.tools import TOOLS
from tests.gateway import samples
from tests.gateway.edge import REVISIONS, Edge, served

WAIT = {"intentId": samples.INTENT, "afterSeq": 230, "seconds": 120}
CALLS: dict[str, dict[str, Any]] = {
    "gitring_projects": {},
    "gitring_asks": {"projectId": "storefront"},
    "gitring_declare": {
        "title": "t",
        "goal": "g",
        "plan": {"summary": "s", "scope": {"change": [{"path": "src/a.py"}]}},
    },
    "gitring_clone": {"intentId": samples.INTENT},
    "gitring_status": {"intentId": samples.INTENT},
    "gitring_wait": {**WAIT, "seconds": 0},
    "gitring_update_plan": {"intentId": samples.INTENT, "plan": {"summary": "s", "scope": {}}},
    "gitring_ack": {"intentId": samples.INTENT, "changeRequestId": samples.REQUEST},
    "gitring_submit": {"intentId": samples.INTENT},
    "gitring_withdraw": {"intentId": samples.INTENT, "reason": "no"},
    "gitring_board": {},
    "gitring_brief": {"area": "src/,README.md"},
    "gitring_nearby": {"intentId": samples.INTENT},
}


def texts(result: types.CallToolResult) -> list[str]:
    """The text blocks of a result."""
    assert all(isinstance(block, types.TextContent) for block in result.content)
    return [block.text for block in result.content if isinstance(block, types.TextContent)]


def error(result: types.CallToolResult) -> dict[str, str]:
    """The error of a refused call; its two blocks say the same."""
    assert result.is_error
    text, as_json = texts(result)
    found: dict[str, str] = json.loads(as_json)["error"]
    assert text == f"{found['code']}: {found['message']} {found['next']}"
    return found


@pytest.mark.parametrize("revision", REVISIONS)
async def test_each_tool_answers_text_json_and_structure_that_fits_its_output_schema(
    edge: Edge, revision: str
) -> None:
    async with edge.mcp(revision) as client:
        listed = {tool.name: tool for tool in (await client.list_tools()).tools}
        assert set(listed) == {tool.name for tool in TOOLS} == set(CALLS)
        for name, arguments in CALLS.items():
            result = await client.call_tool(name, arguments)
            assert not result.is_error, texts(result)
            text, as_json = texts(result)
            schema = listed[name].output_schema
            assert schema is not None
            jsonschema.validate(result.structured_content, schema)
            assert json.loads(as_json) == result.structured_content
            assert text


async def test_the_client_and_the_server_agree_on_the_newest_revision_each_speaks(edge: Edge) -> None:
    async with edge.mcp("auto") as client:
        assert client.protocol_version == "2026-07-28"
    async with edge.mcp("legacy") as client:
        assert client.protocol_version == "2025-11-25"


@pytest.mark.parametrize("version", ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"])
async def test_older_revisions_are_negotiated(edge: Edge, version: str) -> None:
    hello = {
        "jsonrpc": "2.0",
        "id": 1,
        "method": "initialize",
        "params": {
            "protocolVersion": version,
            "capabilities": {},
            "clientInfo": {"name": "t", "version": "1"},
        },
    }
    answer = (await edge.http.post("/mcp", json=hello, headers={"Accept": "application/json"})).json()[
        "result"
    ]
    assert answer["protocolVersion"] == version
    assert answer["instructions"] == AGENT_INSTRUCTIONS
    assert answer["serverInfo"]["name"] == "gitring"


@pytest.mark.parametrize("revision", ["auto", "legacy"])
async def test_the_working_rules_come_with_the_connection(edge: Edge, revision: str) -> None:
    async with edge.mcp(revision) as client:
        assert client.instructions == AGENT_INSTRUCTIONS
    for rule in (
        "requestId",
        "afterSeq",
        "never decide",
        "GITRING_GIT_TOKEN",
        "canStop",
        "Do:",
        "Wait, never sleep",
    ):
        assert rule in AGENT_INSTRUCTIONS


def test_the_working_rules_name_only_tools_there_are() -> None:
    named = set(re.findall(r"gitring_[a-z_]+[a-z]", AGENT_INSTRUCTIONS))
    assert named <= {tool.name for tool in TOOLS}
    assert {"gitring_declare", "gitring_wait", "gitring_submit", "gitring_ack"} <= named


async def test_tools_say_what_they_take_and_do(edge: Edge) -> None:
    async with edge.mcp("2026-07-28") as client:
        tools = {tool.name: tool for tool in (await client.list_tools()).tools}
    for tool in tools.values():
        assert tool.title and tool.description and tool.annotations
        assert tool.annotations.open_world_hint is False
        assert "$ref" not in json.dumps(tool.input_schema)
        assert tool.input_schema["additionalProperties"] is False
        assert all("description" in field for field in tool.input_schema["properties"].values()), tool.name
    declare = tools["gitring_declare"].input_schema
    assert {"projectId", "title", "goal", "plan", "dependsOn", "as", "requestId"} <= set(
        declare["properties"]
    )
    assert declare["properties"]["title"]["type"] == "string"
    hints = {name: tool.annotations.read_only_hint for name, tool in tools.items() if tool.annotations}
    assert [name for name, reads in hints.items() if not reads] == [
        tool.name for tool in TOOLS if tool.writes
    ]
    withdraw = tools["gitring_withdraw"].annotations
    assert withdraw and withdraw.destructive_hint


@pytest.mark.parametrize("revision", REVISIONS)
async def test_arguments_that_do_not_fit_are_named(edge: Edge, revision: str) -> None:
    async with edge.mcp(revision) as client:
        bad = {
            "title": "t",
            "goal": "g",
            "headline": 1,
            "plan": {"summary": "s", "scope": {"change": [{"path": "/x"}]}},
        }
        found = error(await client.call_tool("gitring_declare", bad))
        assert found["code"] == "invalid_input"
        assert "headline is not a field of this call" in found["message"]
        assert "plan.scope.change.0.path is refused: a path starts at the repository root" in found["message"]
        assert "gitring_declare" in found["next"]
        found = error(await client.call_tool("gitring_wait", {"intentId": "49", "afterSeq": "x"}))
        assert "intentId must be an intent's id" in found["message"]
        assert "afterSeq should be a valid integer" in found["message"]
        found = error(await client.call_tool("gitring_status"))
        assert found["message"] == "intentId is missing."
    assert edge.operations.asked == []


@pytest.mark.parametrize("revision", REVISIONS)
async def test_an_unknown_tool_is_answered_with_the_tools_there_are(edge: Edge, revision: str) -> None:
    async with edge.mcp(revision) as client:
        found = error(await client.call_tool("gitring_merge\nDo: x", {}))
    assert found["code"] == "invalid_input"
    assert "gitring_merge Do: x" in found["message"]
    assert "gitring_declare" in found["next"]


@pytest.mark.parametrize("revision", REVISIONS)
async def test_a_refusal_is_a_tool_error_with_its_next_step(edge: Edge, revision: str) -> None:
    async def refuse(_: Any) -> None:
        raise people_only("Ana Ruiz", 42)

    edge.operations.script["submit"] = refuse
    async with edge.mcp(revision) as client:
        found = error(await client.call_tool("gitring_submit", {"intentId": samples.INTENT}))
    assert found == {
        "code": "people_only",
        "message": "Only a person can decide.",
        "next": "Ask Ana Ruiz to open intent #42 in gitring.",
    }


@pytest.mark.parametrize("revision", REVISIONS)
async def test_a_defect_is_logged_and_answered_with_an_id_to_quote(
    edge: Edge, revision: str, caplog: pytest.LogCaptureFixture
) -> None:
    async def break_down(_: Any) -> None:
        raise ZeroDivisionError("secret detail")

    edge.operations.script["status"] = break_down
    with caplog.at_level(logging.ERROR, "gateway"):
        async with edge.mcp(revision) as client:
            found = error(await client.call_tool("gitring_status", {"intentId": samples.INTENT}))
    assert found["code"] == "internal_error"
    assert "secret detail" not in json.dumps(found)
    [record] = [record for record in caplog.records if record.name == "gateway.errors"]
    assert record.exc_info
    assert record.getMessage().split()[-1] in found["next"]


async def test_a_write_that_takes_too_long_is_outcome_unknown_and_a_read_is_busy() -> None:
    async def never(_: Any) -> None:
        await asyncio.Event().wait()

    async with served(limits=Limits(call_sec=0.05, drain_sec=0.05)) as edge:
        edge.operations.script |= {"submit": never, "status": never}
        async with edge.mcp("2026-07-28") as client:
            arguments = {"intentId": samples.INTENT}
            with_id = {**arguments, "requestId": "r-1"}
            assert "never done twice" in error(await client.call_tool("gitring_submit", with_id))["next"]
            found = error(await client.call_tool("gitring_submit", arguments))
            assert found["code"] == "outcome_unknown"
            assert "no requestId" in found["next"]
            assert error(await client.call_tool("gitring_status", arguments))["code"] == "busy"


@pytest.mark.parametrize("revision", REVISIONS)
async def test_a_wait_is_cut_to_45_seconds_and_answers_with_the_first_event(
    edge: Edge, revision: str
) -> None:
    async with edge.mcp(revision) as client:
        held = asyncio.create_task(client.call_tool("gitring_wait", WAIT))
        await edge.operations.waiting.wait()
        [(name, given)] = edge.operations.asked
        assert (name, given.seconds) == ("wait", 45)
        edge.operations.news.set()
        text, _ = texts(await held)
    assert text.startswith("intent.state_changed: Active\nState: Active.\n")


def wait_request(revision: str) -> dict[str, Any]:
    """A wait as raw HTTP, for looking at how the answer arrives."""
    params: dict[str, Any] = {"name": "gitring_wait", "arguments": WAIT}
    headers = {"Accept": "application/json, text/event-stream"}
    if revision == "legacy":
        headers["MCP-Protocol-Version"] = "2025-11-25"
    else:
        headers |= {"MCP-Protocol-Version": revision, "Mcp-Method": "tools/call", "Mcp-Name": "gitring_wait"}
        params["_meta"] = {
            "io.modelcontextprotocol/protocolVersion": revision,
            "io.modelcontextprotocol/clientCapabilities": {},
        }
    body = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
    return {"json": body, "headers": headers}


@pytest.mark.parametrize("revision", REVISIONS)
async def test_a_held_answer_begins_before_there_is_anything_to_say(edge: Edge, revision: str) -> None:
    async with edge.http.stream("POST", "/mcp", **wait_request(revision)) as response:
        assert response.status_code == 200
        chunks = response.aiter_bytes()
        assert await anext(chunks) == b" "
        assert await anext(chunks) == b" "  # kept open
        assert not edge.operations.news.is_set()
        edge.operations.news.set()
        answer = json.loads(b"".join([chunk async for chunk in chunks]))
    assert answer["result"]["structuredContent"]["events"][0]["seq"] == 231


@pytest.mark.parametrize("revision", REVISIONS)
async def test_a_client_that_leaves_ends_its_wait(edge: Edge, revision: str) -> None:
    async with edge.http.stream("POST", "/mcp", **wait_request(revision)):
        await edge.operations.waiting.wait()
    async with asyncio.timeout(40):
        await edge.operations.left.wait()


@pytest.mark.parametrize("revision", REVISIONS)
async def test_a_library_client_that_goes_away_ends_its_wait(edge: Edge, revision: str) -> None:
    async def agent() -> None:
        async with edge.mcp(revision) as client:
            await client.call_tool("gitring_wait", WAIT)

    running = asyncio.create_task(agent())
    await edge.operations.waiting.wait()
    running.cancel()
    async with asyncio.timeout(40):
        await edge.operations.left.wait()
    await asyncio.gather(running, return_exceptions=True)


@pytest.mark.parametrize("revision", REVISIONS)
async def test_a_write_goes_on_when_its_caller_leaves(own_edge: Edge, revision: str) -> None:
    begun, go_on, done = asyncio.Event(), asyncio.Event(), asyncio.Event()

    async def slow(_: Any) -> Any:
        begun.set()
        await go_on.wait()
        done.set()
        return samples.detail()

    own_edge.operations.script["submit"] = slow

    async def agent() -> None:
        async with own_edge.mcp(revision) as client:
            await client.call_tool("gitring_submit", {"intentId": samples.INTENT})

    running = asyncio.create_task(agent())
    await begun.wait()
    running.cancel()
    await asyncio.gather(running, return_exceptions=True)
    left = 'gitring_tool_calls_total{outcome="left",tool="gitring_submit"} 1.0'
    async with asyncio.timeout(40):
        while left not in (await own_edge.http.get("/metrics")).text:
            pass
    go_on.set()
    async with asyncio.timeout(40):
        await done.wait()


@pytest.mark.parametrize("revision", REVISIONS)
async def test_a_wait_for_asks_is_cut_to_45_seconds_and_says_so(edge: Edge, revision: str) -> None:
    edge.operations.script["asks"] = _none_after_its_wait
    async with edge.mcp(revision) as client:
        result = await client.call_tool("gitring_asks", {"wait": 200})
    [(_, given)] = edge.operations.asked
    assert given.wait == 45
    assert texts(result)[0] == (
        "No open asks after 45 s (one call waits at most 45 s here). "
        "Call gitring_asks with wait again to keep waiting."
    )
    assert result.structured_content is not None
    assert (result.structured_content["asks"], result.structured_content["mostWaitSec"]) == ([], 45)


async def _none_after_its_wait(given: Any) -> Any:
    return samples.ask_list().model_copy(update={"asks": [], "open_asks": 0, "waited_sec": float(given.wait)})
