"""The stream of a page: rings at each event of what the person sees, tells nothing else, ends with the session."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

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
            ringing = asyncio.create_task(_until_heard(other, one))
            await until(lines, "event: news")
            ringing.cancel()
        async with stream(visitor, "/live") as lines:
            ringing = asyncio.create_task(_until_heard(other, two))
            await until(lines, "event: news")
            ringing.cancel()


async def _until_heard(*projects: object) -> None:
    """The stream begins with what happens after it: declare until it is there to hear."""
    while True:
        for project in projects:
            await project.declare("app/f1.py")  # type: ignore[attr-defined]


async def test_a_stream_ends_when_its_session_did(pages: Pages) -> None:
    project = await pages.engine.project()
    person = await pages.person("Jonas Weber", project)
    async with Visitor(pages.url) as visitor:
        await visitor.sign_in(await pages.link(person.person_id))
        async with stream(visitor, f"/p/{project.slug}/live?after=0") as lines:
            await until(lines, "event: news")
            await visitor.post("/sign-out")
            await project.declare("app/f1.py")
            rest = [line async for line in lines]
    assert not any(line.startswith("event: error") for line in rest)
