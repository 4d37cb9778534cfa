"""One stream of server-sent events per page: it says that something happened, never what. The page then asks again.

A stream lasts ten minutes at most. It ends by itself when its session does or its person leaves the project.
"""

import asyncio
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from typing import cast

from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Send

from gateway.held import EVENTS, HeldAnswer, part, start
from gateway.rest.context import Rest
from gateway.web.router import PageRoutes
from gateway.web.visit import Visit
from protocol.events import Event
from protocol.intents import ProjectsInput
from protocol.refusals import Refused
from storage.sql.events import last_seq

LONGEST_SEC = 600.0
MOST_PROJECTS = 50
_RETRY_MS = 2000


async def project_stream(visit: Visit) -> Response:
    """`/p/{slug}/live?after=N`: the events of one project after a seq."""
    seen = await visit.web.reads.seen(visit.caller, visit.slug)
    news = visit.web.surface.live_events(visit.caller, seen.project.id, _after(visit.request))
    return _held(visit, cast(AsyncGenerator[Event, None], news))


async def person_stream(visit: Visit) -> Response:
    """`/live`: what happens from now on in any project of the person."""
    listed = await visit.web.surface.projects(visit.caller, ProjectsInput())
    ids = [project.id for project in listed.projects[:MOST_PROJECTS]]
    return _held(visit, _merged(visit, ids))


def _after(request: Request) -> int:
    given = request.headers.get("last-event-id") or request.query_params.get("after", "0")
    return int(given) if given.isascii() and given.isdigit() and len(given) <= 15 else 0


def _held(visit: Visit, news: AsyncGenerator[Event, None]) -> HeldAnswer:
    rest: Rest = visit.request.app.state.rest

    async def work(send: Send) -> None:
        try:
            async with rest.stop.open_until(LONGEST_SEC), aclosing(news):
                await send(start(EVENTS))
                await send(part(f"retry: {_RETRY_MS}\n\n".encode()))
                async for event in news:
                    await send(part(f"id: {event.seq}\nevent: news\ndata: {event.seq}\n\n".encode()))
        except (TimeoutError, Refused):
            # Its time is over, or the person's session or membership is: the browser asks again, and is told.
            pass
        await send(start(EVENTS))
        await send(part(b"", more=False))

    return HeldAnswer(work, EVENTS, rest.limits)


async def _merged(visit: Visit, project_ids: Sequence[str]) -> AsyncGenerator[Event, None]:
    """The events of several projects as they come, without any order between projects."""
    events: asyncio.Queue[Event | Exception] = asyncio.Queue(100)

    async def listen(project_id: str) -> None:
        try:
            async with visit.web.reads.snapshot() as connection:
                newest = await last_seq(connection, project_id)
            async for event in visit.web.surface.live_events(visit.caller, project_id, newest):
                await events.put(event)
        except Exception as problem:
            await events.put(problem)

    tasks = [asyncio.create_task(listen(project_id)) for project_id in project_ids]
    try:
        while True:
            found = await events.get()
            if isinstance(found, Exception):
                raise found
            yield found
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


def add_live(routes: PageRoutes) -> None:
    """The streams."""
    routes.get("/live", person_stream)
    routes.get("/p/{slug}/live", project_stream)
