"""One agent of the demo: the real MCP client for its tools, real git for its work."""

import asyncio
import os
from asyncio.subprocess import DEVNULL, PIPE
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx2
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from mcp_types import TextContent

from cli.clone import token_environment
from cli.demo_stack import StepFailed
from cli.demo_teller import Teller

_GIT_SEC = 60.0
_CALL_SEC = 90.0


class Agent:
    """An agent with a token of its own and a checkout of its own."""

    def __init__(self, name: str, url: str, client: Client, folder: Path, teller: Teller) -> None:
        self.name = name
        self.checkout = folder / "checkout"
        self._url = url
        self._client = client
        self._folder = folder
        self._teller = teller
        self._token = ""

    def says(self, text: str) -> None:
        """Tell what it does."""
        self._teller.says(self.name, text)

    async def call(self, tool: str, **arguments: Any) -> dict[str, Any]:
        """One tool call; its structured answer."""
        result = await self._client.call_tool(tool, arguments)
        text = result.content[0].text if result.content and isinstance(result.content[0], TextContent) else ""
        if result.is_error or result.structured_content is None:
            raise StepFailed(f"{tool} refused: {text}")
        answer: dict[str, Any] = result.structured_content
        return answer

    async def wait(self, answer: dict[str, Any], news: Callable[[dict[str, Any]], bool]) -> dict[str, Any]:
        """Wait by gitring_wait until `news` is true of an answer; each wait is woken by an event."""
        while not news(answer):
            answer = await self.call(
                "gitring_wait",
                intentId=answer["intent"]["id"],
                afterSeq=answer["afterSeq"],
                seconds=45,
            )
            if answer["intent"]["state"] == "withdrawn" or any(
                r["blocking"] for r in answer["changeRequests"]
            ):
                raise StepFailed(f"{answer['intent']['state']}: {answer['next']}")
        return answer

    async def clone(self, intent_id: str) -> None:
        """Get a git token and run the clone line that the answer prints."""
        answer = await self.call("gitring_clone", intentId=intent_id)
        self._token = answer["token"]
        await self.line(f"{answer['clone']} {self.checkout.name}", self._folder)
        for name, value in (("user.name", self.name), ("user.email", f"{self.name.lower()}@example.com")):
            await self.git("config", name, value)

    async def line(self, command: str, folder: Path | None = None) -> str:
        """Run a line that gitring printed, as it is, in a POSIX shell; what it said."""
        environment = _own_git() | {"GITRING_GIT_TOKEN": self._token}
        return await _run(("/bin/sh", "-c", command), folder or self.checkout, environment)

    async def git(self, *arguments: str) -> str:
        """Run git in the checkout, the token in its environment."""
        environment = token_environment(self._url, self._token, _own_git())
        return await _run(("git", *arguments), self.checkout, environment)

    async def commit(self, message: str) -> None:
        """Everything in the checkout as one commit."""
        await self.git("add", "--all")
        await self.git("commit", "--quiet", f"--message={message}")


def _make(folder: Path) -> None:
    folder.mkdir()


def _own_git() -> dict[str, str]:
    """The environment without the user's own git settings: signing, hooks and rewrites are not the demo's."""
    return os.environ | {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}


async def _run(command: tuple[str, ...], folder: Path, environment: dict[str, str]) -> str:
    process = await asyncio.create_subprocess_exec(
        *command, cwd=folder, env=environment, stdin=DEVNULL, stdout=PIPE, stderr=PIPE
    )
    try:
        async with asyncio.timeout(_GIT_SEC):
            out, err = await process.communicate()
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
    if process.returncode:
        raise StepFailed(
            f"{command[0]} ended with {process.returncode}: {err.decode(errors='replace').strip()}"
        )
    return out.decode(errors="replace") + err.decode(errors="replace")


@asynccontextmanager
async def agent(
    name: str, connection: dict[str, Any], token: str, folder: Path, teller: Teller
) -> AsyncIterator[Agent]:
    """An agent connected to the server's tools."""
    _make(folder)
    async with (
        httpx2.AsyncClient(
            headers={"Authorization": f"Bearer {token}"}, timeout=_CALL_SEC, trust_env=False
        ) as http,
        Client(streamable_http_client(connection["mcp"], http_client=http)) as client,
    ):
        yield Agent(name, connection["url"], client, folder, teller)
