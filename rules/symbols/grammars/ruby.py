"""Ruby. Raw imports: `./money` for `require_relative "money"`, `shop/cart` for `require "shop/cart"`."""

import re

import tree_sitter_ruby
from tree_sitter import Node

from rules.symbols.grammar import Grammar, Imports, Named, Shape, Where, body, field, has, text

_SECTIONS = {"public": True, "private": False, "protected": False}
_ACCESSORS = frozenset({"attr_accessor", "attr_reader", "attr_writer"})


def _named(node: Node) -> list[Named]:
    name = text(field(node, "name")).replace("::", ".")
    until = field(node, "body", "superclass") if node.type in ("class", "module") else field(node, "body")
    return [Named(name, until)]


def _method(node: Node) -> list[Named]:
    head = field(node, "parameters", "name")
    after = (child for child in node.children if head is not None and child.start_byte >= head.end_byte)
    return [Named(text(field(node, "name")), next(after, None))]


def _constant(node: Node) -> list[Named]:
    left = field(node, "left")
    return [Named(text(left), field(node, "right"))] if left is not None and left.type == "constant" else []


def _accessors(node: Node) -> list[Named]:
    if text(field(node, "method")) not in _ACCESSORS:
        return []
    arguments = field(node, "arguments")
    names = arguments.named_children if arguments else []
    return [Named(text(name).lstrip(":")) for name in names if name.type == "simple_symbol"]


def _public(node: Node, _: str, where: Where) -> bool:
    if node.type in ("class", "module", "assignment", "singleton_method"):
        return True
    call = node.parent.parent if node.parent is not None and node.parent.type == "argument_list" else None
    if call is not None and text(field(call, "method")) in _SECTIONS:
        return _SECTIONS[text(field(call, "method"))]
    return where.section


def _section(node: Node, _: bool) -> bool | None:
    return _SECTIONS.get(text(node)) if node.type == "identifier" else None


def _imported(node: Node) -> list[str]:
    arguments = field(node, "arguments")
    first = arguments.named_children[0] if arguments and arguments.named_children else None
    if first is None or first.type != "string" or has(first, "interpolation"):
        return []
    path = text(first)[1:-1]
    method = text(field(node, "method"))
    return [f"./{path}"] if method == "require_relative" else [path] if method == "require" else []


GRAMMAR = Grammar(
    load=tree_sitter_ruby.language,
    shapes={
        "class": Shape("class", _named, members=body),
        "module": Shape("module", _named, members=body),
        "method": Shape("function", _method),
        "singleton_method": Shape("function", _method),
        "assignment": Shape("constant", _constant),
        "call": Shape("variable", _accessors),
    },
    through=frozenset({"singleton_class", "body_statement", "call", "argument_list"}),
    wraps=frozenset({"call", "argument_list"}),
    section=_section,
    imports=Imports(
        word=re.compile(rb"^[ \t]*(require_relative|require)\b", re.MULTILINE),
        types=frozenset({"call"}),
        read=_imported,
    ),
    public=_public,
)
