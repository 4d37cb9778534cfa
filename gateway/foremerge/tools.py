"""The eighteen tools as MCP lists them, and their answers as MCP results."""

from typing import Any

import mcp_types as types
from pydantic import BaseModel

from gateway.foremerge.envelope import json_text, tool_failure
from protocol.foremerge.tools import FOREMERGE_TOOLS, ForemergeTool
from protocol.schemas import input_schema


def listed_tools() -> list[types.Tool]:
    """Every tool with its input schema and hints, in the order of the alphabet."""
    return [_listed(tool) for tool in FOREMERGE_TOOLS]


def _listed(tool: ForemergeTool) -> types.Tool:
    return types.Tool(
        name=tool.name,
        description=tool.description,
        input_schema=input_schema(tool.input),
        annotations=types.ToolAnnotations.model_validate(tool.hints),
    )


def result_of(answer: BaseModel | list[Any]) -> types.CallToolResult:
    """The answer as compact JSON text, and structured when it is an object: strict clients take no array there."""
    return types.CallToolResult(
        content=[types.TextContent(text=json_text(answer))],
        structured_content=answer.model_dump(mode="json", by_alias=True)
        if isinstance(answer, BaseModel)
        else None,
        is_error=False,
    )


def failed(problem: Exception) -> types.CallToolResult:
    """A refusal as a tool error, so that the model reads it."""
    said = tool_failure(problem)
    return types.CallToolResult(
        content=[types.TextContent(text=json_text(said))],
        structured_content=said.model_dump(),
        is_error=True,
    )
