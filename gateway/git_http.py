"""Git over HTTP: a raw ASGI application to mount at `/git`.

`/git/<project id or slug>.git/{info/refs,git-upload-pack,git-receive-pack}`, the smart protocol only. Git itself
does the work (`git http-backend`); this module checks the path, asks `authorize`, and hands a push to `git_push`.
"""

import asyncio
import re
from asyncio.subprocess import Process
from pathlib import Path

from starlette.types import Receive, Scope, Send

from gateway.git_access import Authorize, Decide, GitAccess, GitDenied, Record, token_of
from gateway.git_exchange import feed, log_stderr, pour, send_head, send_text
from gateway.git_hook import install_hooks
from gateway.git_push import Push
from gateway.text.untrusted import printable
from storage.git.backend import CgiRequest, http_backend

__all__ = ["Authorize", "Decide", "GitAccess", "GitDenied", "GitHttp", "Record", "token_of"]

_TARGET = re.compile(r"/([A-Za-z0-9][A-Za-z0-9._-]{0,99})\.git/(info/refs|git-upload-pack|git-receive-pack)")
_SERVICE = re.compile(rb"service=(git-upload-pack|git-receive-pack)")
_PROTOCOL = re.compile(r"[a-z0-9=:.-]{1,64}")
_ENCODINGS = ("", "identity", "gzip", "x-gzip")
_NOT_FOUND = "No repository here. Use the address that gitring_clone gives: …/git/<project>.git"
_MAX_PUSH = 2 * 1024**3


class GitHttp:
    """The ASGI application. `hooks` is a folder it may write; `drain` at shutdown lets allowed pushes end.

    `max_push` caps the pack of one push in bytes, `idle` how many seconds a client may be silent in mid-body,
    `patience` how many seconds `decide` may take before the push is refused.
    """

    def __init__(
        self,
        authorize: Authorize,
        decide: Decide,
        record: Record,
        *,
        hooks: Path,
        max_push: int = _MAX_PUSH,
        idle: float = 300.0,
        patience: float = 60.0,
    ) -> None:
        self._authorize, self._decide, self._record = authorize, decide, record
        self._idle, self._patience = idle, patience
        self._pushes: set[asyncio.Task[None]] = set()
        # Given with each request, so they hold whatever a repository's own config says.
        self._settings = {
            "core.hooksPath": str(install_hooks(hooks)),
            "http.receivepack": "true",
            "http.uploadpack": "true",
            "receive.autogc": "false",
            "receive.maxInputSize": str(max_push),
            "transfer.hideRefs": "refs/gitring",
            # The path comes from gitring's own record; a mounted volume may well belong to another user.
            "safe.directory": "*",
            "gc.auto": "0",
        }

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        if scope["type"] != "http":
            if scope["type"] == "websocket":
                await send({"type": "websocket.close", "code": 1003})
            return
        headers = _headers(scope)
        path = scope["path"].removeprefix(scope.get("root_path", ""))
        target = _TARGET.fullmatch(path)
        service = _service(target[2], scope["query_string"]) if target else None
        if target is None or service is None:
            return await send_text(send, 404, _NOT_FOUND)
        if scope["method"] != ("GET" if target[2] == "info/refs" else "POST"):
            return await send_text(send, 405, "This address takes git's own requests only.")
        if headers.get("content-encoding", "") not in _ENCODINGS:
            return await send_text(send, 415, "Send the body as it is, or compressed with gzip.")
        write = service == "git-receive-pack"
        access = await self._authorize(target[1], headers.get("authorization"), write)
        if isinstance(access, GitDenied):
            return await _refuse(send, access, headers.get("authorization"))
        request = _request(scope["method"], target[2], service, headers)
        if write and target[2] != "info/refs":
            await self._push(access, request, receive, send)
        else:
            await self._fetch(access, request, receive, send)

    async def drain(self) -> None:
        """Wait until every push that was allowed is recorded; call it once no new request arrives."""
        while self._pushes:
            await asyncio.wait(self._pushes)

    async def _fetch(self, access: GitAccess, request: CgiRequest, receive: Receive, send: Send) -> None:
        async with http_backend(access.repository, request, self._settings) as process:
            tasks = (
                asyncio.create_task(feed(receive, process, self._idle)),
                asyncio.create_task(self._answer(process, access, send)),
            )
            try:
                await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
            finally:
                for task in tasks:
                    task.cancel()
                await asyncio.wait(tasks)
        for task in tasks:
            if not task.cancelled():
                task.result()

    async def _answer(self, process: Process, access: GitAccess, send: Send) -> None:
        async with asyncio.TaskGroup() as group:
            group.create_task(log_stderr(process, project=access.project_id))
            if await send_head(process, send):
                await pour(process, send, self._idle)

    async def _push(self, access: GitAccess, request: CgiRequest, receive: Receive, send: Send) -> None:
        push = Push(access, self._decide, self._record, self._patience)
        task = asyncio.create_task(push.serve(request, self._settings, receive, send, self._idle))
        self._pushes.add(task)
        task.add_done_callback(self._pushes.discard)
        try:
            await asyncio.shield(task)
        finally:
            push.leave()


def _headers(scope: Scope) -> dict[str, str]:
    return {name.decode("latin-1").lower(): value.decode("latin-1") for name, value in scope["headers"]}


def _service(target: str, query: bytes) -> str | None:
    """The git service a request is for; None for the dumb protocol and for queries git does not send."""
    if target != "info/refs":
        return None if query else target
    asked = _SERVICE.fullmatch(query)
    return asked[1].decode() if asked else None


def _request(method: str, target: str, service: str, headers: dict[str, str]) -> CgiRequest:
    length, protocol = headers.get("content-length", ""), headers.get("git-protocol", "")
    return CgiRequest(
        method=method,
        target=target,
        query=f"service={service}" if target == "info/refs" else "",
        content_type=headers.get("content-type", ""),
        content_length=length if length.isdecimal() else "",
        content_encoding=headers.get("content-encoding", "").removeprefix("identity"),
        git_protocol=protocol if _PROTOCOL.fullmatch(protocol) else "",
    )


async def _refuse(send: Send, denied: GitDenied, authorization: str | None) -> None:
    """Answer a refusal so that git shows it.

    On a 401 git drops the body and asks its credential helper. That helps a request without a token, and one whose
    helper's token is stale; a token given as a header would only end in "could not read Username", so it gets a 403.
    """
    bearer = (authorization or "").lower().startswith("bearer ")
    message = printable(denied.message)
    if denied.status == 401 and not bearer:
        challenge = (b"www-authenticate", b'Basic realm="gitring"')
        return await send_text(send, 401, message, challenge)
    await send_text(send, 403 if denied.status == 401 else denied.status, message)
