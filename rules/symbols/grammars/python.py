"""Python. Raw imports: `a.b` for `import a.b`, `..pkg:name` for `from ..pkg import name`."""

import re

import tree_sitter_python
from tree_sitter import Node

from rules.symbols.grammar import Grammar, Imports, Named, Shape, Where, body, field, text

_LISTS = ("list", "tuple")


def _assigned(node: Node) -> list[Named]:
    left = field(node, "left")
    if left is None:
        return []
    if left.type == "identifier":
        return [Named(text(left), field(node, "right"))]
    if left.type == "pattern_list":
        return [Named(text(item)) for item in left.named_children if item.type == "identifier"]
    return []


def _alias(node: Node) -> list[Named]:
    name = text(field(node, "left")).partition("[")[0]
    return [Named(name)]


def _public(_: Node, name: str, where: Where) -> bool:
    if not where.prefix and where.listed is not None:
        return name in where.listed
    return not name.startswith("_") or (name.startswith("__") and name.endswith("__"))


def _all(root: Node) -> frozenset[str] | None:
    """The names in `__all__`, or None where the module has none that can be read."""
    names: set[str] = set()
    found = False
    for statement in root.named_children:
        inner = statement.named_children[0] if statement.type == "expression_statement" else None
        if inner is None or text(field(inner, "left")) != "__all__":
            continue
        right = field(inner, "right")
        if right is not None and right.type in _LISTS:
            found = True
            names.update(text(item).strip("\"'") for item in right.named_children if item.type == "string")
    return frozenset(names) if found else None


def _imported(node: Node) -> list[str]:
    names = [_plain(name) for name in node.children_by_field_name("name")]
    if node.type == "import_statement":
        return names
    module = text(field(node, "module_name"))
    return [f"{module}:{name}" for name in names] or [f"{module}:*"]


def _plain(node: Node) -> str:
    return text(field(node, "name") if node.type == "aliased_import" else node)


GRAMMAR = Grammar(
    load=tree_sitter_python.language,
    shapes={
        "function_definition": Shape("function"),
        "class_definition": Shape("class", members=body),
        "assignment": Shape("variable", _assigned),
        "type_alias_statement": Shape("type", _alias),
    },
    through=frozenset(
        {
            "decorated_definition",
            "expression_statement",
            "if_statement",
            "elif_clause",
            "else_clause",
            "try_statement",
            "except_clause",
            "finally_clause",
            "with_statement",
            "block",
        }
    ),
    wraps=frozenset({"decorated_definition", "expression_statement"}),
    imports=Imports(
        word=re.compile(rb"\b(from|import)\b"),
        types=frozenset({"import_statement", "import_from_statement"}),
        read=_imported,
    ),
    public=_public,
    listed=_all,
)
