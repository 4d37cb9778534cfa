"""Both doors of the Foremerge face over the real engine, called over HTTP as agents and operators call them."""

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from typing import Any, cast

import httpx2
from mcp import Client
from mcp.client.streamable_http import streamable_http_client

from gateway.foremerge.operations import ForemergeOperations
from protocol.projects import CreateToken, TokenKind
from storage.sql import tokens
from storage.sql.pool import transaction
from tests.gateway.edge import served
from tests.support.engine import Engine, ProjectUnderTest

REVISIONS = ["2026-07-28", "legacy"]


class Doors:
    """One project behind both doors: an agent's token for MCP, an agent's and a person's for the JSON API."""

    def __init__(self, url: str, project: ProjectUnderTest, agent: str, person: str) -> None:
        self.url = url
        self.project = project
        self.agent = agent
        self.person = person

    @asynccontextmanager
    async def mcp(self, revision: str, project: str | None = None) -> AsyncIterator["Tools"]:
        """The tools, by the real client."""
        headers = {"Authorization": f"Bearer {self.agent}"} | (
            {"Gitring-Project": project} if project is not None else {}
        )
        async with httpx2.AsyncClient(headers=headers, timeout=60) as http:
            transport = streamable_http_client(f"{self.url}/mcp/foremerge", http_client=http)
            async with Client(transport, mode=revision) as client:
                yield Tools(client)

    @asynccontextmanager
    async def api(self, token: str | None = None) -> AsyncIterator["Api"]:
        """The JSON API, as a person unless another token is given."""
        headers = {"Authorization": f"Bearer {token or self.person}", "Gitring-Project": self.project.slug}
        async with httpx2.AsyncClient(base_url=self.url, headers=headers, timeout=60) as http:
            yield Api(http)


class Tools:
    """Calls of tools; an answer is what the text block holds, a refusal its error."""

    def __init__(self, client: Client) -> None:
        self.client = client

    async def __call__(self, name: str, /, **arguments: Any) -> Any:
        """The answer of a call that must succeed."""
        result = await self.client.call_tool(name, arguments)
        assert not result.is_error, result.content
        return _text(result)

    async def refused(self, name: str, /, **arguments: Any) -> str:
        """The error of a call that must not."""
        result = await self.client.call_tool(name, arguments)
        assert result.is_error, result.content
        assert result.structured_content == _text(result)
        return str(_text(result)["error"])


def _text(result: Any) -> Any:
    (block,) = result.content
    return json.loads(block.text)


class Api:
    """Calls of routes."""

    def __init__(self, http: httpx2.AsyncClient) -> None:
        self.http = http

    async def get(self, path: str, /, **query: Any) -> Any:
        """The data of a read that must succeed."""
        return _data(await self.http.get(path, params=query))

    async def post(self, path: str, /, **body: Any) -> Any:
        """The data of a write that must succeed."""
        return _data(await self.http.post(path, json=body))

    async def refused(self, path: str, /, **body: Any) -> str:
        """`status CODE: message` of a write that must not."""
        response = await self.http.post(path, json=body)
        answer = response.json()
        assert answer["ok"] is False, answer
        return f"{response.status_code} {answer['error']['code']}: {answer['error']['message']}"


def _data(response: httpx2.Response) -> Any:
    answer = response.json()
    assert response.status_code == 200, answer
    assert set(answer) == {"ok", "data"}
    assert answer["ok"] is True
    return answer["data"]


@asynccontextmanager
async def opened(engine: Engine) -> AsyncIterator["House"]:
    """The engine's operations behind a real server."""
    operations = cast(Any, engine.operations)
    face = ForemergeOperations(
        engine.found.pool, engine.found.temporal, operations, public_url="http://gitring.test"
    )
    async with served(operations, foremerge=face) as edge:
        yield House(engine, edge.url, await _person_token(engine))


async def _person_token(engine: Engine) -> str:
    async with transaction(engine.found.pool) as connection:
        _, secret = await tokens.create(
            connection,
            kind=TokenKind.PERSON,
            name="owner's second",
            person_id=engine.owner.person_id,
            project_ids=[],
            now=datetime.now(UTC),
        )
    return secret


class House:
    """A server with many projects."""

    def __init__(self, engine: Engine, url: str, person: str) -> None:
        self.engine = engine
        self.url = url
        self.person = person

    async def doors(self, *more_projects: str) -> Doors:
        """A new project; the agent's token may name others besides it."""
        project = await self.engine.project()
        given = CreateToken(name="codex", projects=[project.slug, *more_projects])
        made = await self.engine.operations.create_token(self.engine.owner, given)
        return Doors(self.url, project, made.token, self.person)
