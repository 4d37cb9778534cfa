"""Go. A raw import is the package's path. Methods stand under their receiver's type."""

import re

import tree_sitter_go
from tree_sitter import Node

from rules.symbols.grammar import Grammar, Imports, Named, Shape, Where, field, text


def _names(node: Node) -> list[Named]:
    until = field(node, "value")
    # The grammar files the commas between names under `name` too.
    return [Named(text(name), until) for name in node.children_by_field_name("name") if name.is_named]


def _type(node: Node) -> list[Named]:
    inner = _members(node)
    until = next((child for child in inner.children if child.type == "{"), None) if inner else None
    return [Named(text(field(node, "name")), until)]


def _members(node: Node) -> Node | None:
    kind = field(node, "type")
    if kind is None or kind.type not in ("struct_type", "interface_type"):
        return None
    fields = (child for child in kind.named_children if child.type == "field_declaration_list")
    return kind if kind.type == "interface_type" else next(fields, None)


def _method(node: Node) -> list[Named]:
    receiver = _base_type(field(node, "receiver"))
    name = text(field(node, "name"))
    return [Named(f"{receiver}.{name}" if receiver else name, field(node, "body"))]


def _base_type(node: Node | None) -> str:
    """`Cart` of `(c *Cart[T])`."""
    for _ in range(6):
        if node is None or node.type == "type_identifier":
            break
        found = field(node, "type")
        node = found if found is not None else next(iter(node.named_children), None)
    return text(node)


def _public(_: Node, name: str, __: Where) -> bool:
    return all(part[:1].isupper() for part in name.split("."))


GRAMMAR = Grammar(
    load=tree_sitter_go.language,
    shapes={
        "function_declaration": Shape("function", keyword=""),
        "method_declaration": Shape("method", _method),
        "type_spec": Shape("type", _type, members=_members, keyword="type "),
        "type_alias": Shape("type", keyword="type "),
        "const_spec": Shape("constant", _names, keyword="const "),
        "var_spec": Shape("variable", _names, keyword="var "),
        "field_declaration": Shape("variable", lambda node: [Named(name.name) for name in _names(node)]),
        "method_elem": Shape("function"),
        "method_spec": Shape("function"),
    },
    through=frozenset({"type_declaration", "const_declaration", "var_declaration", "var_spec_list"}),
    wraps=frozenset({"type_declaration", "const_declaration", "var_declaration", "var_spec_list"}),
    imports=Imports(
        word=re.compile(rb"^[^\n\"`]*[\"`]()[^\"`\n]+[\"`]", re.MULTILINE),
        types=frozenset({"import_spec"}),
        read=lambda node: [text(field(node, "path"))[1:-1]],
    ),
    public=_public,
)
