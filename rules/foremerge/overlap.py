"""Where the scopes of two intents overlap: four tiers, the first that holds; and what the two operations mean there."""

from collections.abc import Iterator
from dataclasses import dataclass
from enum import IntEnum

from protocol.foremerge.words import ConflictKind, Operation, Severity
from rules.foremerge.likeness import jaccard
from rules.foremerge.subjects import Declared, Subject
from rules.places import meet

_ALIKE = 0.66
_RANK = {
    ConflictKind.DESTRUCTIVE_VS_ADDITIVE: 0,
    ConflictKind.DIVERGENT_REWRITE: 1,
    ConflictKind.SHARED_CONTRACT: 2,
}


class Tier(IntEnum):
    """How sure it is that two scopes are the same thing. Only the first can assert anything."""

    PRECISE = 1
    ALIAS = 2
    KEY = 3
    WORDS = 4


TIER_TEXT = {
    Tier.PRECISE: "the same scope",
    Tier.ALIAS: "the same short name in different namespaces",
    Tier.KEY: "the same key under different kinds",
    Tier.WORDS: "keys of similar words",
}


@dataclass(frozen=True)
class Overlap:
    """Two scopes that overlap, seen from the source."""

    source: Declared
    target: Declared
    tier: Tier
    score: float

    @property
    def asserted(self) -> bool:
        """Surely the same scope, and both operations were declared rather than inferred."""
        return self.tier is Tier.PRECISE and not (self.source.claim.inferred or self.target.claim.inferred)

    @property
    def text(self) -> str:
        """The tier in words."""
        placed = self.tier is Tier.PRECISE and self.source.precise != self.target.precise
        return "places that meet" if placed else TIER_TEXT[self.tier]

    @property
    def interaction(self) -> ConflictKind:
        """What the two operations mean for each other."""
        return interaction(self.source.claim.operation, self.target.claim.operation)

    @property
    def pair(self) -> tuple[str, str]:
        """The two precise names, whichever side they stand on."""
        one, other = sorted((self.source.precise, self.target.precise))
        return one, other


def interaction(one: Operation, other: Operation) -> ConflictKind:
    """The kind of conflict of two operations on one scope; there is always one."""
    if one.destructive and other.destructive:
        return ConflictKind.DIVERGENT_REWRITE
    if one.destructive or other.destructive:
        return ConflictKind.DESTRUCTIVE_VS_ADDITIVE
    return ConflictKind.SHARED_CONTRACT


def severity(kind: ConflictKind, asserted: bool) -> Severity:
    """HIGH needs a destructive operation and an assertion."""
    high = asserted and kind is not ConflictKind.SHARED_CONTRACT
    return Severity.HIGH if high else Severity.MEDIUM


def tier_of(one: Declared, other: Declared) -> tuple[Tier, float] | None:
    """The first tier that holds and its score, or None. The same from both sides."""
    if one.place and other.place and (one.of_gitring or other.of_gitring):
        # Both say where they work, so words can add nothing.
        return (Tier.PRECISE, 1.0) if meet(one.place, other.place) else None
    if one.precise == other.precise:
        return Tier.PRECISE, 1.0
    if one.alias == other.alias:
        return Tier.ALIAS, 0.9
    if one.key == other.key:
        return Tier.KEY, 0.9
    alike = jaccard(one.words, other.words)
    return (Tier.WORDS, 0.65 + 0.2 * alike) if alike >= _ALIKE else None


def overlaps(source: Subject, target: Subject) -> list[Overlap]:
    """Where the two overlap, the strongest first, once for each pair of precise names.

    Swapping the two gives the same list seen from the other side.
    """
    turned = source.intent_id > target.intent_id
    found = sorted(_all(source, target), key=lambda overlap: _order(overlap, turned))
    first: dict[tuple[str, str], Overlap] = {}
    for overlap in found:
        first.setdefault(overlap.pair, overlap)
    return list(first.values())


def _all(source: Subject, target: Subject) -> Iterator[Overlap]:
    for one in source.declared:
        for other in target.near(one):
            met = tier_of(one, other)
            if met is not None:
                yield Overlap(one, other, *met)


def _order(overlap: Overlap, turned: bool) -> tuple[object, ...]:
    """Strongest first; the rest only keeps the order free of who is the source."""
    sides = (overlap.target, overlap.source) if turned else (overlap.source, overlap.target)
    return (
        -overlap.score,
        overlap.pair,
        _RANK[overlap.interaction],
        *((one.precise, one.claim.operation, one.place or (), one.claim.key) for one in sides),
    )
