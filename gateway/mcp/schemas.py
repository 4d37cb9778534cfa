"""The tools as MCP lists them, made from the one table of tools and its models."""

from typing import Any, cast

import mcp_types as types
from pydantic import BaseModel

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


def input_schema(model: type[BaseModel]) -> dict[str, Any]:
    """The model's JSON Schema in the plainest form: no references, a description on each property.

    Several clients hand the schema to a model as it is, and some of them do not follow `$ref`.
    """
    schema = model.model_json_schema(by_alias=True)
    plain = cast(dict[str, Any], _plain(schema, schema.get("$defs", {})))
    plain.pop("$defs", None)
    plain.pop("description", None)
    plain.setdefault("properties", {})
    return plain


def _plain(node: Any, definitions: dict[str, Any]) -> Any:
    if isinstance(node, list):
        return [_plain(item, definitions) for item in node]
    if not isinstance(node, dict):
        return node
    if "$ref" in node:
        target = definitions[node["$ref"].rpartition("/")[2]]
        node = {**target, **{key: value for key, value in node.items() if key != "$ref"}}
    plain = {key: _plain(value, definitions) for key, value in node.items() if key != "$defs"}
    if isinstance(plain.get("title"), str):
        del plain["title"]  # pydantic's echo of the name; a property named title is a dict here
    return _with_description(plain)


def _with_description(node: dict[str, Any]) -> dict[str, Any]:
    for option in node.get("anyOf", []):
        if "description" not in node and "description" in option:
            node = {**node, "description": option["description"]}
    return node
