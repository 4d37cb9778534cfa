"""The vocabulary in which a language is described to the walk: which nodes define symbols, and which import.

Descriptions are tables over tree-sitter's node types. They are not tree-sitter queries: a query visits every node,
needs time far beyond linear on hostile trees, and cannot be bounded; the walk never enters the body of a function.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import NamedTuple

from tree_sitter import Node


class Named(NamedTuple):
    """A name that a node defines, the node at which its signature ends (None: at the node's end), its own kind."""

    name: str
    until: Node | None = None
    kind: str | None = None


class Where(NamedTuple):
    """Where the walk stands: inside which symbol, and what that says about what it meets there."""

    prefix: str = ""
    kind: str = ""
    public: bool = True
    section: bool = True  # of `private:` and its like
    marked: bool = False  # under an `export`
    listed: frozenset[str] | None = None


Names = Callable[[Node], list[Named]]
Part = Callable[[Node], Node | None]
Public = Callable[[Node, str, Where], bool]


def text(node: Node | None) -> str:
    """The source text of a node; '' for none."""
    return (node.text or b"").decode("utf-8", "replace") if node else ""


def field(node: Node | None, *names: str) -> Node | None:
    """The first of these fields that the node has."""
    if node is None:
        return None
    return next((found for name in names if (found := node.child_by_field_name(name))), None)


def has(node: Node, kind: str, *texts: str) -> bool:
    """True when a child is of this type and, where texts are given, reads as one of them."""
    return any(child.type == kind and (not texts or text(child) in texts) for child in node.children)


def by_name(node: Node) -> list[Named]:
    """The usual case: the name is in the field `name`, the signature ends where the body begins."""
    name = text(field(node, "name"))
    return [Named(name, field(node, "body"))] if name else []


def body(node: Node) -> Node | None:
    """The usual place of members."""
    return field(node, "body")


def nothing(_: Node) -> None:
    """The members of what has none."""
    return None


@dataclass(frozen=True, slots=True)
class Shape:
    """How one type of node defines symbols.

    `names` gives what it defines (nothing: it is no definition after all), `members` the node whose children are
    defined inside it. `keyword` stands before the signature where the grammar keeps it outside of the node.
    `looks_in` has the walk also go through the node itself. Members of what `opens` are judged for themselves.
    """

    kind: str
    names: Names = by_name
    members: Part = nothing
    keyword: str = ""
    looks_in: bool = False
    opens: bool = False


@dataclass(frozen=True, slots=True)
class Imports:
    """How imports are found: where `word` matches, inside a node of `types`, which `read` turns into raw imports."""

    word: re.Pattern[bytes]
    types: frozenset[str]
    read: Callable[[Node], list[str]]


def _never(_: Node, __: bool) -> bool | None:
    return None


def _no_list(_: Node) -> frozenset[str] | None:
    return None


@dataclass(frozen=True, slots=True)
class Grammar:
    """One language. `load` gives the grammar's own object.

    `through`: nodes without a name of their own that hold definitions. `wraps`: those of them whose lines
    belong to the one definition they hold. `above`: what belongs to the definition below it (comments,
    attributes). `left_out`: what is no part of a signature. `marks`: those that make their content exported.
    `section` reads a marker such as `private:`, `listed` the names that the file lists as exported.
    """

    load: Callable[[], object]
    shapes: Mapping[str, Shape]
    imports: Imports
    public: Public
    through: frozenset[str] = frozenset()
    wraps: frozenset[str] = frozenset()
    above: frozenset[str] = frozenset({"comment"})
    left_out: frozenset[str] = frozenset({"comment"})
    marks: frozenset[str] = frozenset()
    section: Callable[[Node, bool], bool | None] = _never
    first_section: Callable[[Node], bool] | None = None
    listed: Callable[[Node], frozenset[str] | None] = _no_list
