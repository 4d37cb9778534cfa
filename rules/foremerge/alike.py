"""Keys by which sets of words that are alike find each other in an index, so that nothing else has to be looked at.

Two sets are alike when their Jaccard is at least `least`: of a and b words they share s, and s / (a + b - s) >= least.
A small set is kept under each part that a set alike to it can share, together with its size, and looks for each part it
could share with a set of a size that fits: such a hit is alike for sure. Of a large set that would be too many keys, so it
is kept and sought under its first words in one order that all sets have, the longest first because those are rarest:
two sets that are alike have one of those in common (prefix filtering). Such a hit is a candidate, to be compared.
"""

import hashlib
from collections.abc import Collection, Iterator
from itertools import combinations
from math import ceil

SCOPES_ALIKE = 0.66
SUMMARIES_ALIKE = 0.62
_SMALL = 7
_EXACT = 1e-9


def kept_under(words: Collection[str], least: float) -> list[int]:
    """The keys that a set is kept under."""
    return _numbers(_kept(sorted(words, key=_rarest_first), least))


def sought_under(words: Collection[str], least: float) -> list[int]:
    """The keys under which every set that is alike to this one is found."""
    return _numbers(_sought(sorted(words, key=_rarest_first), least))


def _rarest_first(word: str) -> tuple[int, str]:
    return -len(word), word


def _kept(words: list[str], least: float) -> Iterator[str]:
    size = len(words)
    if size <= _SMALL:
        yield from (f"{size} {part}" for part in _parts(words, least))
    yield from (f"{_class(size)} {word}" for word in _first(words, least))


def _sought(words: list[str], least: float) -> Iterator[str]:
    size = len(words)
    if size <= _SMALL:
        for shared in _shared_sizes(size, least):
            fitting = range(shared, min(_SMALL, int(shared / least - size + shared + _EXACT)) + 1)
            for part in combinations(words, shared):
                yield from (f"{other} {' '.join(part)}" for other in fitting)
    yield from (f"large {word}" for word in _first(words, least))
    if size > _SMALL:
        yield from (f"small {word}" for word in _first(words, least))


def _class(size: int) -> str:
    return "small" if size <= _SMALL else "large"


def _shared_sizes(size: int, least: float) -> range:
    """How many words it can share with a set that is alike: at least `least` of its own."""
    return range(max(1, ceil(least * size - _EXACT)), size + 1)


def _parts(words: list[str], least: float) -> Iterator[str]:
    for shared in _shared_sizes(len(words), least):
        yield from (" ".join(part) for part in combinations(words, shared))


def _first(words: list[str], least: float) -> list[str]:
    return words[: len(words) - ceil(least * len(words) - _EXACT) + 1] if words else []


def _numbers(keys: Iterator[str]) -> list[int]:
    """As what a column of numbers holds."""
    digests = (hashlib.sha256(key.encode()).digest()[:8] for key in keys)
    return sorted({int.from_bytes(digest, "big", signed=True) for digest in digests})
