"""What stands around an answer: the JSON API's envelope, and what MCP says when there is no record to ask."""

from typing import Any, Literal

from protocol.foremerge.errors import ErrorCode
from protocol.foremerge.wire import ForemergeAnswer
from protocol.refusals import Refusal


class ErrorBody(ForemergeAnswer):
    """Code and text of a failure; the text ends with the next step."""

    code: ErrorCode
    message: str


class Success(ForemergeAnswer):
    """`{"ok": true, "data": …}`, always with status 200."""

    ok: Literal[True] = True
    data: Any


class Failure(ForemergeAnswer):
    """`{"ok": false, "error": {"code", "message"}}`."""

    ok: Literal[False] = False
    error: ErrorBody

    @classmethod
    def of(cls, refusal: Refusal) -> "Failure":
        """The envelope of a refusal that is in this protocol's words."""
        return cls(
            error=ErrorBody(code=ErrorCode(refusal.code), message=f"{refusal.message} {refusal.next}".strip())
        )


class ToolFailure(ForemergeAnswer):
    """`structuredContent` of a tool call that was refused: `{"error": "CODE: text"}`."""

    error: str


class Unavailable(ForemergeAnswer):
    """`structuredContent` of every tool call while the record cannot be reached.

    `guidance` is for the agent, `remedy` for whoever runs the server; `database` is what was tried, if anything.
    """

    error: str
    code: ErrorCode
    message: str
    database: str | None
    guidance: str
    remedy: str
