"""Places: what one covers, and when two meet (`docs/rules.md`, Places)."""

from typing import NamedTuple

from protocol.scopes import ScopeItem


class Place(NamedTuple):
    """A path from the repository root, and perhaps a symbol in it. A folder ends in '/'."""

    path: str
    symbol: str = ""

    @property
    def text(self) -> str:
        """`path` or `path#symbol`."""
        if not self.symbol and "#" not in self.path:
            return self.path
        # A path that holds a '#' always shows the separator, so that the text can be read back.
        return f"{self.path}#{self.symbol}"

    @property
    def is_folder(self) -> bool:
        """True for a place that covers everything below it."""
        return self.path.endswith("/")

    @property
    def file(self) -> "Place":
        """The file (or folder) that the place lies in."""
        return Place(self.path)


def place_of(item: ScopeItem) -> Place:
    """The place that a scope item names."""
    return Place(item.path, item.symbol or "")


def parse_place(text: str) -> Place:
    """The place that `Place.text` wrote."""
    path, separator, symbol = text.rpartition("#")
    return Place(path, symbol) if separator else Place(text)


def ancestors(path: str) -> list[str]:
    """`path` itself and every folder above it, nearest first: two paths can meet only if one is here."""
    found = [path]
    parent = path.removesuffix("/")
    while "/" in parent:
        parent = parent.rsplit("/", 1)[0]
        found.append(parent + "/")
    return found


def covers(outer: Place, inner: Place) -> bool:
    """True when every change of `inner` is a change of `outer`."""
    if outer.is_folder:
        return inner.path.startswith(outer.path)
    if outer.path != inner.path:
        return False
    if not outer.symbol or outer.symbol == inner.symbol:
        return True
    return inner.symbol.startswith(outer.symbol + ".")


def meet(one: Place, other: Place) -> bool:
    """True when one of the two covers the other."""
    return covers(one, other) or covers(other, one)


def narrower(one: Place, other: Place) -> Place:
    """Of two places that meet, the one inside the other: the place both speak of."""
    return other if covers(one, other) else one
