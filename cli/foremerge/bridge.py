"""`foremerge mcp`: MCP on standard input and output, one JSON-RPC message a line, for the server's own MCP address.

It stays up whatever becomes of the server: where the repository is tied to none, or none answers, each call of a tool
is told so. Calls run side by side; a client that cancels one ends it at the server too.
"""

import asyncio
import json
import os
import sys
from collections.abc import AsyncIterator
from contextlib import suppress
from threading import Thread
from typing import Any

from cli.clean import one_line
from cli.foremerge.bridge_words import PARSE_ERROR, Forward, Words, failed
from cli.foremerge.clients import VERSION
from cli.foremerge.failing import Failure, of_gitring
from cli.foremerge.place import Place, is_local
from cli.foremerge.repository import repository_at
from cli.foremerge.told import compact
from protocol.foremerge.envelope import Unavailable
from protocol.foremerge.errors import ErrorCode

_CONNECT_SEC = 10.0
# The server sends a sign of life on an open answer every few seconds.
_SILENCE_SEC = 60.0
_LONGEST_LINE = 4 << 20
_WORKTREE = ("register_agent", "publish_changeset")
_GUIDANCE = (
    "Report this to the person you act for and go on without these tools. Do not touch the record, the server or the "
    "client's settings."
)
_REMEDIES = {
    ErrorCode.NOT_INITIALIZED: "Run `foremerge init` in the repository.",
    ErrorCode.NOT_A_REPOSITORY: "Start the MCP server with `--cwd <repository>`.",
    ErrorCode.GIT_UNAVAILABLE: "Install git, and put it on the PATH of the MCP server.",
    ErrorCode.NOT_READY: "Start the server with `foremerge daemon`.",
    ErrorCode.UNAUTHORIZED: "Run `foremerge init` again: it makes a new token.",
}


def main(place: Place) -> int:
    """Serve until standard input ends; the exit code."""
    if sys.stdin.isatty():
        print("foremerge mcp speaks JSON-RPC on this terminal; an MCP client starts it.", file=sys.stderr)
    try:
        asyncio.run(Bridge(place).serve())
    except (KeyboardInterrupt, BrokenPipeError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return 0


class Bridge:
    """One client, one repository."""

    def __init__(self, place: Place) -> None:
        self._settings = place
        self._client: Any = None
        self._running: dict[object, asyncio.Task[None]] = {}
        self._tasks: set[asyncio.Task[None]] = set()

    async def serve(self) -> None:
        """Read line by line; at the end, finish what was begun."""
        import httpx2

        timeout = httpx2.Timeout(_SILENCE_SEC, connect=_CONNECT_SEC, pool=None)
        async with httpx2.AsyncClient(timeout=timeout, limits=httpx2.Limits(max_connections=None)) as client:
            self._client = client
            async for line in _lines():
                self._take(line)
            await asyncio.gather(*self._tasks, return_exceptions=True)

    def _take(self, line: bytes) -> None:
        if not line.strip():
            return
        try:
            message = json.loads(line)
        except (ValueError, RecursionError):
            _say(failed(None, PARSE_ERROR, "Parse error"))
            return
        if isinstance(message, dict) and message.get("method") == "notifications/cancelled":
            self._cancel(message.get("params"))
            return
        task = asyncio.create_task(self._answer(message))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        key = _key(message.get("id")) if isinstance(message, dict) else None
        if key is not None:
            self._running[key] = task
            task.add_done_callback(lambda _: self._running.pop(key, None))

    def _cancel(self, params: object) -> None:
        key = _key(params.get("requestId")) if isinstance(params, dict) else None
        if key is not None and key in self._running:
            self._running[key].cancel()

    async def _answer(self, message: Any) -> None:
        words = Words(VERSION)
        answer = words.answer(message)
        if isinstance(answer, Forward):
            answer = await self._called(words, answer)
        elif answer is not None and "instructions" in answer.get("result", {}):
            answer = Words(VERSION, await self._trouble()).answer(message)
        if answer is not None:
            _say(answer)

    async def _called(self, words: Words, forward: Forward) -> Any:
        place = self._place()
        try:
            return await self._forward(place, forward)
        except Failure as problem:
            result = _unavailable(place, problem)
            return words.succeeded(forward.message["id"], result, forward.modern)

    def _place(self) -> Place:
        """Looked up anew for each call, so that a later `foremerge init` is seen."""
        given = self._settings
        return Place(given.as_json, given.database, given.cwd, given.environment)

    async def _forward(self, place: Place, forward: Forward) -> Any:
        import httpx2

        from cli.foremerge.server import unreachable

        target = await asyncio.to_thread(lambda: place.target)
        headers = {
            "Authorization": f"Bearer {target.token}",
            "Accept": "application/json, text/event-stream",
            "Content-Type": "application/json",
        }
        if target.project:
            headers["Gitring-Project"] = target.project
        message = await asyncio.to_thread(_absolute, place, forward.message)
        try:
            answer = await self._post(f"{target.url}/mcp/foremerge", headers, message)
        except httpx2.TransportError as problem:
            raise unreachable(target.url, problem) from problem
        return _reply(answer, message["id"])

    async def _post(self, url: str, headers: dict[str, str], message: Any) -> Any:
        if is_local(url):
            return await self._client.post(url, headers=headers, json=message)
        import httpx2

        # Another machine's server may lie behind the proxy that the environment names.
        async with httpx2.AsyncClient(timeout=self._client.timeout) as client:
            return await client.post(url, headers=headers, json=message)

    async def _trouble(self) -> str | None:
        """Why the server cannot be used at this moment."""
        import httpx2

        from cli.foremerge.server import unreachable

        try:
            target = await asyncio.to_thread(lambda: self._place().target)
            try:
                await self._client.get(f"{target.url}/healthz", timeout=5.0)
            except httpx2.TransportError as problem:
                raise unreachable(target.url, problem) from problem
        except Failure as problem:
            return str(problem)
        return None


def _absolute(place: Place, message: Any) -> Any:
    """A worktree is named from where this process stands: the server stands elsewhere."""
    params = message["params"]
    arguments = params.get("arguments") or {}
    worktree = arguments.get("worktree")
    if params["name"] not in _WORKTREE or not isinstance(worktree, str) or not worktree or "\0" in worktree:
        return message
    folder = place.folder / worktree
    with suppress(Failure):  # the server says what is wrong with it
        folder = repository_at(folder).root
    return {**message, "params": {**params, "arguments": {**arguments, "worktree": str(folder)}}}


def _reply(answer: Any, request_id: object) -> Any:
    """The server's JSON-RPC reply; what its door refused before is a `Failure`."""
    try:
        content = json.loads(answer.text)
    except ValueError:
        raise Failure(
            ErrorCode.API_ERROR, f"{answer.url} answered {answer.status_code}, and no JSON."
        ) from None
    if isinstance(content, dict) and content.get("jsonrpc") == "2.0":
        return {**content, "id": request_id}
    error = content.get("error") if isinstance(content, dict) else None
    raise of_gitring(error if isinstance(error, dict) else {}, answer.status_code)


def _unavailable(place: Place, problem: Failure) -> dict[str, Any]:
    told = Unavailable(
        error=one_line(problem, 2000),
        code=problem.code,
        message=one_line(problem.message, 2000),
        database=_database(place),
        guidance=_GUIDANCE,
        remedy=_REMEDIES.get(problem.code, "Run `foremerge doctor` in the repository; it says what to do."),
    ).model_dump(mode="json")
    return {"content": [{"type": "text", "text": compact(told)}], "isError": True, "structuredContent": told}


def _database(place: Place) -> str | None:
    try:
        return place.address.url
    except Failure:
        return place.named


def _key(request_id: object) -> object:
    return request_id if isinstance(request_id, (str, int)) and not isinstance(request_id, bool) else None


async def _lines() -> AsyncIterator[bytes]:
    """Standard input line by line, whatever kind of file it is; a line that is too long comes as one nobody can read."""
    chunks: asyncio.Queue[bytes] = asyncio.Queue()
    loop = asyncio.get_running_loop()

    def read() -> None:
        chunk = b" "
        while chunk:
            chunk = os.read(0, 65_536)
            with suppress(RuntimeError):  # the loop is closed: nobody listens any more
                loop.call_soon_threadsafe(chunks.put_nowait, chunk)

    Thread(target=read, daemon=True).start()
    begun, lost = bytearray(), False
    while chunk := await chunks.get():
        *whole, rest = chunk.split(b"\n")
        for part in whole:
            yield b"too long" if lost else bytes(begun + part)
            begun, lost = bytearray(), False
        lost = lost or len(begun) + len(rest) > _LONGEST_LINE
        begun = bytearray() if lost else begun + rest
    if begun or lost:
        yield b"too long" if lost else bytes(begun)


def _say(message: Any) -> None:
    sys.stdout.write(compact(message) + "\n")
    sys.stdout.flush()
