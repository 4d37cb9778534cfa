"""The tools as MCP lists them, made from the one table of tools and its models."""

import mcp_types as types

from protocol.schemas import input_schema
from protocol.tools import TOOLS, Tool

# Final for the intent, or refused the second time: repeating the same call changes nothing more.
_REPEATABLE = frozenset({"gitring_withdraw", "gitring_ack"})
_DESTRUCTIVE = frozenset({"gitring_withdraw"})


def listed_tools() -> list[types.Tool]:
    """Every tool with its schemas and hints."""
    return [_listed(tool) for tool in TOOLS]


def _listed(tool: Tool) -> types.Tool:
    return types.Tool(
        name=tool.name,
        title=tool.title,
        description=tool.description,
        input_schema=input_schema(tool.input),
        output_schema=tool.answer.model_json_schema(by_alias=True, mode="serialization"),
        annotations=types.ToolAnnotations(
            title=tool.title,
            read_only_hint=not tool.writes,
            destructive_hint=tool.name in _DESTRUCTIVE,
            idempotent_hint=not tool.writes or tool.name in _REPEATABLE,
            open_world_hint=False,
        ),
    )
