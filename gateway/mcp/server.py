"""The MCP server: lists the tools and runs them. It keeps nothing between two requests."""

import logging
from typing import Any

import mcp_types as types
from mcp.server.caching import CacheHint
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel import Server
from pydantic import BaseModel, ValidationError
from starlette.requests import Request

from gateway.calls import Calls, Held, wait_cut
from gateway.errors import refusal_of
from gateway.explain import explain
from gateway.mcp.instructions import AGENT_INSTRUCTIONS
from gateway.mcp.loops import StatusLoops
from gateway.mcp.results import refusal_result, result_again, result_of
from gateway.mcp.schemas import listed_tools
from gateway.text.untrusted import one_line
from protocol.answers import IntentDetail
from protocol.asks import AskList
from protocol.intents import MCP_WAIT_SEC
from protocol.projects import Caller
from protocol.refusals import Refused, refused
from protocol.tools import BY_NAME, Tool

CALLER = "gitring.caller"
"""Key of the ASGI scope under which the door leaves the accepted caller."""

_LIST_FRESH_MS = 300_000


def arguments_of(tool: Tool, arguments: dict[str, Any] | None) -> BaseModel:
    """The tool's input; refuses `invalid_input`, naming each field that is wrong."""
    try:
        given = tool.input.model_validate(arguments or {})
    except ValidationError as problem:
        raise refused(
            "invalid_input",
            explain(problem.errors(include_url=False, include_input=False)),
            f"Correct it and call {tool.name} again; tools/list describes every field.",
            400,
        ) from None
    return wait_cut(given, MCP_WAIT_SEC) if isinstance(given, Held) else given


def tool_named(name: str) -> Tool:
    """The tool; refuses `invalid_input` with the names there are."""
    tool = BY_NAME.get(name)
    if tool is None:
        raise refused(
            "invalid_input",
            f"There is no tool {one_line(name, 80)}.",
            f"Call one of {', '.join(BY_NAME)}.",
            400,
        )
    return tool


def build_server(calls: Calls, version: str) -> Server[Any]:
    """The server whose tools are run by `calls`."""
    tools = listed_tools()
    schemas = {tool.name: tool.input_schema for tool in tools}
    loops = StatusLoops()

    async def list_tools(
        _: ServerRequestContext[Any], __: types.PaginatedRequestParams | None
    ) -> types.ListToolsResult:
        return types.ListToolsResult(tools=tools)

    async def call_tool(
        context: ServerRequestContext[Any, Request], params: types.CallToolRequestParams
    ) -> types.CallToolResult:
        try:
            tool = tool_named(params.name)
            given = arguments_of(tool, params.arguments)
            caller = _caller(context)
            answer = await calls.run(tool, caller, given)
            if (
                tool.name == "gitring_status"
                and isinstance(answer, IntentDetail)
                and loops.looked(caller, answer)
            ):
                return result_again(answer)
            if isinstance(answer, AskList):
                answer = answer.model_copy(update={"most_wait_sec": MCP_WAIT_SEC})
            return result_of(answer, tool.name)
        except Refused as problem:
            return refusal_result(problem.refusal)
        except Exception as problem:
            return refusal_result(refusal_of(problem))

    # One line at INFO for each request, which says only that it ended.
    logging.getLogger("mcp.server.streamable_http").setLevel(logging.WARNING)
    return Server(
        "gitring",
        version=version,
        title="gitring",
        description="Coordinates many coding agents on one Git repository.",
        instructions=AGENT_INSTRUCTIONS,
        cache_hints={"tools/list": CacheHint(ttl_ms=_LIST_FRESH_MS, scope="public")},
        get_tool_input_schema=schemas.get,
        on_list_tools=list_tools,
        on_call_tool=call_tool,
    )


def _caller(context: ServerRequestContext[Any, Request]) -> Caller:
    assert context.request is not None
    caller = context.request.scope[CALLER]
    assert isinstance(caller, Caller)
    return caller
