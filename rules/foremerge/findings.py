"""The detector: what two intents have to settle, by rules FM-C001 to FM-C005.

Deterministic, and the same from both sides: swapping the two intents swaps the two sides of each finding.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from protocol.foremerge.words import ConflictKind, Severity
from rules.foremerge.likeness import jaccard
from rules.foremerge.overlap import Overlap, overlaps, severity
from rules.foremerge.subjects import Declared, Subject

RULES: Mapping[ConflictKind, str] = {
    ConflictKind.DESTRUCTIVE_VS_ADDITIVE: "FM-C001",
    ConflictKind.DIVERGENT_REWRITE: "FM-C002",
    ConflictKind.SHARED_CONTRACT: "FM-C003",
    ConflictKind.DUPLICATE_WORK: "FM-C004",
    ConflictKind.OVERLAPPING_CLAIM: "FM-C005",
}
CLAIM_SCORE = 0.88
_SAME_WORDS = 0.62
_SAME_WORDS_AND_OPERATION = 0.42


@dataclass(frozen=True)
class Side:
    """One intent of a finding, with its scope in it. `scope` is None for likeness of words alone."""

    intent_id: str
    summary: str
    scope: Declared | None


@dataclass(frozen=True)
class Finding:
    """Two intents that have something to settle. `alike`: Jaccard of the two summaries, for duplicate work only."""

    kind: ConflictKind
    severity: Severity
    score: float
    source: Side
    target: Side
    overlap: Overlap | None = None
    alike: float | None = None

    @property
    def rule(self) -> str:
        """FM-C001 to FM-C005."""
        return RULES[self.kind]

    @property
    def asserted(self) -> bool:
        """Both sides declared what makes it a conflict."""
        return self.overlap is not None and self.overlap.asserted and self.alike is None

    def turned(self) -> "Finding":
        """The same finding seen from the other side, every part of it."""
        return replace(self, source=self.target, target=self.source)


def detect(source: Subject, target: Subject) -> list[Finding]:
    """Every finding of a pair: one for each overlap, the strongest first, then perhaps duplicate work."""
    met = overlaps(source, target)
    found = [_of_overlap(source, target, overlap) for overlap in met]
    duplicate = _duplicate(source, target, met[0] if met else None)
    return [*found, duplicate] if duplicate else found


def _side(subject: Subject, scope: Declared | None) -> Side:
    return Side(subject.intent_id, subject.summary, scope)


def _of_overlap(source: Subject, target: Subject, overlap: Overlap) -> Finding:
    return Finding(
        overlap.interaction,
        severity(overlap.interaction, overlap.asserted),
        round(min(0.97 * overlap.score, 0.99), 3),
        _side(source, overlap.source),
        _side(target, overlap.target),
        overlap,
    )


def _duplicate(source: Subject, target: Subject, strongest: Overlap | None) -> Finding | None:
    alike = jaccard(source.words, target.words)
    same_operation = (
        strongest is not None and strongest.source.claim.operation is strongest.target.claim.operation
    )
    if alike < _SAME_WORDS and not (same_operation and alike > _SAME_WORDS_AND_OPERATION):
        return None
    return Finding(
        ConflictKind.DUPLICATE_WORK,
        Severity.MEDIUM,
        round(min(0.55 + 0.4 * alike, 0.96), 3),
        _side(source, strongest.source if strongest else None),
        _side(target, strongest.target if strongest else None),
        strongest,
        alike,
    )


def claimed_by_both(source: Side, target: Side) -> Finding:
    """FM-C005: two live claims on one alias. Nobody is kept out; both are told."""
    return Finding(ConflictKind.OVERLAPPING_CLAIM, Severity.MEDIUM, CLAIM_SCORE, source, target)


def evidence(finding: Finding, ephemeral: bool = False) -> dict[str, Any]:
    """What the finding rests on. Each `source_` and `target_` speaks of the side it is named after."""
    one, other = finding.source.scope, finding.target.scope
    facts: dict[str, Any] = {"rule": finding.rule}
    if finding.kind is ConflictKind.DUPLICATE_WORK:
        facts |= {"summary_jaccard": round(finding.alike or 0.0, 3), "asserted": False}
    elif finding.kind is ConflictKind.OVERLAPPING_CLAIM:
        facts["soft_claim"] = True
    facts |= {"source_scope": one.alias if one else None, "target_scope": other.alias if other else None}
    if finding.overlap is not None and finding.alike is None and one and other:
        facts |= {
            "source_operation": one.claim.operation.value,
            "target_operation": other.claim.operation.value,
            "source_operation_inferred": one.claim.inferred,
            "target_operation_inferred": other.claim.inferred,
            "asserted": finding.asserted,
            "overlap": finding.overlap.text,
            "detected_before_code": True,
        }
    return facts | ({"ephemeral": True} if ephemeral else {})
