"""Answers and refusals as MCP results."""

import mcp_types as types
from pydantic import BaseModel

from gateway.calls import json_of
from gateway.errors import error_body, plain
from gateway.text import render, render_again
from protocol.answers import IntentDetail
from protocol.refusals import Refusal


def result_of(answer: BaseModel, tool_name: str) -> types.CallToolResult:
    """Text to read, the same as JSON text, and the structured content."""
    return _result(answer, render(answer, tool_name))


def result_again(answer: IntentDetail) -> types.CallToolResult:
    """The same for an agent that has read this answer several times: one line in place of many."""
    return _result(answer, render_again(answer))


def _result(answer: BaseModel, text: str) -> types.CallToolResult:
    return types.CallToolResult(
        content=[
            types.TextContent(text=text),
            types.TextContent(text=json_of(answer).decode()),
        ],
        structured_content=answer.model_dump(mode="json", by_alias=True),
    )


def refusal_result(refusal: Refusal) -> types.CallToolResult:
    """`code: message next` to read, and the same as JSON text; a tool error, so that the model sees it."""
    return types.CallToolResult(
        content=[
            types.TextContent(text=plain(refusal).text),
            types.TextContent(text=error_body(refusal).model_dump_json()),
        ],
        is_error=True,
    )
