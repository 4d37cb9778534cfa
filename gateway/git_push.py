"""One push, from its first byte to its record.

Order: git receives the objects into quarantine → pre-receive asks `decide` → git moves the refs → post-receive has
`record` called → only then does the pusher read that it worked. Until `decide` allows it, a push whose client leaves
is ended and leaves nothing. From then on it is brought to its end, client or not, because refs may have moved.
"""

import asyncio
from asyncio.subprocess import Process

import structlog
from starlette.types import Message, Receive, Send

from gateway.git_access import Decide, GitAccess, Record
from gateway.git_exchange import feed, finish, log_stderr, send_head
from gateway.git_hook import PRE_RECEIVE, Answer, HookChannel, Question
from gateway.text.untrusted import printable
from storage.git.backend import CgiRequest, http_backend
from storage.git.command import wind_down
from storage.git.receive import RefUpdate
from storage.git.repository import Repository

_log = structlog.get_logger("gateway.git")
_CHUNK = 64 * 1024
# Seconds an abandoned push has to end by itself, its stdin and its hooks' channel closed.
_WIND_DOWN = 30.0
_UNJUDGED = "gitring could not look at this push, so nothing was stored. Push again in a moment."
_UNRECORDED = (
    "gitring stored your commits but could not record the push yet. Look with gitring_status before you push."
)


class Push:
    """The push of one request. `serve` runs it; `leave` tells it that its client is gone."""

    def __init__(self, access: GitAccess, decide: Decide, record: Record, patience: float) -> None:
        self._access, self._decide, self._record, self._patience = access, decide, record, patience
        self._gone = asyncio.Event()
        self._asked: list[RefUpdate] = []
        self._allowed = False
        self._reported = False
        self._recorded = True

    def leave(self) -> None:
        """The client is gone: nothing more is sent to it, and a push not yet allowed is given up."""
        self._gone.set()

    async def serve(
        self, request: CgiRequest, settings: dict[str, str], receive: Receive, send: Send, idle: float
    ) -> None:
        """Run the push and answer it."""
        path = self._access.repository

        async def send_or_leave(message: Message) -> None:
            # A client that is gone, or reads nothing, must not take an allowed push down with it.
            if not self._gone.is_set():
                try:
                    async with asyncio.timeout(idle):
                        await send(message)
                except OSError:  # TimeoutError is one
                    self.leave()

        with HookChannel() as channel:
            async with http_backend(path, request, settings, channel.env, (channel.child_fd,)) as process:
                channel.child_started()
                await self._until_done_or_given_up(process, channel, receive, send_or_leave, idle)

    async def _until_done_or_given_up(
        self, process: Process, channel: HookChannel, receive: Receive, send: Send, idle: float
    ) -> None:
        run = asyncio.create_task(self._run(process, channel, send))
        given_up = asyncio.create_task(self._given_up())
        body = asyncio.create_task(feed(receive, process, idle))
        body.add_done_callback(lambda _: self.leave())
        try:
            await asyncio.wait({run, given_up}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for task in (body, given_up, run):
                task.cancel()
            await asyncio.wait({body, given_up, run})
            # Not by a signal: git removes its quarantine only when it ends by itself.
            await wind_down(process, _WIND_DOWN)
        for task in (body, run):
            if not task.cancelled():
                task.result()

    async def _given_up(self) -> None:
        await self._gone.wait()
        if self._allowed:
            await asyncio.Event().wait()

    async def _run(self, process: Process, channel: HookChannel, send: Send) -> None:
        async with asyncio.TaskGroup() as group:
            group.create_task(log_stderr(process, project=self._access.project_id))
            group.create_task(channel.converse(self._answer))
            pumped = group.create_task(self._pump(process, send))
        await process.wait()
        await self._settle()
        held = pumped.result()
        if held is not None:
            await finish(send, held if self._recorded else _fatal(_UNRECORDED))

    async def _pump(self, process: Process, send: Send) -> bytes | None:
        """Send git's answer up to the decision; what comes after it is held back until the push is recorded."""
        assert process.stdout is not None
        if not await send_head(process, send):
            return None
        held = b""
        while chunk := await process.stdout.read(_CHUNK):
            if self._allowed:
                held += chunk
            else:
                await send({"type": "http.response.body", "body": chunk, "more_body": True})
        return held

    async def _answer(self, question: Question) -> Answer:
        if question.hook == PRE_RECEIVE:
            return await self._judge(question)
        await self._keep(question.updates)
        return Answer(allow=True)

    async def _judge(self, question: Question) -> Answer:
        self._asked = question.updates
        try:
            async with asyncio.timeout(self._patience):
                refusal = await self._decide(self._access, question.updates, question.quarantine)
        except Exception:
            _log.exception("push_not_judged", project=self._access.project_id)
            refusal = _UNJUDGED
        if refusal is None and not self._gone.is_set():
            self._allowed = True
            return Answer(allow=True)
        return Answer(allow=False, text=printable(refusal or _UNJUDGED))

    async def _settle(self) -> None:
        """Record what moved although post-receive never said so (it was killed, or could not start)."""
        if not self._allowed or self._reported:
            return
        repository = Repository(self._access.repository)
        targets = [None if update.deletes else update.new for update in self._asked]
        now = [await repository.target(update.ref) for update in self._asked]
        moved = [update for update, new, at in zip(self._asked, targets, now, strict=True) if at == new]
        if moved:
            await self._keep(moved)

    async def _keep(self, moved: list[RefUpdate]) -> None:
        self._reported = True
        try:
            await self._record(self._access, moved)
        except Exception:
            _log.exception("push_not_recorded", project=self._access.project_id)
            self._recorded = False


def _fatal(message: str) -> bytes:
    """A side-band packet that makes git stop with this message, and the end of the stream."""
    body = b"\x03" + message.encode() + b"\n"
    return b"%04x" % (len(body) + 4) + body + b"0000"
