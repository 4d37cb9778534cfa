"""The ASGI app at /mcp: who may come in, from where, with what; then the MCP library's stateless transport.

The transport answers each POST with one JSON document. `held.hold` around it opens the response early, keeps it
open, and ends the call when the client leaves, alike for every protocol revision.
"""

import asyncio
import json
from collections.abc import Collection
from typing import NamedTuple
from urllib.parse import urlsplit

from mcp.server.streamable_http import check_accept_headers
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from starlette.datastructures import Headers
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Message, Receive, Scope, Send

from gateway.auth import Door, Knows, admit
from gateway.errors import error_response, not_json
from gateway.held import JSON, hold
from gateway.limits import ClientGone, Limits, read_body, replay
from gateway.mcp.server import CALLER
from protocol.projects import Caller
from protocol.refusals import Refused, refused

_LOOPBACK = frozenset({"localhost", "127.0.0.1", "::1"})


class Fitted(NamedTuple):
    """A request on its way to the transport."""

    scope: Scope
    body: bytes


class McpDoor:
    """Lets a call in when its host, token and body are in order, and hands it to the transport."""

    def __init__(
        self, manager: StreamableHTTPSessionManager, surface: Knows, hosts: Collection[str], limits: Limits
    ) -> None:
        self._manager = manager
        self._surface = surface
        self._hosts = _LOOPBACK | {host.lower() for host in hosts}
        self._limits = limits

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        headers = Headers(scope=scope)
        try:
            self._check_origin(headers)
            _check_form(scope, headers)
            caller = await admit(self._surface, headers.get("authorization"), Door.MCP)
            body = await read_body(scope, receive, self._limits.body_bytes)
            fitted = self.fit(scope, body)
        except ClientGone:
            return
        except Refused as problem:
            response = error_response(problem.refusal)
            if problem.refusal.status == 405:
                response.headers["Allow"] = "POST"
            await response(scope, receive, send)
            return
        if isinstance(fitted, Response):
            await fitted(scope, receive, send)
            return
        await self._hand_on(fitted, caller, receive, send)

    def fit(self, scope: Scope, body: bytes) -> Fitted | Response:
        """The request as the transport gets it, or what answers it at once; raises Refused."""
        _check_json(body)
        return Fitted(scope, body)

    async def _hand_on(self, fitted: Fitted, caller: Caller, receive: Receive, send: Send) -> None:
        inner = {**fitted.scope, CALLER: caller}

        async def work(send_held: Send) -> None:
            await self._manager.handle_request(inner, replay(fitted.body, _never), send_held)

        await hold(work, receive, send, JSON, self._limits)

    def _check_origin(self, headers: Headers) -> None:
        """A browser page of another site must not reach a server on loopback through a name it controls."""
        if _name_in(f"//{headers.get('host', '')}") not in self._hosts:
            raise refused(
                "forbidden",
                "This Host is not one this server answers to.",
                "Call the server by its public URL (GITRING_PUBLIC_URL sets it) or by a loopback address.",
                421,
            )
        origin = headers.get("origin")
        if origin is not None and _name_in(origin) not in self._hosts:
            raise refused(
                "forbidden",
                "Calls from pages of another site are not taken.",
                "Call from a program, or from this server's own pages.",
                403,
            )


def _check_form(scope: Scope, headers: Headers) -> None:
    if scope["method"] != "POST":
        # A GET would open a stream for messages that a server without sessions never sends.
        raise refused(
            "method_not_allowed", "MCP is called by POST only.", "Send each MCP message as its own POST.", 405
        )
    if headers.get("content-type", "").partition(";")[0].strip().lower() != "application/json":
        raise not_json()
    if not check_accept_headers(Request(scope))[0]:
        raise refused(
            "invalid_input",
            "The Accept header leaves out application/json.",
            "Send Accept: application/json, text/event-stream.",
            406,
        )


def _check_json(body: bytes) -> None:
    try:
        json.loads(body)
    except (ValueError, RecursionError):
        raise not_json() from None


async def _never() -> Message:
    """`hold` is the one that hears the client leave; the transport must not take that message from it."""
    await asyncio.Event().wait()
    raise AssertionError("an event nobody holds was set")


def _name_in(address: str) -> str | None:
    try:
        return urlsplit(address).hostname
    except ValueError:
        return None
