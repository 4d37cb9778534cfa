"""Rust. Raw imports: the full path of each used name (`crate::money::Money`), `mod foo` for a module in its own file."""

import re

import tree_sitter_rust
from tree_sitter import Node

from rules.symbols.grammar import Grammar, Imports, Named, Shape, Where, body, field, text

_MOST = 200


def _valued(node: Node) -> list[Named]:
    return [Named(text(field(node, "name")), field(node, "value"))]


def _module(node: Node) -> list[Named]:
    inner = body(node)
    return [Named(text(field(node, "name")), inner)] if inner else []


def _implemented(node: Node) -> list[Named]:
    """The type that an `impl` block adds to."""
    kind = field(node, "type")
    for _ in range(4):
        inner = field(kind, "type")
        if kind is None or inner is None:
            break
        kind = inner
    name = text(kind).rpartition("::")[2]
    return [Named(name, body(node))] if name.isidentifier() else []


def _public(node: Node, _: str, where: Where) -> bool:
    if node.type == "impl_item" or where.kind in ("interface", "enum"):
        return True
    return any(child.type == "visibility_modifier" and text(child) == "pub" for child in node.children)


def _imported(node: Node) -> list[str]:
    if node.type == "mod_item":
        return [] if body(node) else [f"mod {text(field(node, 'name'))}"]
    argument = field(node, "argument")
    return _paths(argument, "")[:_MOST] if argument else []


def _paths(node: Node, prefix: str) -> list[str]:
    """`a::{b, c::d}` written out; nesting deeper than sense is cut off."""
    if prefix.count("::") > 20:
        return []
    if node.type == "use_as_clause":
        return _paths(inner, prefix) if (inner := field(node, "path")) else []
    if node.type == "scoped_use_list":
        path, inner = text(field(node, "path")), field(node, "list")
        return _paths(inner, f"{prefix}{path}::") if inner else []
    if node.type == "use_list":
        return [path for child in node.named_children[:_MOST] for path in _paths(child, prefix)]
    return [(prefix + text(node)).removesuffix("::*").removesuffix("::self")]


GRAMMAR = Grammar(
    load=tree_sitter_rust.language,
    shapes={
        "function_item": Shape("function"),
        "function_signature_item": Shape("function"),
        "struct_item": Shape("class", members=body),
        "union_item": Shape("class", members=body),
        "enum_item": Shape("enum", members=body),
        "enum_variant": Shape("constant", lambda node: [Named(text(field(node, "name")))]),
        "field_declaration": Shape("variable"),
        "trait_item": Shape("interface", members=body),
        "impl_item": Shape("impl", _implemented, members=body, opens=True),
        "mod_item": Shape("module", _module, members=body),
        "const_item": Shape("constant", _valued),
        "static_item": Shape("variable", _valued),
        "type_item": Shape("type"),
        "associated_type": Shape("type"),
        "macro_definition": Shape(
            "macro", lambda node: [Named(text(field(node, "name")), _first_rule(node))]
        ),
    },
    through=frozenset({"foreign_mod_item", "declaration_list"}),
    above=frozenset({"line_comment", "block_comment", "attribute_item"}),
    left_out=frozenset({"line_comment", "block_comment", "attribute_item"}),
    imports=Imports(
        word=re.compile(rb"\b(use|mod)\b"),
        types=frozenset({"use_declaration", "mod_item"}),
        read=_imported,
    ),
    public=_public,
)


def _first_rule(node: Node) -> Node | None:
    return next((child for child in node.named_children if child.type == "macro_rule"), None)
