"""JavaScript and TypeScript, with and without JSX. A raw import is the module's name as written."""

import re

import tree_sitter_javascript
import tree_sitter_typescript
from tree_sitter import Node

from rules.symbols.grammar import Grammar, Imports, Named, Shape, Where, body, by_name, field, has, text

_FUNCTIONS = frozenset({"arrow_function", "function_expression", "function", "generator_function"})
_WITH_BODY = _FUNCTIONS | {"class"}


def _valued(name: str, value: Node | None) -> Named:
    """A function or class that is assigned shows its head, another value nothing."""
    if value is None or value.type not in _WITH_BODY:
        return Named(name, value)
    return Named(name, field(value, "body"), "class" if value.type == "class" else "function")


def _variable(node: Node) -> list[Named]:
    name, value = field(node, "name"), field(node, "value")
    if name is None:
        return []
    if name.type == "identifier":
        return [_valued(text(name), value)]
    plain = (item for item in name.named_children if item.type in _PATTERN_NAMES)
    return [Named(text(item), value) for item in plain]


_PATTERN_NAMES = frozenset({"shorthand_property_identifier_pattern", "identifier"})


def _inner(node: Node) -> Node | None:
    """What holds the members of an assigned value."""
    value = field(node, "value", "right")
    if value is None:
        return None
    return field(value, "body") if value.type == "class" else value if value.type == "object" else None


def _property(node: Node) -> list[Named]:
    name = text(field(node, "name", "property")).strip("\"'")
    return [_valued(name, field(node, "value", "body"))] if name else []


def _pair(node: Node) -> list[Named]:
    value = field(node, "value")
    if value is None or value.type not in _FUNCTIONS:
        return []
    return [_valued(text(field(node, "key")).strip("\"'"), value)]


def _assignment(node: Node) -> list[Named]:
    """`exports.add = …`, `Cart.prototype.add = …`, `Cart.add = function …`."""
    left, right = field(node, "left"), field(node, "right")
    if left is None or right is None or left.type != "member_expression":
        return []
    name = text(left).replace(".prototype.", ".")
    if name == "module.exports":
        return []
    exported = re.sub(r"^(module\.)?exports\.", "", name)
    if exported == name and right.type not in _WITH_BODY:
        return []
    return [_valued(exported, right)]


def _unnamed(node: Node) -> list[Named]:
    """A class or function that is exported as it stands."""
    return [Named(text(field(node, "name")) or "default", field(node, "body"))]


def _public(node: Node, name: str, where: Where) -> bool:
    if where.prefix and where.kind != "module":
        hidden = has(node, "accessibility_modifier", "private") or has(node, "private_property_identifier")
        return not hidden
    if where.marked:
        return True
    if node.type == "assignment_expression":
        return "exports." in text(field(node, "left"))
    return where.listed is not None and name in where.listed


def _exports(root: Node) -> frozenset[str]:
    """Names that `export { … }`, `export default x`, `export = x` and `module.exports = …` list."""
    names: set[str] = set()
    for statement in root.named_children:
        if statement.type == "export_statement" and field(statement, "source") is None:
            names.update(_specified(statement))
        elif statement.type == "expression_statement" and statement.named_children:
            names.update(_assigned_exports(statement.named_children[0]))
    return frozenset(names)


def _specified(statement: Node) -> list[str]:
    names = []
    for child in statement.named_children:
        if child.type == "identifier":
            names.append(text(child))
        elif child.type == "export_clause":
            names.extend(text(field(item, "name")) for item in child.named_children)
    return names


def _assigned_exports(node: Node) -> list[str]:
    right = field(node, "right")
    if right is None or text(field(node, "left")) != "module.exports":
        return []
    if right.type == "identifier":
        return [text(right)]
    values = (field(item, "value") or item for item in right.named_children)
    return [text(value) for value in values if value.type in ("identifier", "shorthand_property_identifier")]


def _imported(node: Node) -> list[str]:
    if node.type == "call_expression":
        if field(node, "function") is None or text(field(node, "function")) not in ("require", "import"):
            return []
        arguments = field(node, "arguments")
        first = arguments.named_children[0] if arguments and arguments.named_children else None
        return [text(first)[1:-1]] if first is not None and first.type == "string" else []
    clause = next((child for child in node.named_children if child.type == "import_require_clause"), node)
    source = field(clause, "source")
    return [text(source)[1:-1]] if source is not None else []


_SHAPES = {
    "function_declaration": Shape("function"),
    "generator_function_declaration": Shape("function"),
    "class_declaration": Shape("class", members=body),
    "method_definition": Shape("function", _property),
    "field_definition": Shape("variable", _property, members=_inner),
    "variable_declarator": Shape("variable", _variable, members=_inner),
    "assignment_expression": Shape("variable", _assignment, members=_inner),
    "pair": Shape("function", _pair),
    "class": Shape("class", _unnamed, members=body),
    "arrow_function": Shape("function", _unnamed),
    "function_expression": Shape("function", _unnamed),
}
_TYPED = {
    "abstract_class_declaration": Shape("class", members=body),
    "public_field_definition": Shape("variable", _property, members=_inner),
    "abstract_method_signature": Shape("function"),
    "method_signature": Shape("function"),
    "property_signature": Shape("variable"),
    "function_signature": Shape("function"),
    "interface_declaration": Shape("interface", members=body),
    "type_alias_declaration": Shape("type", lambda node: [Named(text(field(node, "name")))]),
    "enum_declaration": Shape("enum", members=body),
    "enum_assignment": Shape(
        "constant", lambda node: [Named(text(field(node, "name")), field(node, "value"))]
    ),
    "property_identifier": Shape("constant", lambda node: [Named(text(node))]),
    "internal_module": Shape("module", members=body),
    "module": Shape("module", lambda node: by_name(node) if not has(node, "string") else [], members=body),
}
_IMPORTS = Imports(
    word=re.compile(rb"\b(import|export|require)\b"),
    types=frozenset({"import_statement", "export_statement", "call_expression"}),
    read=_imported,
)


def _grammar(load: object, shapes: dict[str, Shape]) -> Grammar:
    assert callable(load)
    return Grammar(
        load=load,
        shapes=shapes,
        through=frozenset(
            {
                "export_statement",
                "lexical_declaration",
                "variable_declaration",
                "expression_statement",
                "ambient_declaration",
            }
        ),
        wraps=frozenset(
            {
                "export_statement",
                "lexical_declaration",
                "variable_declaration",
                "expression_statement",
                "ambient_declaration",
            }
        ),
        above=frozenset({"comment", "decorator"}),
        left_out=frozenset({"comment", "decorator"}),
        marks=frozenset({"export_statement"}),
        imports=_IMPORTS,
        public=_public,
        listed=_exports,
    )


JAVASCRIPT = _grammar(tree_sitter_javascript.language, _SHAPES)
TYPESCRIPT = _grammar(tree_sitter_typescript.language_typescript, {**_SHAPES, **_TYPED})
TSX = _grammar(tree_sitter_typescript.language_tsx, {**_SHAPES, **_TYPED})
