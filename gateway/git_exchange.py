"""Carry one HTTP request to a running `git http-backend` and its answer back, in pieces, however large they are.

A raw ASGI exchange on purpose: a framework's streaming response listens for the disconnect on the same `receive` that
carries the body, and so eats parts of a large push.
"""

import asyncio
from asyncio.subprocess import Process

import structlog
from starlette.types import Receive, Send

from storage.git.backend import CgiHead, read_head

_log = structlog.get_logger("gateway.git")
_CHUNK = 64 * 1024
_LOGGED_STDERR = 4_000
_GONE = (BrokenPipeError, ConnectionResetError, RuntimeError)


async def feed(receive: Receive, process: Process, idle: float) -> None:
    """Pour the request body into git, then wait; returns when the client has left, or was silent for `idle` seconds.

    A git that has heard enough closes its stdin; the rest of the body is then read and dropped.
    """
    more = True
    while True:
        try:
            async with asyncio.timeout(idle if more else None):
                message = await receive()
        except TimeoutError:
            return
        if message["type"] == "http.disconnect":
            return
        more = message.get("more_body", False)
        await _write(process, message.get("body", b""), last=not more)


async def _write(process: Process, chunk: bytes, last: bool) -> None:
    stdin = process.stdin
    if stdin is None or stdin.is_closing():
        return
    try:
        if chunk:
            stdin.write(chunk)
            await stdin.drain()
        if last:
            stdin.close()
    except _GONE:
        # The event loops differ in what they raise for a pipe whose reader ended; git's answer says why it did.
        stdin.close()


async def send_head(process: Process, send: Send) -> bool:
    """Send the status and headers git answers with; False when git ended without an answer (a 500 is sent)."""
    assert process.stdout is not None
    head = await read_head(process.stdout)
    if head is None:
        await send_text(
            send, 500, "gitring could not run git for this request. Try again; the server's log says why."
        )
        return False
    await _start(send, head)
    return True


async def pour(process: Process, send: Send, idle: float) -> None:
    """Send the rest of git's answer as it comes. Raises TimeoutError for a client that stops reading."""
    assert process.stdout is not None
    while chunk := await process.stdout.read(_CHUNK):
        async with asyncio.timeout(idle):
            await send({"type": "http.response.body", "body": chunk, "more_body": True})
    await finish(send)


async def finish(send: Send, last: bytes = b"") -> None:
    """End the response."""
    await send({"type": "http.response.body", "body": last, "more_body": False})


async def log_stderr(process: Process, **context: str) -> None:
    """Log what git says beside its answer; bounded, and read to the end so that git never blocks on it."""
    assert process.stderr is not None
    said = b""
    while chunk := await process.stderr.read(_CHUNK):
        said = (said + chunk)[:_LOGGED_STDERR]
    if said:
        _log.warning("git_said", stderr=said.decode("utf-8", "replace"), **context)


async def send_text(send: Send, status: int, message: str, *headers: tuple[bytes, bytes]) -> None:
    """A whole plain-text answer; git shows such a body to its user as `remote:` lines."""
    plain = (b"content-type", b"text/plain; charset=utf-8")
    body = f"{message}\n".encode("utf-8", "replace")
    await _start(send, CgiHead(status, (plain, (b"content-length", b"%d" % len(body)), *headers)))
    await finish(send, body)


async def _start(send: Send, head: CgiHead) -> None:
    await send({"type": "http.response.start", "status": head.status, "headers": list(head.headers)})
