"""JSON Schema of a model in the form in which tools show it to clients."""

from typing import Any, cast

from pydantic import BaseModel


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
