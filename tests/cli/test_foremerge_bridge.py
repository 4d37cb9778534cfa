"""`foremerge mcp` as a client starts it: a program on a pipe, with a server behind it and without one."""

import asyncio
import json
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from protocol.foremerge.tools import FOREMERGE_TOOLS
from tests.cli.foremerge import PROGRAM, repository
from tests.gateway.edge import TOKEN, Edge, served
from tests.gateway.foremerge_edge import AGENT, CHANGESET, ScriptedForemerge

META = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientCapabilities": {},
}


class Piped:
    """The running program; replies are taken by their id, in whatever order they come."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self.process = process
        self._replies: dict[object, Any] = {}

    def send(self, method: str | None, request_id: object = None, **params: Any) -> None:
        """A request, or a notification when it has no id."""
        message: dict[str, Any] = {"jsonrpc": "2.0", "method": method, "params": params}
        self.write(json.dumps(message if request_id is None else {**message, "id": request_id}))

    def write(self, line: str) -> None:
        """A line as it is."""
        assert self.process.stdin
        self.process.stdin.write(f"{line}\n".encode())

    async def reply(self, request_id: object) -> Any:
        """The reply to a request."""
        assert self.process.stdout
        async with asyncio.timeout(40):
            while request_id not in self._replies:
                line = await self.process.stdout.readline()
                assert line, "it ended"
                message = json.loads(line)
                self._replies[message["id"]] = message
        return self._replies.pop(request_id)

    async def ask(self, method: str, request_id: object = 1, **params: Any) -> Any:
        """Send and wait."""
        self.send(method, request_id, **params)
        return await self.reply(request_id)

    async def call(self, name: str, request_id: object = 1, /, **arguments: Any) -> Any:
        """The result of a tool's call."""
        return (await self.ask("tools/call", request_id, name=name, arguments=arguments))["result"]


@asynccontextmanager
async def bridge(folder: Path, **environment: str) -> AsyncIterator[Piped]:
    """The program in `folder`; at the end its input is closed, and it must end well."""
    plain = {
        name: value for name, value in os.environ.items() if not name.startswith(("GITRING_", "FOREMERGE_"))
    }
    process = await asyncio.create_subprocess_exec(
        str(PROGRAM),
        *("--cwd", str(folder), "mcp"),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        env={**plain, **environment},
        limit=1 << 24,
    )
    try:
        yield Piped(process)
        assert process.stdin
        process.stdin.close()
        async with asyncio.timeout(40):
            assert await process.wait() == 0
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A repository that is tied to nothing."""
    return repository(tmp_path / "shop")


async def test_without_a_project_the_tools_are_listed_and_each_call_says_what_is_missing(
    folder: Path,
) -> None:
    async with bridge(folder) as piped:
        begun = await piped.ask("initialize", protocolVersion="2024-11-05", capabilities={}, clientInfo={})
        assert begun["result"]["protocolVersion"] == "2025-11-25"
        assert begun["result"]["instructions"].startswith("Foremerge unavailable: NOT_INITIALIZED")
        piped.send("notifications/initialized")
        assert len((await piped.ask("tools/list"))["result"]["tools"]) == 18
        for number, tool in enumerate(FOREMERGE_TOOLS):
            result = await piped.call(tool.name, number)
            told = result["structuredContent"]
            assert result["isError"] is True and json.loads(result["content"][0]["text"]) == told
            assert set(told) == {"error", "code", "message", "database", "guidance", "remedy"}
            assert (told["code"], told["database"]) == ("NOT_INITIALIZED", None)
        assert (await piped.ask("tools/call", name="nothing"))["error"]["code"] == -32602
    assert not (folder / ".git" / "foremerge").exists()


async def test_outside_a_repository_and_without_a_server_it_stays_up(folder: Path) -> None:
    async with bridge(folder.parent) as piped:
        assert (await piped.call("status"))["structuredContent"]["code"] == "NOT_A_REPOSITORY"
    gone = {"FOREMERGE_DB": "http://127.0.0.1:9", "GITRING_TOKEN": TOKEN}
    async with bridge(folder, **gone) as piped:
        for _ in range(2):
            told = (await piped.call("status"))["structuredContent"]
            assert (told["code"], told["database"]) == ("NOT_READY", "http://127.0.0.1:9")


async def test_both_revisions_are_told_apart_by_the_request(folder: Path) -> None:
    async with bridge(folder) as piped:
        assert set((await piped.ask("ping"))["result"]) == {"_meta"}
        found = (await piped.ask("server/discover", _meta=META))["result"]
        assert found["resultType"] == "complete" and found["supportedVersions"] == [
            "2026-07-28",
            "2025-11-25",
        ]
        assert (found["cacheScope"], found["ttlMs"] > 0) == ("public", True)
        listed = (await piped.ask("tools/list", "s", _meta=META))["result"]
        assert (listed["resultType"], len(listed["tools"])) == ("complete", 18)
        for method, params, code in (
            ("ping", {"_meta": META}, -32601),
            ("initialize", {"_meta": META}, -32601),
            ("server/discover", {}, -32602),
            ("tools/list", {"_meta": {"io.modelcontextprotocol/protocolVersion": "2026-07-28"}}, -32602),
            ("resources/list", {}, -32601),
            ("tools/call", {}, -32602),
        ):
            failed = await piped.ask(method, **params)
            assert set(failed) == {"jsonrpc", "id", "error"} and failed["error"]["code"] == code
        other = {**META, "io.modelcontextprotocol/protocolVersion": "2020-01-01"}
        error = (await piped.ask("tools/list", _meta=other))["error"]
        assert error["code"] == -32022
        assert error["data"] == {"supported": ["2026-07-28", "2025-11-25"], "requested": "2020-01-01"}
        piped.write("no json")
        assert (await piped.reply(None))["error"]["code"] == -32700
        piped.write("x" * (5 << 20))
        assert (await piped.reply(None))["error"]["code"] == -32700
        piped.write("")
        piped.write('[{"jsonrpc": "2.0", "id": 1, "method": "ping"}]')
        assert "result" in await piped.ask("ping", 2)


@asynccontextmanager
async def behind(folder: Path) -> AsyncIterator[tuple[ScriptedForemerge, Edge, Piped]]:
    """The program with a server of scripted operations."""
    scripted = ScriptedForemerge()
    async with served(foremerge=scripted) as edge:
        named = {"FOREMERGE_DB": edge.url, "GITRING_TOKEN": TOKEN, "GITRING_PROJECT": "storefront"}
        async with bridge(folder, **named) as piped:
            yield scripted, edge, piped


async def test_what_it_says_by_itself_is_what_the_server_says(folder: Path) -> None:
    async with behind(folder) as (_, edge, piped):
        headers = {"Accept": "application/json, text/event-stream", "Authorization": f"Bearer {TOKEN}"}
        for method, params in (
            ("tools/list", {}),
            ("tools/list", {"_meta": META}),
            ("server/discover", {"_meta": META}),
            (
                "initialize",
                {
                    "protocolVersion": "2025-11-25",
                    "capabilities": {},
                    "clientInfo": {"name": "c", "version": "1"},
                },
            ),
            ("ping", {}),
        ):
            asked = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
            theirs = (await edge.http.post("/mcp/foremerge", json=asked, headers=headers)).json()
            ours = await piped.ask(method, **params)
            assert ours == theirs, method


async def test_calls_run_side_by_side_and_a_cancelled_one_ends(folder: Path) -> None:
    async with behind(folder) as (scripted, _, piped):
        waits, left = asyncio.Event(), asyncio.Event()

        async def forever(given: Any) -> Any:
            waits.set()
            try:
                await asyncio.Event().wait()
            finally:
                left.set()

        scripted.script["query_work"] = forever
        piped.send("tools/call", "slow", name="query_work", arguments={})
        async with asyncio.timeout(40):
            await waits.wait()
        for number in range(3):
            result = await piped.call("get_changeset", number, id=CHANGESET)
            assert result["structuredContent"]["id"] == CHANGESET
        piped.send("notifications/cancelled", requestId="slow")
        async with asyncio.timeout(40):
            await left.wait()
        result = (await piped.ask("tools/call", name="list_agents", _meta=META))["result"]
        assert (
            "structuredContent" not in result and json.loads(result["content"][0]["text"])[0]["id"] == AGENT
        )
        name, visit, _ = scripted.asked[-1]
        assert (name, visit.project, visit.operator) == ("list_agents", "storefront", False)


async def test_a_worktree_is_named_from_where_the_program_stands(folder: Path) -> None:
    async with behind(folder) as (scripted, _, piped):
        await piped.call("register_agent", name="a", worktree="src")
        await piped.call("register_agent", name="b")
        given = [asked.worktree for name, _, asked in scripted.asked if name == "register_agent"]
        assert given == [str(folder), None]
        refused = await piped.call("accept_changeset", changeset_id=CHANGESET, allow_unverified=True)
        assert refused["isError"] and refused["structuredContent"]["error"].startswith("FORBIDDEN: ")


async def test_a_token_that_is_not_known_is_told_as_such(folder: Path) -> None:
    async with served(foremerge=ScriptedForemerge()) as edge:
        named = {"FOREMERGE_DB": edge.url, "GITRING_TOKEN": "gitring_agent_other"}
        async with bridge(folder, **named) as piped:
            assert (await piped.call("status"))["structuredContent"]["code"] == "UNAUTHORIZED"
