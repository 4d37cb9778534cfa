"""What every REST route needs: the operations, the caller, and how an answer is written."""

from dataclasses import dataclass
from typing import Annotated, Any, cast

from fastapi import Depends, Request
from fastapi.security import HTTPAuthorizationCredentials, HTTPBearer
from pydantic import BaseModel
from starlette.responses import Response

from gateway.auth import Door, admit
from gateway.calls import Calls, Stop, json_of
from gateway.errors import ErrorBody
from gateway.limits import Limits
from gateway.surface import Surface
from protocol.projects import Caller


@dataclass(frozen=True)
class Rest:
    """The app's parts, kept as `app.state.rest`."""

    surface: Surface
    calls: Calls
    stop: Stop
    limits: Limits


def _rest(request: Request) -> Rest:
    return cast(Rest, request.app.state.rest)


RestDep = Annotated[Rest, Depends(_rest)]

_bearer = HTTPBearer(
    auto_error=False, description="A person's or an agent's token: `Authorization: Bearer gitring_agent_…`."
)


async def _caller(
    request: Request, rest: RestDep, _: Annotated[HTTPAuthorizationCredentials | None, Depends(_bearer)]
) -> Caller:
    return await admit(rest.surface, request.headers.get("authorization"), Door.REST)


CallerDep = Annotated[Caller, Depends(_caller)]


def json_response(answer: BaseModel, status: int = 200) -> Response:
    """`answer` in camelCase."""
    return Response(json_of(answer), status, media_type="application/json")


def _failure(meaning: str, code: str, message: str, next_step: str) -> dict[str, Any]:
    example = {"error": {"code": code, "message": message, "next": next_step}}
    return {
        "model": ErrorBody,
        "description": meaning,
        "content": {"application/json": {"example": example}},
    }


FAILURES: dict[int | str, dict[str, Any]] = {
    400: _failure(
        "The input cannot be used.",
        "invalid_input",
        "title is missing.",
        "Correct it and send the call again; GET /openapi.json describes every field.",
    ),
    401: _failure(
        "No token, or one that is not accepted.",
        "unauthenticated",
        "The token was not accepted: it is missing, revoked or expired.",
        "Ask the person you act for to make a new one with `gitring tokens create`.",
    ),
    403: _failure(
        "The token may not do this.",
        "people_only",
        "Only a person can decide.",
        "Ask Ana Ruiz to open intent #42 in gitring.",
    ),
    404: _failure(
        "There is no such thing, or the token may not know of it.",
        "not_found",
        "There is no intent that this token can see.",
        "Call gitring_board to see the live intents.",
    ),
    409: _failure(
        "The call does not fit what is recorded.",
        "wrong_state",
        "Intent #42 is queued, so its code is locked.",
        "Call gitring_wait.",
    ),
    413: _failure(
        "The body is too large.",
        "too_large",
        "The call's body is larger than 1048576 bytes.",
        "Send less in one call.",
    ),
    503: _failure(
        "A server did not answer in time; Retry-After says when to try again.",
        "busy",
        "The record did not answer in time, and nothing was changed.",
        "Send the same call again in 2 seconds.",
    ),
}
"""What any route may answer instead of a success."""
