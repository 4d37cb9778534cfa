"""C#. A raw import is the namespace or type that a `using` names."""

import re

import tree_sitter_c_sharp
from tree_sitter import Node

from rules.symbols.grammar import Grammar, Imports, Named, Shape, Where, body, field, has, text

_OPEN = ("public", "protected")


def _variables(node: Node) -> list[Named]:
    declaration = next((child for child in node.named_children if child.type == "variable_declaration"), node)
    made = [child for child in declaration.named_children if child.type == "variable_declarator"]
    alone = len(made) == 1
    return [Named(text(field(one, "name")), _value(one) if alone else None) for one in made]


def _value(declarator: Node) -> Node | None:
    return next((child for child in declarator.children if child.type == "="), None)


def _property(node: Node) -> list[Named]:
    return [Named(text(field(node, "name")), field(node, "accessors", "value"))]


def _public(node: Node, _: str, where: Where) -> bool:
    if where.kind == "interface":
        return not has(node, "modifier", "private")
    return where.kind == "enum" or has(node, "modifier", *_OPEN)


def _imported(node: Node) -> list[str]:
    names = [child for child in node.named_children if child.type in ("identifier", "qualified_name")]
    return [text(names[-1])] if names else []


GRAMMAR = Grammar(
    load=tree_sitter_c_sharp.language,
    shapes={
        "class_declaration": Shape("class", members=body),
        "struct_declaration": Shape("class", members=body),
        "record_declaration": Shape("class", members=body),
        "record_struct_declaration": Shape("class", members=body),
        "interface_declaration": Shape("interface", members=body),
        "enum_declaration": Shape("enum", members=body),
        "enum_member_declaration": Shape("constant"),
        "method_declaration": Shape("function"),
        "constructor_declaration": Shape("function"),
        "property_declaration": Shape("variable", _property),
        "field_declaration": Shape("variable", _variables),
        "event_field_declaration": Shape("variable", _variables),
        "delegate_declaration": Shape("type"),
    },
    through=frozenset({"namespace_declaration", "file_scoped_namespace_declaration", "declaration_list"}),
    left_out=frozenset({"comment", "attribute_list", "constructor_initializer"}),
    imports=Imports(
        word=re.compile(rb"^[ \t]*(?:global[ \t]+)?(using)\b", re.MULTILINE),
        types=frozenset({"using_directive"}),
        read=_imported,
    ),
    public=_public,
)
