"""C and C++. A raw import is the include as written, with its quotes or angle brackets."""

import re

import tree_sitter_c
import tree_sitter_cpp
from tree_sitter import Node

from rules.symbols.grammar import Grammar, Imports, Named, Shape, Where, body, field, has, text

_SPECIFIERS = frozenset({"struct_specifier", "class_specifier", "union_specifier", "enum_specifier"})
_NAMES = frozenset(
    {
        "identifier",
        "field_identifier",
        "type_identifier",
        "qualified_identifier",
        "template_function",
        "destructor_name",
        "operator_name",
        "operator_cast",
    }
)
_DEEPEST = 20


def _declared(node: Node) -> list[Named]:
    made = node.children_by_field_name("declarator")
    until = body(node)
    if until is None and len(made) == 1:
        until = field(made[0], "value")
    inner = field(node, "type")
    if until is None and inner is not None and inner.type in _SPECIFIERS:
        until = body(inner)
    is_type = node.type == "type_definition"
    return [
        Named(name, until, "function" if is_function and not is_type else None)
        for name, is_function in map(_heart, made)
        if name
    ]


def _heart(declarator: Node) -> tuple[str, bool]:
    """The name at the heart of `*(*name[3])(int)`, and whether it is called a function right there."""
    node: Node | None = declarator
    around = ""
    for _ in range(_DEEPEST):
        if node is None or node.type in _NAMES:
            break
        around = node.type
        inner = field(node, "declarator")
        node = inner if inner is not None else next(iter(node.named_children), None)
    is_name = node is not None and node.type in _NAMES
    return (_written(node) if node is not None and is_name else ""), around == "function_declarator"


def _written(node: Node) -> str:
    """A name with dots for `::` and without template arguments."""
    name = text(node)
    if node.type == "operator_cast" or "operator" in name:
        return name.partition("(")[0].replace("::", ".").strip() or name
    return re.sub(r"<.*", "", name, flags=re.DOTALL) if "::" not in name else _unscoped(name)


def _unscoped(name: str) -> str:
    while (shorter := re.sub(r"<[^<>]*>", "", name)) != name:
        name = shorter
    return name.replace("::", ".")


def _specified(node: Node) -> list[Named]:
    """Only what has a body is defined here; without one it is a use."""
    name, inner = text(field(node, "name")), body(node)
    return [Named(_unscoped(name), inner)] if name and inner else []


def _unnamed_members(node: Node) -> Node | None:
    """The members of `typedef struct { … } name;`."""
    inner = field(node, "type")
    if inner is None or inner.type not in _SPECIFIERS or field(inner, "name") is not None:
        return None
    return body(inner)


def _macro(node: Node) -> list[Named]:
    return [Named(text(field(node, "name")), field(node, "value"))]


def _public(node: Node, _: str, where: Where) -> bool:
    if where.prefix:
        return where.section
    return not has(node, "storage_class_specifier", "static")


def _section(node: Node, _: bool) -> bool | None:
    return text(node).strip() != "private" if node.type == "access_specifier" else None


_SHAPES = {
    "function_definition": Shape("function", _declared),
    "declaration": Shape("variable", _declared, members=_unnamed_members, looks_in=True),
    "field_declaration": Shape("variable", _declared, members=_unnamed_members, looks_in=True),
    "type_definition": Shape("type", _declared, members=_unnamed_members, looks_in=True),
    "struct_specifier": Shape("class", _specified, members=body),
    "class_specifier": Shape("class", _specified, members=body),
    "union_specifier": Shape("class", _specified, members=body),
    "enum_specifier": Shape("enum", _specified, members=body),
    "enumerator": Shape("constant", lambda node: [Named(text(field(node, "name")), field(node, "value"))]),
    "alias_declaration": Shape("type"),
    "concept_definition": Shape("type"),
    "preproc_def": Shape("macro", _macro),
    "preproc_function_def": Shape("macro", _macro),
}
_THROUGH = frozenset(
    {
        "declaration",
        "field_declaration",
        "type_definition",
        "preproc_if",
        "preproc_ifdef",
        "preproc_else",
        "preproc_elif",
        "preproc_elifdef",
        "linkage_specification",
        "declaration_list",
        "namespace_definition",
        "template_declaration",
    }
)


def _grammar(load: object) -> Grammar:
    assert callable(load)
    return Grammar(
        load=load,
        shapes=_SHAPES,
        through=_THROUGH,
        wraps=frozenset({"template_declaration"}),
        left_out=frozenset({"comment", "field_initializer_list"}),
        section=_section,
        first_section=lambda node: node.type != "class_specifier",
        imports=Imports(
            word=re.compile(rb"^[ \t]*(#[ \t]*include)\b", re.MULTILINE),
            types=frozenset({"preproc_include"}),
            read=lambda node: [text(field(node, "path"))],
        ),
        public=_public,
    )


C = _grammar(tree_sitter_c.language)
CPP = _grammar(tree_sitter_cpp.language)
