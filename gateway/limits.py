"""The edge's bounds, in one place, and the layer that keeps a call's body small."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from gateway.errors import error_response, too_large
from protocol.refusals import Refused, invalid_input

MIB = 1024 * 1024


@dataclass(frozen=True)
class Limits:
    """Bytes and seconds the edge holds every call to."""

    body_bytes: int = MIB
    # An answer that takes longer than this opens its response first and keeps it open with `keep_open_sec`.
    first_byte_sec: float = 0.25
    keep_open_sec: float = 15.0
    # A call that is no wait; what it started goes on, and the caller learns how to find out.
    call_sec: float = 60.0
    # What a wait may overrun its own seconds before the caller is told that the record is busy.
    wait_grace_sec: float = 15.0
    # How long writes under way at a stop are waited for.
    drain_sec: float = 10.0


class ClientGone(Exception):
    """The client left before its request was complete."""


async def read_body(scope: Scope, receive: Receive, limit: int) -> bytes:
    """The whole body of a request; refuses `too_large` as soon as it is known to be over `limit` bytes."""
    declared = dict(scope["headers"]).get(b"content-length", b"0")
    if declared.isdigit() and int(declared) > limit:
        raise too_large(limit)
    body = bytearray()
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise ClientGone
        body += message.get("body", b"")
        if len(body) > limit:
            raise too_large(limit)
        if not message.get("more_body", False):
            return bytes(body)


def replay(body: bytes, receive: Receive) -> Callable[[], Awaitable[Message]]:
    """A `receive` that gives `body` once and then what the server says next."""
    given = False

    async def again() -> Message:
        nonlocal given
        if given:
            return await receive()
        given = True
        return {"type": "http.request", "body": body, "more_body": False}

    return again


class BodyLimit:
    """ASGI layer: reads a call's body before the call, so that nothing larger ever reaches it. Git is let through."""

    def __init__(self, app: ASGIApp, limit: int = MIB) -> None:
        self._app = app
        self._limit = limit

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or is_git(scope):
            await self._app(scope, receive, send)
            return
        try:
            _refuse_nul(scope)
            body = await read_body(scope, receive, self._limit)
        except Refused as problem:
            await error_response(problem.refusal)(scope, receive, send)
        except ClientGone:
            return
        else:
            await self._app(scope, replay(body, receive), send)


def _refuse_nul(scope: Scope) -> None:
    """Nothing has a NUL in its name, and the record cannot even be asked for it."""
    if "\0" in scope["path"] or b"%00" in scope["query_string"]:
        raise invalid_input("The address holds a NUL character.", "Leave %00 out of it.")


def is_git(scope: Scope) -> bool:
    """True for a request under /git, whose bodies are packs of any size."""
    path: str = scope["path"]
    return path == "/git" or path.startswith("/git/")
