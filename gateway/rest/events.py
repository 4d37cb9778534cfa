"""The project's ledger as pages and as a stream of server-sent events."""

from typing import Annotated

from fastapi import APIRouter, Header, Query
from starlette.responses import Response

from gateway.rest.context import FAILURES, CallerDep, RestDep, json_response
from gateway.rest.projects import ProjectPath
from gateway.rest.shapes import EventPage
from gateway.streams import event_stream
from protocol.events import Event
from protocol.wire import MOST_SEQ

AfterSeq = Annotated[
    int, Query(alias="afterSeq", ge=0, le=MOST_SEQ, description="Only events after this one.")
]


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
        last_event_id: Annotated[
            int | None, Header(ge=0, le=MOST_SEQ, description="Wins over `afterSeq`.")
        ] = None,
    ) -> Response:
        """Events as they happen: `id` is the seq, `event` the type, `data` the event as JSON."""
        after = after_seq if last_event_id is None else last_event_id
        events = rest.surface.live_events(caller, project_id, after)
        return event_stream(events, Event.model_dump_json, rest.stop, rest.limits)
