"""The people of the stories: an owner over REST, and agents over MCP or REST who push with real git.

Agents do as the server tells them: they run the printed push line in a shell, and wait by `gitring_wait`.
"""

import asyncio
import json
import os
import re
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx2
import mcp_types as types
from mcp import Client
from mcp.client.streamable_http import streamable_http_client

from protocol.ids import new_id
from protocol.tools import BY_NAME

Answer = dict[str, Any]
PATIENCE = 75.0
CALL_SEC = 80.0
WHO = {
    "GIT_AUTHOR_NAME": "Agent",
    "GIT_AUTHOR_EMAIL": "agent@example.com",
    "GIT_COMMITTER_NAME": "Agent",
    "GIT_COMMITTER_EMAIL": "agent@example.com",
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_CONFIG_NOSYSTEM": "1",
}


class Refused(Exception):
    """A call ended in a refusal."""

    def __init__(self, error: Mapping[str, Any], status: int | None = None) -> None:
        self.code: str = error["code"]
        self.message: str = error["message"]
        self.next: str = error["next"]
        self.status = status
        super().__init__(f"{self.code}: {self.message} {self.next}")


@dataclass(frozen=True)
class Ran:
    """A finished command."""

    code: int
    out: str
    err: str


async def run(*argv: str, at: Path, **environment: str) -> Ran:
    """Run a command to its end."""
    process = await asyncio.create_subprocess_exec(
        *argv,
        cwd=at,
        env={**os.environ, **WHO, **environment},
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    async with asyncio.timeout(PATIENCE):
        out, err = await process.communicate()
    assert process.returncode is not None
    return Ran(process.returncode, out.decode(errors="replace"), err.decode(errors="replace"))


async def git(at: Path, *argv: str, **environment: str) -> str:
    """Run git; it must succeed. Its output without the last line end."""
    ran = await run("git", *argv, at=at, **environment)
    assert ran.code == 0, (argv, ran)
    return ran.out.rstrip("\n")


def write(at: Path, files: Mapping[str, str | bytes]) -> None:
    """Write files below a folder."""
    for name, content in files.items():
        (at / name).parent.mkdir(parents=True, exist_ok=True)
        (at / name).write_bytes(content if isinstance(content, bytes) else content.encode())


@dataclass
class Work:
    """A checkout in which one agent works on one intent."""

    at: Path
    intent: Answer
    environment: dict[str, str]

    async def commit(self, files: Mapping[str, str | bytes], message: str = "Work") -> str:
        """Write files and commit them; the commit."""
        write(self.at, files)
        await git(self.at, "add", "-A")
        await git(self.at, "commit", "-q", "--allow-empty", "-m", message)
        return await git(self.at, "rev-parse", "HEAD")

    async def push(self, command: str | None = None) -> Ran:
        """Run the printed push line in a shell, exactly as it stands."""
        line = command or self.intent["push"]["command"]
        return await run("sh", "-c", line, at=self.at, **self.environment)

    async def pushed(self, files: Mapping[str, str | bytes], message: str = "Work") -> str:
        """Commit and push; the push must be taken. The commit."""
        commit = await self.commit(files, message)
        ran = await self.push()
        assert ran.code == 0, ran.err
        return commit

    async def merge_line(self, line: str = "main") -> Ran:
        """Fetch the line from gitring with the git token, and merge it into the work."""
        prefix = self.intent["push"]["command"].split(" push ")[0]
        fetch = f"{prefix} fetch -q {self.intent['push']['url']} {line}"
        ran = await run("sh", "-c", fetch, at=self.at, **self.environment)
        assert ran.code == 0, ran.err
        return await run("git", "merge", "-q", "--no-edit", "FETCH_HEAD", at=self.at)


@dataclass
class Agent:
    """One agent of one project, over REST; inside `over_mcp` it calls the tools over MCP."""

    name: str
    project: Answer
    token: str
    http: httpx2.AsyncClient
    folder: Path
    source: Path
    mcp: Client | None = None
    heard: list[Answer] = field(default_factory=list)

    @asynccontextmanager
    async def over_mcp(self) -> AsyncIterator[Client]:
        """Use the real MCP client over Streamable HTTP for the length of the block."""
        url = str(self.http.base_url.join("/mcp"))
        async with Client(streamable_http_client(url, http_client=self.http)) as mcp:
            self.mcp = mcp
            try:
                yield mcp
            finally:
                self.mcp = None

    async def call(self, tool: str, **arguments: Any) -> Answer:
        """The structured answer of a tool. Raises Refused."""
        if self.mcp is None:
            return await self._rest(tool, arguments)
        result = await self.mcp.call_tool(tool, arguments)
        if not result.is_error:
            assert isinstance(result.structured_content, dict)
            return result.structured_content
        assert isinstance(result.content[-1], types.TextContent)
        raise Refused(json.loads(result.content[-1].text)["error"])

    async def text(self, tool: str, **arguments: Any) -> str:
        """The first text block of a tool's answer, over MCP."""
        assert self.mcp
        result = await self.mcp.call_tool(tool, arguments)
        assert isinstance(result.content[0], types.TextContent)
        return result.content[0].text

    async def _rest(self, tool: str, arguments: dict[str, Any]) -> Answer:
        method, _, path = BY_NAME[tool].rest.partition(" ")

        def value(found: re.Match[str]) -> str:
            head, *tail = found[1].split("_")
            name = head + "".join(word.title() for word in tail)
            return str(arguments.pop(name, self.project["id"]))

        path = re.sub(r"{(\w+)}", value, path)
        kind = {"params": arguments} if method == "GET" else {"json": arguments}
        return answered(await self.http.request(method, path, **kind))  # type: ignore[arg-type]

    async def declare(
        self, title: str, change: Sequence[str], use: Sequence[str] = (), **more: Any
    ) -> Answer:
        """Declare an intent that changes and uses these places (`path` or `path#symbol`)."""
        return await self.call("gitring_declare", **declaration(title, change, use), **more)

    async def checkout(self, intent: Answer) -> Work:
        """A clone of the project's source in which to work on an intent, with a git token."""
        at = self.folder / f"work-{intent['intent']['number']}-{new_id('x')}"
        await git(self.folder, "clone", "-q", str(self.source), str(at))
        found = await self.call(
            "gitring_clone", projectId=self.project["id"], intentId=intent["intent"]["id"]
        )
        return Work(at, intent, {"GITRING_GIT_TOKEN": found["token"]})

    async def status(self, intent: Answer) -> Answer:
        """The intent now."""
        return await self.call("gitring_status", intentId=intent["intent"]["id"])

    async def submit(self, intent: Answer, **more: Any) -> Answer:
        """Ask to merge."""
        return await self.call("gitring_submit", intentId=intent["intent"]["id"], **more)

    async def withdraw(self, intent: Answer, **more: Any) -> Answer:
        """Give the intent up."""
        return await self.call(
            "gitring_withdraw", intentId=intent["intent"]["id"], reason="No longer wanted.", **more
        )

    async def wait(self, intent: Answer, after: int, seconds: int = 30) -> Answer:
        """One `gitring_wait`."""
        return await self.call(
            "gitring_wait", intentId=intent["intent"]["id"], afterSeq=after, seconds=seconds
        )

    async def wait_until(self, intent: Answer, *states: str, after: int | None = None) -> Answer:
        """Wait until the intent is in one of these states; the answer that says so.

        Waits from the given answer's `afterSeq` on; `heard` collects every event on the way.
        """
        found, seq = intent, intent["afterSeq"] if after is None else after
        async with asyncio.timeout(PATIENCE):
            while True:
                found = await self.wait(intent, seq)
                self.heard += found["events"]
                seq = found["afterSeq"]
                if found["intent"]["state"] in states:
                    return found
                assert found["intent"]["state"] not in ("merged", "withdrawn"), found


@dataclass
class Owner:
    """A person, signed in with the owner's token, over REST."""

    url: str
    http: httpx2.AsyncClient
    folder: Path
    open: AsyncExitStack

    async def project(
        self,
        files: Mapping[str, str | bytes],
        test: str | None = None,
        timeout_sec: int = 60,
        **settings: Any,
    ) -> Answer:
        """A project of its own from a new repository with these files; `source` is the repository."""
        slug = new_id("p").lower().replace("_", "-")
        source = self.folder / slug
        await make_repository(source, files)
        body: Answer = {"slug": slug, "source": str(source)}
        if test is not None:
            body["checks"] = {"test": test, "timeoutSec": timeout_sec}
        made = answered(await self.http.post("/api/v1/projects", json=body))
        if settings:
            made = answered(await self.http.patch(f"/api/v1/projects/{made['id']}", json=settings))
        return {**made, "source": str(source)}

    async def agent(self, project: Answer, name: str = "claude") -> Agent:
        """A new agent with a token for one project."""
        made = answered(
            await self.http.post("/api/v1/tokens", json={"name": name, "projects": [project["id"]]})
        )
        return await self.agent_with(project, made["token"], name)

    async def agent_with(
        self, project: Answer, token: str, name: str = "claude", url: str | None = None
    ) -> Agent:
        """An agent that uses this token, at another gateway where one is named."""
        http = await self.open.enter_async_context(client(url or self.url, token))
        return Agent(name, project, token, http, self.folder, Path(project["source"]))

    async def decide(self, intent: Answer, decision: str, subject: str, **more: Any) -> Answer:
        """Approve or send back a plan or a merge."""
        body = {"decision": decision, "subject": subject, **more}
        return answered(
            await self.http.post(f"/api/v1/intents/{intent['intent']['id']}/decisions", json=body)
        )

    async def events(self, project: Answer, after: int = 0) -> list[Answer]:
        """The project's ledger."""
        found = answered(
            await self.http.get(
                f"/api/v1/projects/{project['id']}/events", params={"afterSeq": after, "limit": 1000}
            )
        )
        events: list[Answer] = found["events"]
        return events

    async def audit(self, project: Answer) -> Answer:
        """The verdict on the project's ledger, which must be valid and whole."""
        verdict = answered(await self.http.get(f"/api/v1/projects/{project['id']}/audit"))
        assert verdict["valid"], verdict
        events = await self.events(project)
        assert [event["seq"] for event in events] == [*range(1, len(events) + 1)]
        assert (verdict["eventsVerified"], verdict["lastSeq"]) == (len(events), len(events))
        return verdict


async def make_repository(at: Path, files: Mapping[str, str | bytes]) -> None:
    """A repository with one commit of these files on main."""
    await git(at.parent, "init", "-q", "-b", "main", at.name)
    write(at, files)
    await git(at, "add", "-A")
    await git(at, "commit", "-q", "--allow-empty", "-m", "First")


def declaration(title: str, change: Sequence[str], use: Sequence[str] = ()) -> Answer:
    """The arguments of a declare."""
    scope = {"change": [place(text) for text in change], "use": [place(text) for text in use]}
    return {
        "title": title,
        "goal": f"Goal of {title}.",
        "plan": {"summary": "As said.", "steps": ["Do it."], "scope": scope},
    }


def place(text: str) -> dict[str, str]:
    """A scope item of `path` or `path#symbol`."""
    path, _, symbol = text.partition("#")
    return {"path": path, "symbol": symbol} if symbol else {"path": path}


def answered(response: httpx2.Response) -> Answer:
    """The answer of a REST call. Raises Refused; a held answer tells a failure under status 200."""
    body: Answer = response.json()
    if "error" in body:
        raise Refused(body["error"], response.status_code)
    assert response.status_code < 300, response.text
    return body


@asynccontextmanager
async def client(url: str, token: str | None = None) -> AsyncIterator[httpx2.AsyncClient]:
    """An HTTP client with a bearer token."""
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    async with httpx2.AsyncClient(base_url=url, headers=headers, timeout=CALL_SEC, trust_env=False) as http:
        yield http


@asynccontextmanager
async def owner_of(connection: Mapping[str, Any], folder: Path) -> AsyncIterator[Owner]:
    """The owner of a running stack; agents made through it are closed with it."""
    async with AsyncExitStack() as open:
        http = await open.enter_async_context(client(connection["url"], connection["owner_token"]))
        yield Owner(connection["url"], http, folder, open)
