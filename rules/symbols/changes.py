"""Which symbols a change touches, and which exported signatures it changes."""

from bisect import bisect_right
from collections.abc import Sequence
from itertools import groupby
from typing import NamedTuple

from protocol.symbols import FileSymbols, SymbolInfo

Lines = Sequence[tuple[int, int]]
"""Ranges of lines, counted from 1, both ends inclusive."""

WHOLE_FILE = ""


class SignatureChange(NamedTuple):
    """An exported symbol whose signature is another (`now`) or that is gone (None)."""

    name: str
    was: str
    now: str | None


def changed_symbols(
    old: FileSymbols | None, new: FileSymbols | None, old_lines: Lines, new_lines: Lines
) -> set[str]:
    """The innermost symbols that hold the changed lines, of the old and the new file both.

    '' (the file itself) stands for lines outside every symbol. A side that is None is absent; one with a note
    counts as a whole file. Lines of imports say nothing of their own beside another change: whoever uses a new
    name imports it, and that alone makes no two changes meet.
    """
    found = _touched(old, old_lines) | _touched(new, new_lines)
    if found:
        return found
    return {WHOLE_FILE} if old_lines or new_lines else set()


def changed_signatures(old: FileSymbols, new: FileSymbols | None) -> list[SignatureChange]:
    """Exported symbols of `old` that `new` declares in another way, or no longer exports, by name.

    Overloads are compared as a set: adding one changes nothing for those who call the others. Nothing is said
    of a file that could not be read, before or after.
    """
    if old.note or (new is not None and new.note):
        return []
    before, after = _exported(old), _exported(new)
    found = []
    for name, signatures in before.items():
        remaining = after.get(name, [])
        gone = [one for one in signatures if one not in remaining]
        fresh = [one for one in remaining if one not in signatures]
        for at, was in enumerate(gone):
            now = fresh[min(at, len(fresh) - 1)] if fresh else remaining[0] if remaining else None
            found.append(SignatureChange(name, was, now))
    return sorted(found)


def _exported(file: FileSymbols | None) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for symbol in file.symbols if file else ():
        # A plain variable (`limit = 3`) has a value and no signature: to replace it is ordinary work.
        if symbol.exported and symbol.signature != symbol.name.rpartition(".")[2]:
            found.setdefault(symbol.name, []).append(symbol.signature)
    return found


def _touched(file: FileSymbols | None, lines: Lines) -> set[str]:
    if file is None or not lines:
        return set()
    if file.note:
        return {WHOLE_FILE}
    starts, owners = _owners(file)
    found: set[str] = set()
    for first, last in lines:
        at = max(0, bisect_right(starts, first) - 1)
        while at < len(starts) and starts[at] <= last:
            found |= owners[at]
            at += 1
    return found


def _owners(file: FileSymbols) -> tuple[list[int], list[frozenset[str]]]:
    """The file cut into stretches of lines: where each begins, and who owns it."""
    silent = {line for first, last in file.import_lines for line in (first, last + 1)}
    bounds = {1, *silent, *(line for one in file.symbols for line in (one.start_line, one.end_line + 1))}
    starts = sorted(bounds)
    coming = sorted(file.symbols, key=lambda one: one.start_line)
    imports = sorted(file.import_lines)
    active: list[SymbolInfo] = []
    owners, at, importing, until = [], 0, 0, 0
    for start in starts:
        active = [one for one in active if one.end_line >= start]
        while at < len(coming) and coming[at].start_line == start:
            active.append(coming[at])
            at += 1
        while importing < len(imports) and imports[importing][0] <= start:
            until = max(until, imports[importing][1])
            importing += 1
        names = _innermost(active)
        owners.append(names if names or start <= until else frozenset({WHOLE_FILE}))
    return starts, owners


def _innermost(symbols: list[SymbolInfo]) -> frozenset[str]:
    """Of symbols that share a line, those that hold none of the others."""
    found: set[str] = set()
    nearest: int | None = None  # the earliest end so far; what was met before begins no earlier than this one
    for (_, end), group in groupby(sorted(symbols, key=_span), key=_span):
        if nearest is None or nearest > end:
            found.update(one.name for one in group)
        nearest = end if nearest is None else min(nearest, end)
    return frozenset(found)


def _span(symbol: SymbolInfo) -> tuple[int, int]:
    return -symbol.start_line, symbol.end_line
