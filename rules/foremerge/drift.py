"""What a ChangeSet touches outside of the scopes that its intent declared or claimed. Advice: nothing is refused for it.

A kind is compared only where the intent named something of that kind: who declared no file said nothing about files.
"""

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from protocol.foremerge.scopes import MOST_KEY, PlainScope, ScopeClaim
from protocol.foremerge.words import ScopeKind
from rules.foremerge.faces import place_of_scope
from rules.foremerge.scopes import alias
from rules.places import Place, covers

_SHOWN = 200
_LONGEST = 300


class Drift(NamedTuple):
    """What lies outside, and which kinds were compared at all."""

    compared: tuple[ScopeKind, ...]
    files: tuple[str, ...] = ()
    symbols: tuple[str, ...] = ()
    contracts: tuple[str, ...] = ()

    def shown(self) -> dict[str, Any]:
        """As a ChangeSet's provenance has it: the first of each, and how many there are."""
        found = {"files": self.files, "symbols": self.symbols, "contracts": self.contracts}
        lists = {name: [item[:_LONGEST] for item in items[:_SHOWN]] for name, items in found.items()}
        return {
            "compared": [kind.value for kind in self.compared],
            **lists,
            "total": sum(len(items) for items in found.values()),
        }


def drift(
    named: Sequence[PlainScope | ScopeClaim],
    *,
    files: Iterable[str],
    symbols: Iterable[str],
    contracts: Iterable[str],
) -> Drift:
    """What of a ChangeSet no scope of `named` covers."""
    kinds = tuple(
        kind
        for kind in (ScopeKind.FILE, ScopeKind.SYMBOL, ScopeKind.CONTRACT)
        if any(one.kind is kind for one in named)
    )
    return Drift(
        kinds,
        tuple(_outside_files(named, files)) if ScopeKind.FILE in kinds else (),
        tuple(_outside_symbols(named, symbols)) if ScopeKind.SYMBOL in kinds else (),
        tuple(_outside_contracts(named, contracts)) if ScopeKind.CONTRACT in kinds else (),
    )


def _outside_files(named: Iterable[PlainScope | ScopeClaim], files: Iterable[str]) -> list[str]:
    places = [place for one in named if (place := place_of_scope(one))]
    # A folder is often written without its slash.
    places += [Place(f"{place.path}/") for place in places if not place.is_folder]
    return [path for path in files if not any(covers(place, Place(path)) for place in places)]


def _outside_symbols(named: Iterable[PlainScope | ScopeClaim], symbols: Iterable[str]) -> list[str]:
    known: set[str] = set()
    for one in named:
        if one.kind is ScopeKind.SYMBOL:
            known.update(_parts(alias(one)))
    return [name for name in symbols if known.isdisjoint(_parts(_alias(ScopeKind.SYMBOL, name)))]


def _outside_contracts(named: Iterable[PlainScope | ScopeClaim], contracts: Iterable[str]) -> list[str]:
    known = {alias(one) for one in named if one.kind is ScopeKind.CONTRACT}
    return [name for name in contracts if _alias(ScopeKind.CONTRACT, name) not in known]


def _alias(kind: ScopeKind, key: str) -> str:
    return alias(PlainScope(kind=kind, key=key.strip()[:MOST_KEY] or "?"))


def _parts(name: str) -> list[str]:
    """The class and the member of an alias: changed code is read as bare names, so either of them is enough."""
    return name.partition(":")[2].split("::")
