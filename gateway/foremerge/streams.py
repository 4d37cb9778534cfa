"""The ledger of this face pushed as it grows, for whoever does not want to ask again and again."""

from fastapi import FastAPI, Request
from starlette.responses import Response

from gateway.foremerge.described import failures
from gateway.foremerge.inputs import input_of
from gateway.foremerge.runs import ForemergeRuns
from gateway.foremerge.visits import visit_of
from gateway.limits import Limits
from gateway.streams import event_stream
from protocol.events import Event
from protocol.foremerge.ledger import EventEnvelope, StreamQuery

_PATH = "/v1/events/stream"


def add_stream(app: FastAPI, runs: ForemergeRuns, limits: Limits) -> None:
    """`GET /v1/events/stream`: server-sent events; `id` is the seq, `data` the event as /v1/events has it."""

    async def stream(request: Request) -> Response:
        visit = await visit_of(request, runs.surface)
        fields = dict(request.query_params)
        after = request.headers.get("last-event-id")
        if after is not None:
            fields["after_seq"] = after
        given = input_of(StreamQuery, fields, f"GET {_PATH}")
        return event_stream(runs.live_events(visit, given.after_seq), _shown, runs.stop, limits)

    app.add_api_route(
        _PATH,
        stream,
        methods=["GET"],
        response_class=Response,
        responses={**failures(), 200: {"content": {"text/event-stream": {"schema": {"type": "string"}}}}},
        summary="The ledger after a seq, pushed as it grows",
        operation_id="stream",
        openapi_extra={
            "security": [{"bearer": []}],
            "parameters": [
                {
                    "name": "after_seq",
                    "in": "query",
                    "schema": {"type": "integer", "minimum": 0, "default": 0},
                },
                {"name": "Last-Event-ID", "in": "header", "schema": {"type": "integer"}},
            ],
        },
        tags=["foremerge"],
    )


def _shown(event: Event) -> str:
    return EventEnvelope.of(event).model_dump_json()
