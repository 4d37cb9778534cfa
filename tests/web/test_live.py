"""The stream of a page: rings at each event of what the person sees, tells nothing else, ends with the session."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import httpx2
import pytest

from protocol.projects import CreateToken
from tests.support.engine import ProjectUnderTest
from tests.web.served import Pages
from tests.web.visitor import Visitor


@asynccontextmanager
async def stream(visitor: Visitor, path: str) -> AsyncIterator[AsyncIterator[str]]:
    """The lines of a stream that has begun."""
    async with asyncio.timeout(30), visitor.http.stream("GET", path) as response:
        assert response.status_code == 200
        assert response.headers["content-type"].startswith("text/event-stream")
        lines = response.aiter_lines()
        assert await anext(lines) == "retry: 2000"
        yield lines


async def until(lines: AsyncIterator[str], wanted: str) -> list[str]:
    """The lines up to the first that begins so."""
    seen = []
    async for line in lines:
        seen.append(line)
        if line.startswith(wanted):
            return seen
    raise AssertionError(f"the stream ended after {seen}")


async def test_a_board_hears_of_an_event_of_its_project_and_no_word_of_it(
    pages: Pages, owner: Visitor
) -> None:
    project, other = await pages.engine.project(), await pages.engine.project()
    seq = (await pages.engine.operations.events(pages.engine.owner, project.slug, 0, 1000))[-1].seq
    async with stream(owner, f"/p/{project.slug}/live?after={seq}") as lines:
        await other.declare("app/f1.py", title="Elsewhere")
        await project.declare("app/f1.py", title="Here")
        heard = await until(lines, f"id: {seq + 1}")
        assert await anext(lines) == "event: news"
        assert await anext(lines) == f"data: {seq + 1}"
    assert "Here" not in "".join(heard) and "declared" not in "".join(heard)


async def test_an_inbox_hears_of_every_project_of_its_person(pages: Pages) -> None:
    one, two, other = [await pages.engine.project() for _ in range(3)]
    person = await pages.person("Jonas Weber", one)
    async with pages.engine.found.pool.acquire() as connection:
        await connection.execute("INSERT INTO member VALUES ($1, $2, 'viewer')", two.id, person.person_id)
    async with Visitor(pages.url) as visitor:
        await visitor.sign_in(await pages.link(person.person_id))
        async with stream(visitor, "/live") as lines:
            await _heard_while(lines, other, one)
        async with stream(visitor, "/live") as lines:
            await _heard_while(lines, other, two)


async def _heard_while(lines: AsyncIterator[str], *projects: ProjectUnderTest) -> None:
    """The stream begins with what happens after it: declare until it is heard."""
    heard = asyncio.Event()

    async def ring() -> None:
        while not heard.is_set():
            for project in projects:
                await project.declare("app/f1.py")

    async with asyncio.TaskGroup() as group:
        group.create_task(ring())
        await until(lines, "event: news")
        heard.set()


async def test_a_stream_ends_at_once_with_its_session_whoever_ends_it(pages: Pages) -> None:
    project = await pages.engine.project()
    person = await pages.person("Jonas Weber", project)
    async with Visitor(pages.url) as here, Visitor(pages.url) as there:
        await there.sign_in(await pages.link(person.person_id))
        async with stream(there, f"/p/{project.slug}/live?after=0") as one, stream(there, "/live") as two:
            await until(one, "event: news")
            await here.sign_in(await pages.link(person.person_id))
            _, older = await _sessions(pages, person.person_id)
            await here.post("/account/end", id=older)
            heard = [line async for line in one] + [line async for line in two]
        assert not any(line.startswith("event: error") for line in heard)
        async with stream(here, f"/p/{project.slug}/live?after=0") as mine:
            await until(mine, "event: news")


async def _sessions(pages: Pages, person_id: str) -> list[str]:
    async with pages.engine.found.pool.acquire() as connection:
        rows = await connection.fetch(
            "SELECT id FROM session WHERE person_id = $1 AND ended_at IS NULL ORDER BY created_at DESC",
            person_id,
        )
    return [row["id"] for row in rows]


async def test_whoever_is_removed_hears_no_more_of_the_project_from_that_moment(pages: Pages) -> None:
    project, other = await pages.engine.project(), await pages.engine.project()
    person = await pages.person("Jonas Weber", project)
    operations, owner = pages.engine.operations, pages.engine.owner
    async with pages.engine.found.pool.acquire() as connection:
        await connection.execute("INSERT INTO member VALUES ($1, $2, 'viewer')", other.id, person.person_id)
    seq = (await operations.events(owner, project.slug, 0, 1000))[-1].seq
    async with Visitor(pages.url) as visitor:
        await visitor.sign_in(await pages.link(person.person_id))
        paths = [f"/p/{project.slug}/live?after={seq}", "/live", f"/p/{other.slug}/live?after=0"]
        async with stream(visitor, paths[0]) as board, stream(visitor, paths[1]) as inbox:
            await operations.remove_member(owner, project.slug, person.person_id)
            assert [line async for line in board if line.startswith("data")] == []
            _ = [line async for line in inbox]
        assert (await visitor.get(paths[0])).status_code == 404
        async with stream(visitor, paths[2]) as kept:
            await until(kept, "event: news")


@pytest.mark.parametrize("whose", ["an agent's", "a person's"])
async def test_a_revoked_token_ends_its_event_streams_and_says_why(pages: Pages, whose: str) -> None:
    project = await pages.engine.project()
    operations = pages.engine.operations
    person = await pages.person("Jonas Weber", project)
    given = CreateToken(name="follower", projects=[project.slug])
    kept = (await operations.create_token(person, given)).token
    if whose == "an agent's":
        revoked = (await operations.create_token(person, given)).token
    else:
        revoked = await pages.token(person.person_id)
    token_id = (await operations.authenticate(revoked)).token_id
    path = f"/api/v1/projects/{project.id}/events/stream"
    async with asyncio.timeout(30), httpx2.AsyncClient(base_url=pages.url) as http:
        headers = [{"Authorization": f"Bearer {token}"} for token in (kept, revoked)]
        async with (
            http.stream("GET", path, headers=headers[0]) as stays,
            http.stream("GET", path, headers=headers[1]) as ends,
        ):
            going_on, lines = stays.aiter_lines(), ends.aiter_lines()
            await until(lines, "event: token.created")
            await operations.revoke_token(person, token_id)
            last = [line async for line in lines if line.startswith("data")][-1]
            await until(going_on, "event: token.revoked")
    assert json.loads(last.removeprefix("data: "))["error"]["code"] == "unauthenticated"
