"""The MCP server of the Foremerge face. It keeps nothing between two requests, so both revisions share one process."""

import logging
from typing import Any

import mcp_types as types
from mcp.server.caching import CacheHint
from mcp.server.context import CallNext, HandlerResult, ServerRequestContext
from mcp.server.lowlevel import Server
from mcp.shared.exceptions import MCPError
from pydantic import BaseModel
from starlette.requests import Request

from gateway.foremerge.inputs import input_of
from gateway.foremerge.runs import ForemergeRuns
from gateway.foremerge.surface import Visit
from gateway.foremerge.tools import failed, listed_tools, result_of
from gateway.foremerge.visits import PROJECT_HEADER
from gateway.mcp.server import CALLER
from gateway.text.untrusted import one_line
from protocol.foremerge.changesets import AcceptChangeSetInput, AcceptInput
from protocol.foremerge.instructions import AGENT_INSTRUCTIONS
from protocol.foremerge.tools import FOREMERGE_BY_NAME, ForemergeTool
from rules.foremerge.acceptance import refuse_overrides

MODERN = "2026-07-28"
LEGACY = "2025-11-25"
SUPPORTED = [MODERN, LEGACY]

_FRESH = CacheHint(ttl_ms=300_000, scope="public")
_SERVER_INFO = "io.modelcontextprotocol/serverInfo"


def arguments_of(tool: ForemergeTool, arguments: dict[str, Any] | None) -> BaseModel:
    """The tool's input; refuses INVALID_INPUT naming the field, and FORBIDDEN an override of the gate."""
    given = input_of(tool.input, arguments or {}, tool.name)
    if isinstance(given, AcceptChangeSetInput):
        refuse_overrides(given)
        return AcceptInput(changeset_id=given.changeset_id, git_ref=given.git_ref)
    return given


def build_server(runs: ForemergeRuns, version: str) -> Server[Any]:
    """The server whose tools are run by `runs`."""
    tools = listed_tools()
    schemas = {tool.name: tool.input_schema for tool in tools}

    async def list_tools(
        _: ServerRequestContext[Any], __: types.PaginatedRequestParams | None
    ) -> types.ListToolsResult:
        return types.ListToolsResult(tools=tools)

    async def call_tool(
        context: ServerRequestContext[Any, Request], params: types.CallToolRequestParams
    ) -> types.CallToolResult:
        tool = FOREMERGE_BY_NAME.get(params.name)
        if tool is None:
            raise MCPError(types.INVALID_PARAMS, f"Unknown tool: {one_line(params.name, 80)}")
        try:
            given = arguments_of(tool, params.arguments)
            return result_of(await runs.run(tool.name, _visit(context), given))
        except Exception as problem:
            return failed(problem)

    logging.getLogger("mcp.server.streamable_http").setLevel(logging.WARNING)
    server: Server[Any] = Server(
        "foremerge",
        version=version,
        instructions=AGENT_INSTRUCTIONS,
        cache_hints={"tools/list": _FRESH, "server/discover": _FRESH},
        get_tool_input_schema=schemas.get,
        on_list_tools=list_tools,
        on_call_tool=call_tool,
    )
    server.middleware.append(_signed(server))
    server.add_request_handler("server/discover", types.RequestParams, _discover(server))
    return server


def _visit(context: ServerRequestContext[Any, Request]) -> Visit:
    assert context.request is not None
    return Visit(context.request.scope[CALLER], context.request.headers.get(PROJECT_HEADER))


def _discover(server: Server[Any]) -> Any:
    """The library's answer names the revisions of the newer kind alone; this server also speaks an older one."""

    async def discover(
        context: ServerRequestContext[Any], _: types.RequestParams | None
    ) -> types.DiscoverResult:
        return types.DiscoverResult(
            supported_versions=SUPPORTED,
            capabilities=server.get_capabilities(protocol_version=context.protocol_version),
            instructions=server.instructions,
        )

    return discover


def _signed(server: Server[Any]) -> Any:
    """Every result says which server gave it; the library says so at the newer revision alone."""

    async def sign(context: ServerRequestContext[Any], call_next: CallNext) -> HandlerResult:
        result = await call_next(context)
        if context.request_id is None or not isinstance(result, dict):
            return result
        info = {"name": server.name, "version": server.version}
        return {**result, "_meta": {_SERVER_INFO: info, **(result.get("_meta") or {})}}

    return sign
