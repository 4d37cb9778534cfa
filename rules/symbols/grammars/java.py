"""Java. Raw imports: `com.shop.Cart`, `com.shop.*`; a static import names the member too."""

import re

import tree_sitter_java
from tree_sitter import Node

from rules.symbols.grammar import Grammar, Imports, Named, Shape, Where, body, field, has, text


def _declared(node: Node) -> list[Named]:
    made = node.children_by_field_name("declarator")
    alone = len(made) == 1
    return [Named(text(field(one, "name")), field(one, "value") if alone else None) for one in made]


def _public(node: Node, _: str, where: Where) -> bool:
    if node.type == "enum_constant":
        return True
    modifiers = next((child for child in node.children if child.type == "modifiers"), None)
    if where.kind == "interface":
        return modifiers is None or not has(modifiers, "private")
    return modifiers is not None and (has(modifiers, "public") or has(modifiers, "protected"))


def _imported(node: Node) -> list[str]:
    name = next((text(child) for child in node.named_children if child.type.endswith("identifier")), "")
    return [f"{name}.*" if has(node, "asterisk") else name]


GRAMMAR = Grammar(
    load=tree_sitter_java.language,
    shapes={
        "class_declaration": Shape("class", members=body),
        "record_declaration": Shape("class", members=body),
        "interface_declaration": Shape("interface", members=body),
        "annotation_type_declaration": Shape("interface", members=body),
        "enum_declaration": Shape("enum", members=body),
        "enum_constant": Shape(
            "constant", lambda node: [Named(text(field(node, "name")), field(node, "arguments", "body"))]
        ),
        "method_declaration": Shape("function"),
        "annotation_type_element_declaration": Shape("function"),
        "constructor_declaration": Shape("function"),
        "compact_constructor_declaration": Shape("function"),
        "field_declaration": Shape("variable", _declared),
        "constant_declaration": Shape("constant", _declared),
    },
    through=frozenset({"enum_body_declarations"}),
    above=frozenset({"line_comment", "block_comment"}),
    left_out=frozenset({"line_comment", "block_comment", "marker_annotation", "annotation"}),
    imports=Imports(
        word=re.compile(rb"^[ \t]*(import)\b", re.MULTILINE),
        types=frozenset({"import_declaration"}),
        read=_imported,
    ),
    public=_public,
)
