"""What is compared: an intent's summary and scopes, with everything worked out once that each comparison needs."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property

from protocol.foremerge.scopes import ScopeClaim
from rules.foremerge.likeness import words
from rules.foremerge.scopes import alias, precise
from rules.places import Place, ancestors


@dataclass(frozen=True)
class Declared:
    """One scope of an intent. `place` is set where it names a path; `of_gitring` when gitring's face declared it."""

    claim: ScopeClaim
    precise: str
    alias: str
    key: bytes
    words: frozenset[str]
    place: Place | None = None
    of_gitring: bool = False


@dataclass(frozen=True)
class Subject:
    """One side of a comparison; `intent_id` is empty for work that was not published."""

    intent_id: str
    summary: str
    words: frozenset[str]
    declared: tuple[Declared, ...]

    @cached_property
    def _found_by(self) -> dict[str, list[int]]:
        index: dict[str, list[int]] = {}
        for number, one in enumerate(self.declared):
            for key in _listed_under(one):
                index.setdefault(key, []).append(number)
        return index

    def near(self, one: Declared) -> list[Declared]:
        """The scopes that can overlap `one` at all, in their order: a look-up, because most of them cannot."""
        numbers = {number for key in _looked_up_by(one) for number in self._found_by.get(key, ())}
        return [self.declared[number] for number in sorted(numbers)]


def _names(one: Declared) -> Iterator[str]:
    # Equal precise names have equal aliases, so the alias finds both.
    yield f"alias {one.alias}"
    yield f"key {one.key.hex()}"
    yield from (f"word {word}" for word in one.words)


def _listed_under(one: Declared) -> Iterator[str]:
    yield from _names(one)
    if one.place:
        yield f"at {one.place.path}"
        yield from (f"in {path}" for path in ancestors(one.place.path))


def _looked_up_by(one: Declared) -> Iterator[str]:
    """Two places can meet only when one lies at or above the other."""
    yield from _names(one)
    if one.place:
        yield f"in {one.place.path}"
        yield from (f"at {path}" for path in ancestors(one.place.path))


def declared(claim: ScopeClaim, place: Place | None = None, of_gitring: bool = False) -> Declared:
    """A scope made ready to compare. Keys meet without regard to ASCII case."""
    return Declared(
        claim, precise(claim), alias(claim), claim.key.encode().lower(), words(claim.key), place, of_gitring
    )


def subject(intent_id: str, summary: str, scopes: Iterable[Declared]) -> Subject:
    """An intent made ready to compare."""
    return Subject(intent_id, summary, words(summary), tuple(scopes))
