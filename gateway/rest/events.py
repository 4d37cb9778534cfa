"""The project's ledger as pages and as a stream of server-sent events."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Annotated

from fastapi import APIRouter, Header, Query
from starlette.responses import Response
from starlette.types import Send

from gateway.held import EVENTS, HeldAnswer, part, start
from gateway.rest.context import FAILURES, CallerDep, Rest, RestDep, json_response
from gateway.rest.projects import ProjectPath
from gateway.rest.shapes import EventPage
from protocol.events import Event

AfterSeq = Annotated[int, Query(alias="afterSeq", ge=0, description="Only events after this one.")]
_RETRY_MS = 1000


def add_events(router: APIRouter) -> None:
    """The ledger, page by page or live."""

    @router.get(
        "/projects/{project_id}/events", response_model=EventPage, responses=FAILURES, tags=["events"]
    )
    async def events(
        rest: RestDep,
        caller: CallerDep,
        project_id: ProjectPath,
        after_seq: AfterSeq = 0,
        limit: Annotated[int, Query(ge=1, le=1000)] = 100,
    ) -> Response:
        """Events after `afterSeq`, oldest first."""
        found = await rest.surface.events(caller, project_id, after_seq, limit)
        last = found[-1].seq if found else after_seq
        return json_response(EventPage(events=found, after_seq=last))

    @router.get(
        "/projects/{project_id}/events/stream",
        response_class=Response,
        responses={**FAILURES, 200: {"content": {"text/event-stream": {"schema": {"type": "string"}}}}},
        tags=["events"],
    )
    async def stream(
        rest: RestDep,
        caller: CallerDep,
        project_id: ProjectPath,
        after_seq: AfterSeq = 0,
        last_event_id: Annotated[int | None, Header(ge=0, description="Wins over `afterSeq`.")] = None,
    ) -> Response:
        """Events as they happen: `id` is the seq, `event` the type, `data` the event as JSON."""
        after = after_seq if last_event_id is None else last_event_id
        return _live(rest, rest.surface.live_events(caller, project_id, after))


def _live(rest: Rest, events: AsyncIterator[Event]) -> HeldAnswer:
    async def work(send: Send) -> None:
        try:
            async with rest.stop.open_until(None), _closed_after(events):
                async for event in events:
                    await send(start(EVENTS))
                    await send(part(_frame(event)))
        except TimeoutError:
            if not rest.stop.stopping:
                raise
        await send(start(EVENTS))
        await send(part(b"", more=False))

    return HeldAnswer(work, EVENTS, rest.limits)


@asynccontextmanager
async def _closed_after(events: AsyncIterator[Event]) -> AsyncIterator[None]:
    try:
        yield
    finally:
        close = getattr(events, "aclose", None)
        if close is not None:
            await close()


def _frame(event: Event) -> bytes:
    return (
        f"id: {event.seq}\nevent: {event.event_type}\nretry: {_RETRY_MS}\ndata: {event.model_dump_json()}\n\n"
    ).encode()
