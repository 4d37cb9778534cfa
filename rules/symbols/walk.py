"""Walk a syntax tree by its grammar's table and collect the symbols, without entering bodies of functions."""

import re

from tree_sitter import Node

from protocol.scopes import SYMBOL_CHARS
from protocol.symbols import MOST_SYMBOLS, SymbolInfo
from rules.symbols.grammar import Grammar, Named, Shape, Where
from rules.symbols.signature import signature

_DEEPEST = 40
_BLANKS = re.compile(r"\s+|#")
_CONTAINERS = ("", "module")
_INSIDE = {"function": "method", "variable": "field", "constant": "constant"}


def symbols_in(grammar: Grammar, root: Node) -> list[SymbolInfo]:
    """The symbols below `root`, at most 5,000, in the order of their first lines."""
    walk = _Walk(grammar)
    walk.inside(root, Where(listed=grammar.listed(root)), None, 0)
    return sorted(walk.found, key=lambda symbol: (symbol.start_line, -symbol.end_line))


def first_row(node: Node) -> int:
    """The row a node begins on, from 0."""
    return node.start_point.row


def last_row(node: Node) -> int:
    """The row a node ends on; a node that ends with its line break ends before it."""
    row, column = node.end_point
    return row - 1 if column == 0 and row > node.start_point.row else row


class _Walk:
    def __init__(self, grammar: Grammar) -> None:
        self._grammar = grammar
        self.found: list[SymbolInfo] = []

    def inside(self, node: Node, where: Where, span: tuple[int, int] | None, depth: int) -> None:
        """Meet the children of `node`. `span`: the rows of a wrapper that belong to what it wraps."""
        if depth > _DEEPEST:
            return
        lead = _Lead()
        for child in node.named_children:
            if len(self.found) >= MOST_SYMBOLS:
                return
            section = self._grammar.section(child, where.section)
            if section is not None:
                where = where._replace(section=section)
            elif child.type in self._grammar.above:
                lead.add(child)
            else:
                self._meet(child, where, lead.over(child, span), depth)

    def _meet(self, node: Node, where: Where, span: tuple[int, int], depth: int) -> None:
        grammar = self._grammar
        shape = grammar.shapes.get(node.type)
        names = shape.names(node) if shape else []
        if shape:
            self._define(node, shape, names, where, span, depth)
        if node.type == "ERROR" or (node.type in grammar.through and not (names and _is_whole(shape, node))):
            marked = where.marked or node.type in grammar.marks
            handed = span if node.type in grammar.wraps and self._holds_one(node) else None
            self.inside(node, where._replace(marked=marked), handed, depth + 1)

    def _define(
        self, node: Node, shape: Shape, names: list[Named], where: Where, span: tuple[int, int], depth: int
    ) -> None:
        members = shape.members(node)
        below = where._replace(marked=False, section=True)
        for named in names[: MOST_SYMBOLS - len(self.found)]:
            name = _dotted(where.prefix, named.name)
            if name is None:
                continue
            public = where.public and self._grammar.public(node, named.name, where)
            own = named.kind or shape.kind
            kind = _INSIDE.get(own, own) if where.kind not in _CONTAINERS else own
            self.found.append(
                SymbolInfo(
                    name=name,
                    kind=kind,
                    signature=signature(node, shape, named, self._grammar.left_out),
                    exported=public and shape.kind != "impl",
                    start_line=span[0] + 1,
                    end_line=span[1] + 1,
                )
            )
            below = below._replace(prefix=name, kind=own, public=public or shape.opens)
        if members is not None:
            if names and self._grammar.first_section:
                below = below._replace(section=self._grammar.first_section(node))
            self.inside(members, below, None, depth + 1)

    def _holds_one(self, node: Node) -> bool:
        kinds = (child.type for child in node.named_children)
        return sum(kind in self._grammar.shapes or kind in self._grammar.through for kind in kinds) == 1


class _Lead:
    """The comments and attributes directly above the next definition, no blank line between."""

    def __init__(self) -> None:
        self._first = self._last = -2
        self._taken = -1

    def add(self, node: Node) -> None:
        """Note one; what stands on the last row of a definition belongs to that one."""
        first = first_row(node)
        if first == self._taken:
            return
        if first > self._last + 1:
            self._first = first
        self._last = last_row(node)

    def over(self, node: Node, span: tuple[int, int] | None) -> tuple[int, int]:
        """The rows of the definition `node`, with what stands above it or wraps it."""
        first, last = span or (first_row(node), last_row(node))
        self._taken = last_row(node)
        if self._last + 1 >= first_row(node) > self._first:
            first = min(first, self._first)
        self._first = self._last = -2
        return first, last


def _is_whole(shape: Shape | None, node: Node) -> bool:
    """True when all that the node defines is known by its names and members."""
    return shape is not None and (not shape.looks_in or shape.members(node) is not None)


def _dotted(prefix: str, name: str) -> str | None:
    """The full name, or None for one that no place could carry."""
    part = _BLANKS.sub("", name).strip(".")
    full = f"{prefix}.{part}" if prefix else part
    return full if part and part.isprintable() and len(full) <= SYMBOL_CHARS else None
