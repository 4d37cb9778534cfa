"""Answers that take their time: the first byte leaves early, the connection is kept open, and a client that
leaves ends the work.

Proxies and clients give up on a silent connection, so an answer that is not there after a moment opens its
response with status 200 and sends bytes its format ignores: whitespace before JSON, comments among server-sent
events. A failure after that point can only be told in the body.
"""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

import anyio
from starlette.responses import Response
from starlette.types import Message, Receive, Scope, Send

from gateway.errors import error_body, refusal_of
from gateway.limits import Limits


@dataclass(frozen=True)
class Form:
    """A response format that can be kept open."""

    media_type: str
    idle: bytes
    # True when idle bytes may also stand between the parts of a body that has begun.
    idle_between: bool
    # Around the error of a call that failed after its response was opened.
    before_error: bytes = b""
    after_error: bytes = b""


JSON = Form("application/json", b" ", idle_between=False)
EVENTS = Form(
    "text/event-stream",
    b": open\n\n",
    idle_between=True,
    before_error=b"event: error\ndata: ",
    after_error=b"\n\n",
)

Work = Callable[[Send], Awaitable[None]]


class _Opened:
    """The response of one held answer: who opened it, and whether its body has begun."""

    def __init__(self, send: Send, form: Form) -> None:
        self._send = send
        self._form = form
        self._turn = asyncio.Lock()
        self.started = False
        self._ours = False
        self._begun = False

    async def send(self, message: Message) -> None:
        """What the work sends; its start is dropped when the response is open already."""
        async with self._turn:
            if message["type"] == "http.response.start":
                if self.started:
                    return
                self.started = True
            elif message.get("body"):
                self._begun = True
            await self._send(message)

    async def keep_open(self, first: float, every: float) -> None:
        """Opens the response after `first` seconds, then sends idle bytes `every` so many seconds."""
        await anyio.sleep(first)
        async with self._turn:
            if not self.started:
                self.started = self._ours = True
                await self._send(start(self._form))
                await self._send(part(self._form.idle))
        while True:
            await anyio.sleep(every)
            async with self._turn:
                if self._form.idle_between or (self._ours and not self._begun):
                    await self._send(part(self._form.idle))

    async def fail(self, problem: Exception) -> None:
        """Tells a failure in the body of the open response and ends it."""
        told = error_body(refusal_of(problem)).model_dump_json().encode()
        await self.send(part(self._form.before_error + told + self._form.after_error, more=False))


def start(form: Form) -> Message:
    """The message that opens a response of `form` with status 200."""
    headers = [
        (b"content-type", form.media_type.encode()),
        (b"cache-control", b"no-store, no-transform"),
        (b"x-accel-buffering", b"no"),
    ]
    return {"type": "http.response.start", "status": 200, "headers": headers}


def part(body: bytes, more: bool = True) -> Message:
    """The message that sends `body`; `more` False ends the response."""
    return {"type": "http.response.body", "body": body, "more_body": more}


async def hold(work: Work, receive: Receive, send: Send, form: Form, limits: Limits) -> None:
    """Run `work`, which answers through the `send` it is given, until it ends or the client leaves.

    `receive` must have no body left to give. An exception of `work` is raised again when nothing was sent yet.
    """
    opened = _Opened(send, form)
    failure: Exception | None = None

    async def leave(scope: anyio.CancelScope) -> None:
        while (await receive())["type"] != "http.disconnect":
            pass
        scope.cancel()

    async with anyio.create_task_group() as group:
        group.start_soon(leave, group.cancel_scope)
        group.start_soon(opened.keep_open, limits.first_byte_sec, limits.keep_open_sec)
        try:
            await work(opened.send)
        except Exception as problem:
            failure = problem
        if failure is not None and opened.started:
            await opened.fail(failure)
            failure = None
        group.cancel_scope.cancel()
    if failure is not None:
        raise failure


class HeldAnswer(Response):
    """A route's response that is held: `work` sends it."""

    def __init__(self, work: Work, form: Form, limits: Limits) -> None:
        super().__init__(media_type=form.media_type)
        self._work = work
        self._form = form
        self._limits = limits

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await hold(self._work, receive, send, self._form, self._limits)


def json_answer(answer: Callable[[], Awaitable[bytes]], limits: Limits) -> HeldAnswer:
    """A JSON document that `answer` gives when it is there."""

    async def work(send: Send) -> None:
        body = await answer()
        await send(start(JSON))
        await send(part(body, more=False))

    return HeldAnswer(work, JSON, limits)
