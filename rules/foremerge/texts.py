"""What a finding says in words: why the two meet, and what the two agents might do about it.

Summaries are other people's text: only plain identifiers are taken from them, cut to a sensible length.
"""

import re

from protocol.foremerge.words import ConflictKind, ScopeKind
from rules.foremerge.findings import Finding, Side
from rules.foremerge.likeness import words
from rules.foremerge.overlap import Tier

_STORED_SHAPES = frozenset({ScopeKind.SCHEMA, ScopeKind.MIGRATION, ScopeKind.CONFIG})
_IDENTIFIER = re.compile(r"\b[A-Z][a-z0-9]+[A-Z][A-Za-z0-9]*\b")
_REPLACES = re.compile(r"\breplace\s+\w+\s+(?:with|for|by)\s+(\w+)", re.I | re.A)
_SUPPORTS = re.compile(r"\badd\s+(\w+)\s+support\s+(?:to|for|in)\b", re.I | re.A)
_HEURISTIC = "This is a heuristic suggestion; the agents decide."
_MOST_NAME = 60
_READS_SUMMARY = 1_000


def explanation(finding: Finding) -> str:
    """Why the two meet, naming both keys where they differ."""
    one, other = finding.source.scope, finding.target.scope
    if finding.kind is ConflictKind.DUPLICATE_WORK:
        about = f" and both touch {_both(finding.source, finding.target)}" if one and other else ""
        return f"The two summaries say nearly the same{about}: this may be one piece of work done twice."
    if finding.kind is ConflictKind.OVERLAPPING_CLAIM or not (one and other and finding.overlap):
        return f"Both intents hold a live claim on {_both(finding.source, finding.target)}; claims exclude nobody."
    return (
        f"{one.claim.operation} of {_named(finding.source)} meets {other.claim.operation} of "
        f"{_named(finding.target)}: {_meaning(finding)}."
    )


def explanation_by_place(finding: Finding, own_id: str) -> str:
    """Why the two meet, to the one that plans in places: where it changes something, and what the other does there."""
    sides = (finding.source, finding.target)
    mine, theirs = sides if finding.source.intent_id == own_id else reversed(sides)
    known = finding.overlap is not None and finding.kind in _MEANING
    if not known or mine.scope is None or mine.scope.place is None or theirs.scope is None:
        return explanation(finding)
    return (
        f"What you change at {mine.scope.place.text} meets its {theirs.scope.claim.operation} of {_named(theirs)}: "
        f"{_meaning(finding)}."
    )


_MEANING = {
    ConflictKind.DESTRUCTIVE_VS_ADDITIVE: "one takes away what the other builds on",
    ConflictKind.DIVERGENT_REWRITE: "two rewrites of one thing cannot both stand",
    ConflictKind.SHARED_CONTRACT: "both build on one thing and must agree on its shape",
}


def _meaning(finding: Finding) -> str:
    sure = "" if finding.asserted else f" ({_doubt(finding)})"
    return f"{_MEANING[finding.kind]}{sure}"


def _named(side: Side) -> str:
    return side.scope.claim.text if side.scope else "nothing"


def _both(source: Side, target: Side) -> str:
    one, other = _named(source), _named(target)
    return one if one == other else f"{one} and {other}"


def _doubt(finding: Finding) -> str:
    if finding.overlap is not None and finding.overlap.tier is not Tier.PRECISE:
        return "the two may be different things: only their names are alike"
    return "an operation was read from a summary, not declared"


def suggestion(finding: Finding) -> str:
    """What to coordinate, by kind of scope first and by kind of conflict after that."""
    if finding.kind is ConflictKind.OVERLAPPING_CLAIM:
        advice = f"Both agents coordinate who edits {_both(finding.source, finding.target)} first, and tell each other when done."
    elif finding.kind is ConflictKind.DUPLICATE_WORK:
        advice = (
            "The two agents coordinate who owns this work; the other one rescopes or discards its intent."
        )
    elif shape := _stored_shape(finding):
        advice = f"Before either edits, coordinate the migration order for {shape}: which change runs first, and what the second builds on."
    elif finding.kind is ConflictKind.DESTRUCTIVE_VS_ADDITIVE:
        advice = _provider_advice(finding)
    elif finding.kind is ConflictKind.DIVERGENT_REWRITE:
        advice = f"The two agents coordinate one target design for {_both(finding.source, finding.target)} and record it as a decision."
    else:
        advice = (
            f"The two agents coordinate: each shares the contract it needs of {_both(finding.source, finding.target)}, "
            "and they fix in which order the changes depend on each other."
        )
    return f"{advice} {_HEURISTIC}"


def _stored_shape(finding: Finding) -> str | None:
    found = [
        (side.scope.alias, side.scope.claim.text)
        for side in (finding.source, finding.target)
        if side.scope and side.scope.claim.kind in _STORED_SHAPES
    ]
    return min(found)[1] if found else None


def _provider_advice(finding: Finding) -> str:
    name = contract_name(_destructive_side(finding))
    made = sorted({*implementations(finding.source.summary), *implementations(finding.target.summary)})
    listed = f", with {' and '.join(made)} behind it" if made else ""
    return (
        f"The two agents coordinate a stable contract first, such as {name}{listed}: the one that takes something away "
        "lands that, and the other builds on it."
    )


def _destructive_side(finding: Finding) -> Side:
    source = finding.source
    return source if source.scope and source.scope.claim.operation.destructive else finding.target


def contract_name(side: Side) -> str:
    """A name for the contract both could build on: an identifier of the summary, else the scope's, plus Provider."""
    found = _identifier_for(side) or _from_key(side)
    return f"{found.removesuffix('Provider').removesuffix('Service') or found}Provider"


def _identifier_for(side: Side) -> str | None:
    """The identifier of the summary that is most like the scope; the first one among equals."""
    names = [name[:_MOST_NAME] for name in _IDENTIFIER.findall(side.summary[:_READS_SUMMARY])]
    wanted = side.scope.words if side.scope else frozenset()
    return max(names, key=lambda name: len(words(name) & wanted) / len(words(name)), default=None)


def _from_key(side: Side) -> str:
    key = side.scope.claim.key if side.scope else ""
    if side.scope and side.scope.claim.kind is ScopeKind.FILE:
        key = key.rstrip("/").rpartition("/")[2].partition(".")[0]
    parts = [part for part in re.split(r"[:\\/.#]+", key) if part.strip()]
    container = parts[-2] if side.scope and "::" in key and len(parts) > 1 else (parts or [""])[-1]
    pieces = re.findall("[A-Za-z0-9]+", container)
    return "".join(piece[:1].upper() + piece[1:] for piece in pieces)[:_MOST_NAME] or "Shared"


def implementations(summary: str) -> list[str]:
    """What a summary of two well-known shapes brings: `replace X with Y`, `add Y support to X`."""
    text = summary[:_READS_SUMMARY]
    return [name[:_MOST_NAME] for pattern in (_REPLACES, _SUPPORTS) for name in pattern.findall(text)]
