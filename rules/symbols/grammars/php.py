"""PHP. Raw imports: `App\\Models\\Cart` for `use`, `./x.php` for a literal `require`."""

import re

import tree_sitter_php
from tree_sitter import Node

from rules.symbols.grammar import Grammar, Imports, Named, Shape, Where, body, field, has, text

_LOADS = frozenset(
    {"require_expression", "require_once_expression", "include_expression", "include_once_expression"}
)


def _constants(node: Node) -> list[Named]:
    made = [child for child in node.named_children if child.type == "const_element" and child.named_children]
    alone = len(made) == 1
    return [Named(text(one.named_children[0]), one.named_children[-1] if alone else None) for one in made]


def _properties(node: Node) -> list[Named]:
    made = [child for child in node.named_children if child.type == "property_element"]
    alone = len(made) == 1
    return [
        Named(text(field(one, "name")).lstrip("$"), field(one, "default_value") if alone else None)
        for one in made
    ]


def _public(node: Node, _: str, __: Where) -> bool:
    return not has(node, "visibility_modifier", "private", "protected")


def _imported(node: Node) -> list[str]:
    if node.type != "namespace_use_declaration":
        return _loaded(node)
    prefix = next((text(child) for child in node.named_children if child.type == "namespace_name"), "")
    group = field(node, "body")
    clauses = (group or node).named_children
    names = [text(child.named_children[0]) for child in clauses if child.type == "namespace_use_clause"]
    return [f"{prefix}\\{name}".strip("\\") for name in names]


def _loaded(node: Node) -> list[str]:
    inner = next(iter(node.named_children), None)
    while inner is not None and inner.type == "parenthesized_expression":
        inner = next(iter(inner.named_children), None)
    if inner is not None and inner.type == "binary_expression":
        if text(field(inner, "left")) not in ("__DIR__", "dirname(__FILE__)"):
            return []
        inner = field(inner, "right")
    if inner is None or inner.type not in ("string", "encapsed_string") or has(inner, "variable_name"):
        return []
    return ["./" + text(inner)[1:-1].lstrip("/").removeprefix("./")]


GRAMMAR = Grammar(
    load=tree_sitter_php.language_php,
    shapes={
        "class_declaration": Shape("class", members=body),
        "interface_declaration": Shape("interface", members=body),
        "trait_declaration": Shape("class", members=body),
        "enum_declaration": Shape("enum", members=body),
        "enum_case": Shape("constant", lambda node: [Named(text(field(node, "name")), field(node, "value"))]),
        "function_definition": Shape("function"),
        "method_declaration": Shape("function"),
        "const_declaration": Shape("constant", _constants),
        "property_declaration": Shape("variable", _properties),
    },
    through=frozenset({"namespace_definition", "compound_statement", "if_statement"}),
    above=frozenset({"comment"}),
    left_out=frozenset({"comment", "attribute_list"}),
    imports=Imports(
        word=re.compile(rb"\b(use|require|require_once|include|include_once)\b"),
        types=frozenset({"namespace_use_declaration"}) | _LOADS,
        read=_imported,
    ),
    public=_public,
)
