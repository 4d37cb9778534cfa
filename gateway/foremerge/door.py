"""The ASGI app at /mcp/foremerge: gitring's own MCP door, and the choice of the revision for each request.

A request whose `_meta` names a revision of its own speaks the newer kind; every other one speaks the older. The
library chooses by a header, which it then compares with the body, so one that is missing is filled in from the body.
"""

import json
from collections.abc import Mapping
from typing import Any

import mcp_types as types
from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS
from starlette.datastructures import Headers
from starlette.responses import JSONResponse, Response
from starlette.types import Scope

from gateway.foremerge.server import LEGACY, MODERN, SUPPORTED
from gateway.mcp.door import Fitted, McpDoor

_REVISION = "io.modelcontextprotocol/protocolVersion"
_HEADER = "mcp-protocol-version"
_NAMED = {"tools/call": "name", "prompts/get": "name", "resources/read": "uri"}


class ForemergeDoor(McpDoor):
    """As gitring's, for one request of either revision at a time."""

    def fit(self, scope: Scope, body: bytes) -> Fitted | Response:
        """The request with the headers its revision asks for; a revision nobody speaks here is told so."""
        try:
            message = json.loads(body)
        except (ValueError, RecursionError):
            return _failed(None, types.PARSE_ERROR, "Parse error")
        if not isinstance(message, dict):
            return Fitted(_with(scope, {_HEADER: LEGACY}), body)
        revision = _revision_of(message)
        if revision is None and _sent_newer(scope):
            return Fitted(scope, body)
        if revision is None or revision == LEGACY:
            return _older(scope, message, body)
        if revision != MODERN:
            return _unspoken(message, revision)
        return Fitted(_with(scope, _named(message)), body)


def _sent_newer(scope: Scope) -> bool:
    """A header of the newer kind over a body without `_meta`: the library says what is missing."""
    sent = Headers(scope=scope).get(_HEADER)
    return sent is not None and sent not in HANDSHAKE_PROTOCOL_VERSIONS


def _unspoken(message: Mapping[str, Any], revision: object) -> Response:
    if "id" not in message:
        return Response(status_code=202)
    if not isinstance(revision, str):
        return _failed(message["id"], types.INVALID_PARAMS, f"{_REVISION} must be a string")
    data = {"supported": SUPPORTED, "requested": revision}
    return _failed(message["id"], types.UNSUPPORTED_PROTOCOL_VERSION, "Unsupported protocol version", data)


def _older(scope: Scope, message: Mapping[str, Any], body: bytes) -> Fitted:
    """Only one older revision is spoken, so that is what a handshake comes to, whatever it asked for."""
    params = message.get("params")
    if message.get("method") == "initialize" and isinstance(params, dict):
        body = json.dumps({**message, "params": {**params, "protocolVersion": LEGACY}}).encode()
    kept = [(name, value) for name, value in scope["headers"] if name != _HEADER.encode()]
    return Fitted({**scope, "headers": [*kept, (_HEADER.encode(), LEGACY.encode())]}, body)


def _revision_of(message: Mapping[str, Any]) -> object:
    params = message.get("params")
    meta = params.get("_meta") if isinstance(params, dict) else None
    return meta.get(_REVISION) if isinstance(meta, dict) else None


def _named(message: Mapping[str, Any]) -> dict[str, str]:
    """The headers of the newer revision, as the body has them."""
    method = message.get("method")
    found = {_HEADER: MODERN}
    if isinstance(method, str) and _fits(method):
        found["mcp-method"] = method
        name = message["params"].get(_NAMED.get(method))
        if isinstance(name, str) and _fits(name):
            found["mcp-name"] = name
    return found


def _fits(text: str) -> bool:
    return text.isascii() and text.isprintable()


def _with(scope: Scope, headers: Mapping[str, str]) -> Scope:
    """`scope` with those of `headers` that it has not: what a client did send is compared, never replaced."""
    sent = Headers(scope=scope)
    more = [(name.encode(), value.encode()) for name, value in headers.items() if name not in sent]
    return {**scope, "headers": [*scope["headers"], *more]}


def _failed(request_id: object, code: int, message: str, data: object = None) -> Response:
    error: dict[str, Any] = {"code": code, "message": message}
    if data is not None:
        error["data"] = data
    return JSONResponse({"jsonrpc": "2.0", "id": request_id, "error": error}, 400)
