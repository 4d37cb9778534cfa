"""What the bridge answers by itself: everything of MCP but the calls of tools, in both revisions, from the one table.

A request whose `_meta` names a revision speaks the newer kind; every other one the older. Both may alternate.
"""

from collections.abc import Mapping
from typing import Any, NamedTuple

from protocol.foremerge.instructions import AGENT_INSTRUCTIONS
from protocol.foremerge.tools import FOREMERGE_BY_NAME, FOREMERGE_TOOLS
from protocol.schemas import input_schema

MODERN = "2026-07-28"
LEGACY = "2025-11-25"
SUPPORTED = [MODERN, LEGACY]

PARSE_ERROR = -32700
INVALID_REQUEST = -32600
METHOD_NOT_FOUND = -32601
INVALID_PARAMS = -32602
UNSUPPORTED_VERSION = -32022

_META = "io.modelcontextprotocol/"
_FRESH = {"ttlMs": 300_000, "cacheScope": "public"}
_CAPABILITIES: dict[str, Any] = {"tools": {"listChanged": False}}

Message = dict[str, Any]


class Forward(NamedTuple):
    """A call of a tool, for the server."""

    message: Message
    modern: bool


class Words:
    """Answers in the name of `version`. `trouble` says why the server cannot be used, if it cannot."""

    def __init__(self, version: str, trouble: str | None = None) -> None:
        self._info = {"name": "foremerge", "version": version}
        self._trouble = trouble

    def answer(self, message: object) -> Message | Forward | None:
        """The reply, the call to forward, or None for what gets no reply: notifications, and batches."""
        if not isinstance(message, dict) or "id" not in message:
            return None
        request_id, method = message["id"], message.get("method")
        if "method" not in message and ("result" in message or "error" in message):
            return None
        if not isinstance(method, str) or isinstance(request_id, (dict, list, bool)):
            return failed(None, INVALID_REQUEST, "Not a request")
        params = message.get("params", {})
        if not isinstance(params, dict):
            return failed(request_id, INVALID_PARAMS, "params must be an object")
        meta = params.get("_meta")
        meta = meta if isinstance(meta, dict) else {}
        modern = f"{_META}protocolVersion" in meta
        if modern and (refused := _revision_refused(request_id, meta)):
            return refused
        if method == "tools/call":
            return _call(message, params, modern)
        result = self._modern(method) if modern else self._legacy(method, params)
        if isinstance(result, str):
            return failed(
                request_id, METHOD_NOT_FOUND if not result else INVALID_PARAMS, result or "Method not found"
            )
        return self.succeeded(request_id, result, modern)

    def _legacy(self, method: str, params: Message) -> Message | str:
        if method == "initialize":
            about = {"protocolVersion": LEGACY, "capabilities": _CAPABILITIES, "serverInfo": self._info}
            return {**about, "instructions": self._instructions}
        if method == "server/discover":
            return f"server/discover needs _meta with {_META}protocolVersion"
        return {"ping": {}, "tools/list": {"tools": listed()}}.get(method, "")

    def _modern(self, method: str) -> Message | str:
        if method == "server/discover":
            about = {"supportedVersions": SUPPORTED, "capabilities": _CAPABILITIES, **_FRESH}
            return {**about, "instructions": self._instructions}
        return {"tools": listed(), **_FRESH} if method == "tools/list" else ""

    @property
    def _instructions(self) -> str:
        if self._trouble is None:
            return AGENT_INSTRUCTIONS
        return f"Foremerge unavailable: {self._trouble}\n\n{AGENT_INSTRUCTIONS}"

    def succeeded(self, request_id: object, result: Mapping[str, Any], modern: bool) -> Message:
        """A reply in the form of the request's revision, signed."""
        kind = {"resultType": "complete"} if modern else {}
        signed = {**kind, **result, "_meta": {f"{_META}serverInfo": self._info}}
        return {"jsonrpc": "2.0", "id": request_id, "result": signed}


def failed(request_id: object, code: int, text: str, data: object = None) -> Message:
    """A JSON-RPC error."""
    error: Message = {"code": code, "message": text}
    if data is not None:
        error["data"] = data
    return {"jsonrpc": "2.0", "id": request_id, "error": error}


def listed() -> list[Message]:
    """The tools, in the order of the alphabet."""
    return [
        {
            "name": tool.name,
            "description": tool.description,
            "inputSchema": input_schema(tool.input),
            "annotations": tool.hints,
        }
        for tool in FOREMERGE_TOOLS
    ]


def _revision_refused(request_id: object, meta: Message) -> Message | None:
    revision = meta[f"{_META}protocolVersion"]
    if not isinstance(revision, str):
        return failed(request_id, INVALID_PARAMS, f"{_META}protocolVersion must be a string")
    if revision not in SUPPORTED:
        data = {"supported": SUPPORTED, "requested": revision}
        return failed(request_id, UNSUPPORTED_VERSION, "Unsupported protocol version", data)
    if not isinstance(meta.get(f"{_META}clientCapabilities"), dict):
        return failed(request_id, INVALID_PARAMS, f"_meta lacks {_META}clientCapabilities")
    return None


def _call(message: Message, params: Message, modern: bool) -> Message | Forward:
    name = params.get("name")
    if not isinstance(name, str):
        return failed(message["id"], INVALID_PARAMS, "tools/call needs the name of a tool")
    if name not in FOREMERGE_BY_NAME:
        return failed(message["id"], INVALID_PARAMS, f"Unknown tool: {name[:80]!r}")
    if not isinstance(params.get("arguments", {}), (dict, type(None))):
        return failed(message["id"], INVALID_PARAMS, "arguments must be an object")
    return Forward(message, modern)
