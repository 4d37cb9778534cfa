"""How a call that failed is answered: one shape for every failure, each with the next step.

{"error": {"code", "message", "next"}}
├── Refused                      its own code and status
├── storage RecordBusy           503 busy
├── bad input, not JSON          400 invalid_input, the field named
├── no such address or method    404 not_found · 405 method_not_allowed
└── anything else                500 internal_error, logged with a traceback under the id it quotes
"""

import logging
import math

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from pydantic import BaseModel
from starlette.exceptions import HTTPException
from starlette.responses import JSONResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from gateway.explain import explain
from gateway.text.untrusted import one_line
from protocol.ids import new_id
from protocol.refusals import Refusal, Refused, busy, refused
from storage.sql.pool import RecordBusy

log = logging.getLogger(__name__)
_LONGEST = 10_000


class ErrorPart(BaseModel):
    """What happened, in a code word and a sentence, and what to do next."""

    code: str
    message: str
    next: str


class ErrorBody(BaseModel):
    """The body of every answer that is not a success."""

    error: ErrorPart


def plain(refusal: Refusal) -> Refusal:
    """`refusal` in printable lines: its sentences may name people, places and refs in their own spelling."""
    said = {"message": one_line(refusal.message, _LONGEST), "next": one_line(refusal.next, _LONGEST)}
    return refusal.model_copy(update=said)


def error_body(refusal: Refusal) -> ErrorBody:
    """The wire form of `refusal`."""
    said = plain(refusal)
    return ErrorBody(error=ErrorPart(code=said.code, message=said.message, next=said.next))


def error_response(refusal: Refusal) -> Response:
    """`refusal` as an HTTP answer, with the headers its status asks for."""
    headers = {}
    if refusal.status == 401:
        headers["WWW-Authenticate"] = 'Bearer realm="gitring"'
    if refusal.status == 503:
        headers["Retry-After"] = str(math.ceil(refusal.retry_after_sec or 1))
    return JSONResponse(error_body(refusal).model_dump(), refusal.status, headers)


def refusal_of(problem: Exception) -> Refusal:
    """What to tell the caller about `problem`; what nobody foresaw is logged with its traceback."""
    if isinstance(problem, Refused):
        return problem.refusal
    if isinstance(problem, RecordBusy):
        return busy("The record").refusal
    error_id = new_id("err")
    log.error("call failed: %s", error_id, exc_info=problem)
    return Refusal(
        code="internal_error",
        message=f"gitring failed while it handled this call; the failure is logged as {error_id}.",
        next="Read the intent or the board to see whether a write was saved before you repeat it, "
        f"and give {error_id} to the operator.",
        status=500,
    )


def too_large(limit: int) -> Refused:
    """413: the body is over `limit` bytes."""
    return refused(
        "too_large",
        f"The call's body is larger than {limit} bytes.",
        "Send less in one call: shorten the plan, name folders instead of many files. Code travels by git push only.",
        413,
    )


def not_json() -> Refused:
    """400: the body is not a JSON object."""
    return refused(
        "invalid_input",
        "The body is not JSON.",
        "Send a JSON object in UTF-8 with Content-Type: application/json.",
        400,
    )


def _bad_input(error: RequestValidationError) -> Refused:
    errors = error.errors()
    if any(found["type"] == "json_invalid" for found in errors):
        return not_json()
    return refused(
        "invalid_input",
        explain(errors, skip=1),
        "Correct it and send the call again; GET /openapi.json describes every field.",
        400,
    )


def _http(error: HTTPException, request: Request) -> Response:
    known = {
        404: (
            "not_found",
            "There is nothing at this address.",
            "See GET /openapi.json for the addresses there are.",
        ),
        405: (
            "method_not_allowed",
            f"This address does not take {request.method}.",
            "GET /openapi.json lists the methods each address takes.",
        ),
    }
    fallback = ("invalid_input", str(error.detail), "Correct the request and send it again.")
    code, message, next_step = known.get(error.status_code, fallback)
    response = error_response(refused(code, message, next_step, error.status_code).refusal)
    response.headers.update(error.headers or {})
    return response


def install(app: FastAPI) -> None:
    """Answer every failure of `app`'s routes in the one shape."""

    async def on_refused(_: Request, error: Exception) -> Response:
        return error_response(refusal_of(error))

    async def on_bad_input(_: Request, error: Exception) -> Response:
        assert isinstance(error, RequestValidationError)
        return error_response(_bad_input(error).refusal)

    async def on_http(request: Request, error: Exception) -> Response:
        assert isinstance(error, HTTPException)
        return _http(error, request)

    app.add_exception_handler(Refused, on_refused)
    app.add_exception_handler(RecordBusy, on_refused)
    app.add_exception_handler(RequestValidationError, on_bad_input)
    app.add_exception_handler(HTTPException, on_http)


class ErrorBoundary:
    """Outermost ASGI layer: what nobody caught becomes a 500 in our shape instead of a closed connection."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        started = False

        async def watched(message: Message) -> None:
            nonlocal started
            started = started or message["type"] == "http.response.start"
            await send(message)

        try:
            await self._app(scope, receive, watched)
        except Exception as problem:
            if scope["type"] != "http" or started:
                raise
            await error_response(refusal_of(problem))(scope, receive, send)
