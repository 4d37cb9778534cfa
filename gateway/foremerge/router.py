"""The JSON API under /v1: every route of the protocol's table and of the command's, the envelope, the codes.

Nothing of a request is looked at before its token: not the body, not the query. An app of its own, beside gitring's,
because here also what no route answers is answered in the envelope.
"""

import json
from collections.abc import Awaitable, Callable
from typing import Any

from fastapi import FastAPI, Request
from pydantic import BaseModel
from starlette.exceptions import HTTPException
from starlette.responses import Response
from starlette.types import ASGIApp, Receive, Scope, Send

from gateway.foremerge.described import answer_model, extra, failures, summary
from gateway.foremerge.envelope import failure, success
from gateway.foremerge.inputs import input_of
from gateway.foremerge.runs import ForemergeRuns
from gateway.foremerge.streams import add_stream
from gateway.foremerge.visits import visit_of
from gateway.limits import ClientGone, Limits, read_body
from protocol.foremerge.changesets import AcceptInput
from protocol.foremerge.errors import ErrorCode, foremerge_refusal
from protocol.foremerge.operators import OPERATOR_INPUTS, OPERATOR_ROUTES
from protocol.foremerge.queries import (
    AssessmentsQuery,
    AttemptsQuery,
    ConflictsQuery,
    DetectionsQuery,
    GraphQuery,
    InboxQuery,
)
from protocol.foremerge.routes import ROUTES, Route
from protocol.foremerge.tools import FOREMERGE_BY_NAME
from protocol.refusals import Refused
from rules.foremerge.refusing import bad_input
from rules.foremerge.scopes import parse_scope

_INPUTS: dict[str, type[BaseModel]] = {
    "inbox": InboxQuery,
    "assessments": AssessmentsQuery,
    "conflicts": ConflictsQuery,
    "detections": DetectionsQuery,
    "validation_attempts": AttemptsQuery,
    "graph": GraphQuery,
    "accept_changeset": AcceptInput,
    **OPERATOR_INPUTS,
}
# What the address calls by a longer name than the operation does.
_RENAMED = {("get_intent", "intent_id"): "id", ("get_changeset", "changeset_id"): "id"}
_NOT_JSON = "Send a JSON object in UTF-8 with Content-Type: application/json."

Call = Callable[[Request], Awaitable[Response]]


def build_api(runs: ForemergeRuns, limits: Limits, version: str) -> FastAPI:
    """The app that answers /v1 and what lies under it."""
    app = FastAPI(
        title="gitring: the Foremerge JSON API",
        version=version,
        description='Success is `{"ok": true, "data": …}`, failure `{"ok": false, "error": {"code", "message"}}`. '
        "The header `Gitring-Project` names the project when the token names several.",
        openapi_url="/v1/openapi.json",
        docs_url=None,
        redoc_url=None,
        redirect_slashes=False,
        exception_handlers={HTTPException: _unknown, Refused: _refused},
    )
    for route in (*ROUTES, *OPERATOR_ROUTES):
        if not route.public:
            _add(app, route, _endpoint(route, runs, limits))
    add_stream(app, runs, limits)
    return app


def _add(app: FastAPI, route: Route, call: Call) -> None:
    app.add_api_route(
        route.path,
        call,
        methods=[route.method],
        response_model=answer_model(route.operation),
        responses=failures(),
        summary=summary(route.operation),
        operation_id=route.operation,
        openapi_extra=extra(route),
        tags=["foremerge"],
    )


def _endpoint(route: Route, runs: ForemergeRuns, limits: Limits) -> Call:
    async def endpoint(request: Request) -> Response:
        try:
            return success(await answer(request))
        except ClientGone:
            raise
        except Exception as problem:
            return failure(problem)

    async def answer(request: Request) -> Any:
        visit = await visit_of(request, runs.surface)
        fields = _query(route, request) if route.method == "GET" else await _body(route, request, limits)
        given = _given(route, fields | _path(route, request))
        return await runs.run(route.operation, visit, given)

    return endpoint


def _given(route: Route, fields: dict[str, Any]) -> BaseModel:
    name = route.operation
    tool = FOREMERGE_BY_NAME.get(name)
    model = _INPUTS.get(name) or (tool.input if tool else route.input)
    assert model is not None, f"no input for {name}"
    return input_of(model, fields, f"{route.method} {route.path}")


def _path(route: Route, request: Request) -> dict[str, Any]:
    return {_RENAMED.get((route.operation, name), name): value for name, value in request.path_params.items()}


def _query(route: Route, request: Request) -> dict[str, Any]:
    fields: dict[str, Any] = dict(request.query_params)
    if route.operation == "query_work" and "scope" in fields:
        scope = parse_scope(fields["scope"])
        fields["scope"] = {"kind": scope.kind, "key": scope.key}
    return fields


async def _body(route: Route, request: Request, limits: Limits) -> dict[str, Any]:
    """The body's fields, of which none may stand in for a part of the address."""
    body = await read_body(request.scope, request.receive, limits.body_bytes)
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind != "application/json":
        raise bad_input("The body does not call itself JSON.", _NOT_JSON)
    try:
        fields = json.loads(body)
    except (ValueError, RecursionError):
        raise bad_input("The body is not JSON.", _NOT_JSON) from None
    if not isinstance(fields, dict):
        raise bad_input("The body is not a JSON object.", _NOT_JSON)
    if route.input is not None:
        input_of(route.input, fields, f"{route.method} {route.path}")
    return fields


async def _unknown(request: Request, problem: Exception) -> Response:
    assert isinstance(problem, HTTPException)
    code, said = {
        404: (ErrorCode.NOT_FOUND, "There is nothing at this address."),
        405: (ErrorCode.METHOD_NOT_ALLOWED, f"This address does not take {request.method}."),
    }.get(problem.status_code, (ErrorCode.INVALID_INPUT, str(problem.detail)))
    response = failure(foremerge_refusal(code, said, "GET /v1/openapi.json lists what there is."))
    response.headers.update(problem.headers or {})
    return response


async def _refused(_: Request, problem: Exception) -> Response:
    return failure(problem)


class Under:
    """ASGI layer: what lies at or under `prefix` is answered by `face`, all else by the app around it."""

    def __init__(self, app: ASGIApp, prefix: str, face: ASGIApp) -> None:
        self._app = app
        self._prefix = prefix
        self._face = face

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        path: str = scope.get("path", "")
        if scope["type"] != "http" or not (path == self._prefix or path.startswith(f"{self._prefix}/")):
            await self._app(scope, receive, send)
            return
        try:
            await self._face(scope, receive, send)
        except ClientGone:
            return
