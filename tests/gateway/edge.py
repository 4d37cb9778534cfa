"""A real server around the edge, with operations that answer from a script."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Collection
from contextlib import asynccontextmanager
from typing import Any

import httpx2
import uvicorn
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from pydantic import BaseModel
from starlette.types import ASGIApp, Receive, Scope, Send

from gateway.app import create_app
from gateway.limits import Limits
from gateway.live_logs import Heard
from protocol.answers import CheckView, IntentDetail, IntentView
from protocol.checks import FlakyList
from protocol.events import ChainVerdict, Event
from protocol.intents import WaitInput
from protocol.live import ArtifactList, LogNews, LogPiece
from protocol.people import MemberList
from protocol.projects import Caller, LineList, NewToken, Project, SeriesList, TokenInfo, TokenKind
from protocol.refusals import not_found, people_only, unauthenticated
from protocol.states import State
from protocol.watch import WatchList
from runtime.ports import free_port
from tests.gateway import samples

TOKEN = "gitring_agent_for-tests"
REVISIONS = ["2026-07-28", "legacy"]


class Scripted:
    """The operations of a gitring without records: each answers a sample, and remembers what it was asked.

    A test changes an answer by putting a function into `script`, by the operation's name.
    """

    def __init__(self) -> None:
        self.begin()

    def begin(self) -> None:
        """Forget what was asked and scripted."""
        self.asked: list[tuple[str, Any]] = []
        self.script: dict[str, Callable[[Any], Awaitable[Any]]] = {}
        self.news = asyncio.Event()
        self.waiting = asyncio.Event()
        self.left = asyncio.Event()
        self.live: list[Event] = []

    async def authenticate(self, raw_token: str) -> Caller:
        kinds = {TOKEN: TokenKind.AGENT, "gitring_mcp_for-tests": TokenKind.MCP}
        if raw_token not in kinds:
            raise unauthenticated()
        return samples.AGENT.model_copy(update={"kind": kinds[raw_token]})

    async def _answer(self, name: str, given: Any, sample: Any) -> Any:
        self.asked.append((name, given))
        return await self.script[name](given) if name in self.script else sample

    async def projects(self, caller: Caller, input: BaseModel, /) -> Any:
        return await self._answer("projects", input, samples.project_list())

    async def declare(self, caller: Caller, input: BaseModel, /) -> Any:
        return await self._answer("declare", input, samples.declare_result())

    async def clone(self, caller: Caller, input: BaseModel, /) -> Any:
        return await self._answer("clone", input, samples.git_token())

    async def status(self, caller: Caller, input: BaseModel, /) -> Any:
        return await self._answer("status", input, samples.full_detail())

    async def update_plan(self, caller: Caller, input: BaseModel, /) -> Any:
        return await self._answer("update_plan", input, samples.detail())

    async def ack(self, caller: Caller, input: BaseModel, /) -> Any:
        return await self._answer("ack", input, samples.detail())

    async def submit(self, caller: Caller, input: BaseModel, /) -> Any:
        return await self._answer("submit", input, samples.detail())

    async def withdraw(self, caller: Caller, input: BaseModel, /) -> Any:
        return await self._answer("withdraw", input, samples.detail())

    async def board(self, caller: Caller, input: BaseModel, /) -> Any:
        return await self._answer("board", input, samples.board())

    async def brief(self, caller: Caller, input: BaseModel, /) -> Any:
        return await self._answer("brief", input, samples.brief())

    async def nearby(self, caller: Caller, input: BaseModel, /) -> Any:
        return await self._answer("nearby", input, samples.nearby())

    async def wait(self, caller: Caller, input: WaitInput, /) -> Any:
        self.asked.append(("wait", input))
        if "wait" in self.script:
            return await self.script["wait"](input)
        self.waiting.set()
        try:
            async with asyncio.timeout(input.seconds):
                await self.news.wait()
        except TimeoutError:
            return samples.wait_answer(waited_sec=float(input.seconds))
        except asyncio.CancelledError:
            self.left.set()
            raise
        return samples.wait_answer(events=[samples.event(231, "intent.state_changed", state="active")])

    async def asks(self, caller: Caller, input: BaseModel, /) -> Any:
        return await self._answer("asks", input, samples.ask_list())

    async def open_ask(self, caller: Caller, project_ref: str, input: BaseModel, /) -> Any:
        return await self._answer("open_ask", input, samples.ask())

    async def close_ask(self, caller: Caller, ask_id: str, /) -> Any:
        return await self._answer("close_ask", ask_id, samples.ask(closed_at=samples.NOW))

    async def decide(self, caller: Caller, intent_id: str, input: BaseModel, /) -> IntentDetail:
        raise people_only("Ana Ruiz", 49)

    async def comment(self, caller: Caller, intent_id: str, input: BaseModel, /) -> IntentDetail:
        return await self._answer("comment", input, samples.detail())

    async def suggest(self, caller: Caller, intent_id: str, input: BaseModel, /) -> IntentDetail:
        return await self._answer("suggest", input, samples.detail())

    async def settle_conflict(self, caller: Caller, intent_id: str, input: BaseModel, /) -> IntentDetail:
        return await self._answer("settle_conflict", input, samples.detail())

    async def accept_drift(self, caller: Caller, intent_id: str, input: BaseModel, /) -> IntentDetail:
        return await self._answer("accept_drift", input, samples.detail())

    async def land_now(self, caller: Caller, intent_id: str, input: BaseModel, /) -> IntentDetail:
        return await self._answer("land_now", input, samples.detail())

    async def create_project(self, caller: Caller, input: BaseModel, /) -> Project:
        return await self._answer("create_project", input, samples.project())

    async def change_settings(self, caller: Caller, project_ref: str, input: BaseModel, /) -> Project:
        return await self._answer("change_settings", input, samples.project())

    async def lines(self, caller: Caller, project_ref: str, /) -> LineList:
        return samples.lines()

    async def create_line(self, caller: Caller, project_ref: str, input: BaseModel, /) -> LineList:
        return await self._answer("create_line", input, samples.lines())

    async def pause_line(self, caller: Caller, project_ref: str, line: str, input: BaseModel, /) -> LineList:
        self.asked.append(("pause_line", (project_ref, line)))
        return samples.lines()

    async def drain_line(self, caller: Caller, project_ref: str, line: str, input: BaseModel, /) -> LineList:
        self.asked.append(("drain_line", (project_ref, line)))
        return samples.lines()

    async def resume_line(self, caller: Caller, project_ref: str, line: str, /) -> LineList:
        self.asked.append(("resume_line", (project_ref, line)))
        return samples.lines()

    async def series(self, caller: Caller, project_ref: str, /) -> SeriesList:
        return samples.series()

    async def create_series(self, caller: Caller, project_ref: str, input: BaseModel, /) -> SeriesList:
        return await self._answer("create_series", input, samples.series())

    async def create_token(self, caller: Caller, input: BaseModel, /) -> NewToken:
        token = NewToken(id="tok_2", token="gitring_agent_new", name="n", projects=["storefront"])
        return await self._answer("create_token", input, token)

    async def list_tokens(self, caller: Caller, /) -> list[TokenInfo]:
        return [samples.token_info()]

    async def revoke_token(self, caller: Caller, token_id: str, /) -> TokenInfo:
        return samples.token_info()

    async def invite(self, caller: Caller, input: BaseModel, /) -> Any:
        return await self._answer("invite", input, samples.sign_in_link())

    async def make_link(self, caller: Caller, input: BaseModel, /) -> Any:
        return await self._answer("make_link", input, samples.sign_in_link())

    async def members(self, caller: Caller, project_ref: str, /) -> Any:
        return await self._answer("members", project_ref, MemberList(members=[samples.member()]))

    async def member(self, caller: Caller, project_ref: str, person_id: str, /) -> Any:
        return await self._answer("member", person_id, samples.member())

    async def set_role(self, caller: Caller, project_ref: str, person_id: str, input: BaseModel, /) -> Any:
        return await self._answer("set_role", (person_id, input), samples.member())

    async def remove_member(self, caller: Caller, project_ref: str, person_id: str, /) -> Any:
        return await self._answer("remove_member", person_id, samples.member())

    async def intents(
        self, caller: Caller, project_ref: str, states: Collection[State] | None, limit: int, /
    ) -> list[IntentView]:
        self.asked.append(("intents", (project_ref, states, limit)))
        return [samples.view()]

    async def check(self, caller: Caller, check_id: str, /) -> CheckView:
        return samples.check()

    async def check_log(self, caller: Caller, check_id: str, /) -> bytes:
        return b"<script>alert(1)</script>\xff\n"

    async def follow_log(self, caller: Caller, check_id: str, at: str, /) -> AsyncGenerator[Heard, None]:
        self.asked.append(("follow_log", (check_id, at)))
        if check_id == "chk_absent":
            raise not_found("check chk_absent", "Take the check's id from gitring_status.")
        piece = LogPiece(text="ok 1\n\nevent: end\ndata: {}\n", offset=30)
        yield Heard(LogNews.OUTPUT, "30.17", piece)
        try:
            self.waiting.set()
            await self.news.wait()
            yield Heard(LogNews.END, "30.17", samples.check())
        finally:
            self.left.set()

    async def artifacts(self, caller: Caller, check_id: str, /) -> ArtifactList:
        return ArtifactList(artifacts=[samples.artifact()], left_out=2)

    async def artifact(self, caller: Caller, check_id: str, number: int, /) -> tuple[str, bytes]:
        if number != 1:
            raise not_found("file", "List them.")
        return 'out/..\\we"ird\n/é <b>.html', b"<script>alert(1)</script>"

    async def events(self, caller: Caller, project_ref: str, after_seq: int, limit: int, /) -> list[Event]:
        return [event for event in self.live if event.seq > after_seq][:limit]

    async def live_events(self, caller: Caller, project_ref: str, after_seq: int, /) -> AsyncIterator[Event]:
        self.asked.append(("live_events", (project_ref, after_seq)))
        if project_ref == "absent":
            raise not_found("project of this name", "Call gitring_projects.")
        try:
            for event in self.live:
                if event.seq > after_seq:
                    yield event
            self.waiting.set()
            await self.news.wait()
            yield samples.event(99, "line.moved")
        finally:
            self.left.set()

    async def watch(self, caller: Caller, project_ref: str, /) -> WatchList:
        return WatchList(findings=[samples.watch_finding()], looked_at=samples.NOW)

    async def flaky(self, caller: Caller, project_ref: str, /) -> FlakyList:
        return FlakyList(flaky=[samples.flaky()])

    async def audit(self, caller: Caller, project_ref: str, /) -> ChainVerdict:
        return ChainVerdict(valid=True, events_verified=3, last_seq=3, head_hash="0" * 64)


async def echo_git(scope: Scope, receive: Receive, send: Send) -> None:
    """In place of Git: reads a body of any size and tells how long it was."""
    size = 0
    while True:
        message = await receive()
        size += len(message.get("body", b""))
        if not message.get("more_body", False):
            break
    await send({"type": "http.response.start", "status": 200, "headers": [(b"content-type", b"text/plain")]})
    await send({"type": "http.response.body", "body": str(size).encode()})


async def answers() -> None:
    """A probe of a server that answers."""


class Edge:
    """A served edge."""

    def __init__(
        self, operations: Scripted, app: ASGIApp, stopping: asyncio.Event, port: int, foremerge: object = None
    ) -> None:
        self.operations = operations
        self.foremerge = foremerge
        self.app = app
        self.stopping = stopping
        self.port = port
        self.url = f"http://127.0.0.1:{port}"
        self.http = httpx2.AsyncClient(
            base_url=self.url, headers={"Authorization": f"Bearer {TOKEN}"}, timeout=20
        )

    @asynccontextmanager
    async def mcp(self, revision: str) -> AsyncIterator[Client]:
        """A client of the real library that speaks `revision`."""
        async with httpx2.AsyncClient(headers={"Authorization": f"Bearer {TOKEN}"}, timeout=20) as http:
            transport = streamable_http_client(f"{self.url}/mcp", http_client=http)
            async with Client(transport, mode=revision) as client:
                yield client


@asynccontextmanager
async def served(
    operations: Scripted | None = None, *, port: int | None = None, **options: Any
) -> AsyncIterator[Edge]:
    """The edge on a real uvicorn; on the way out it is told to stop, and stops."""
    operations = operations or Scripted()
    stopping = asyncio.Event()
    port = port or free_port()
    settings: dict[str, Any] = {
        "public_url": "https://gitring.example.com",
        "probes": {"temporal": answers, "nats": answers, "postgres": answers},
        "git_app": echo_git,
        "limits": Limits(first_byte_sec=0.05, keep_open_sec=0.2, call_sec=5),
    }
    app = create_app(operations, stopping=stopping, **(settings | options))
    server = uvicorn.Server(
        uvicorn.Config(app, port=port, log_level="error", ws="none", timeout_keep_alive=75)
    )
    running = asyncio.create_task(_serve(server))
    await _listening(port, running)
    edge = Edge(operations, app, stopping, port, options.get("foremerge"))
    try:
        yield edge
    finally:
        await edge.http.aclose()
        stopping.set()
        server.should_exit = True
        async with asyncio.timeout(40):
            await running


async def _serve(server: uvicorn.Server) -> None:
    server.install_signal_handlers = lambda: None
    await server._serve()


async def _listening(port: int, running: asyncio.Task[None]) -> None:
    async with asyncio.timeout(40):
        while not running.done():
            try:
                _, writer = await asyncio.open_connection("127.0.0.1", port)
            except OSError:
                await asyncio.sleep(0.01)
            else:
                writer.close()
                return
    await running
