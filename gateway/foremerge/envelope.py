"""How answers and failures look at the JSON API, and what a refused tool call says at MCP."""

import math
from typing import Any

from pydantic import BaseModel, TypeAdapter
from starlette.responses import Response

from gateway.errors import plain, refusal_of
from protocol.foremerge.envelope import Failure, Success, ToolFailure
from protocol.foremerge.errors import in_foremerge_words
from protocol.refusals import Refusal
from protocol.wire import visible_json

_JSON: TypeAdapter[Any] = TypeAdapter(Any)


def told(problem: Exception) -> Refusal:
    """What to tell the caller about `problem`, in this protocol's words; a defect is logged under an id."""
    return in_foremerge_words(refusal_of(problem))


def json_text(answer: BaseModel | list[Any]) -> str:
    """An answer, or a list of them, as compact JSON."""
    return visible_json(_JSON.dump_json(answer, by_alias=True).decode())


def success(answer: BaseModel | list[Any]) -> Response:
    """`{"ok": true, "data": …}`."""
    return _json(Success(data=answer), 200)


def failure(problem: Exception) -> Response:
    """`{"ok": false, "error": …}` with the status of its code."""
    refusal = plain(told(problem))
    headers = {}
    if refusal.status == 401:
        headers["WWW-Authenticate"] = 'Bearer realm="gitring"'
    if refusal.status == 503:
        headers["Retry-After"] = str(math.ceil(refusal.retry_after_sec or 1))
    return _json(Failure.of(refusal), refusal.status, headers)


def tool_failure(problem: Exception) -> ToolFailure:
    """`CODE: what happened and what to do next`."""
    refusal = plain(told(problem))
    return ToolFailure(error=f"{refusal.code}: {refusal.message} {refusal.next}".rstrip())


def _json(body: BaseModel, status: int, headers: dict[str, str] | None = None) -> Response:
    return Response(json_text(body), status, headers, media_type="application/json")
