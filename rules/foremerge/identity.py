"""Which finding is the same conflict as one known before, and what a new look at it adds."""

from collections.abc import Iterable
from typing import NamedTuple

from protocol.events import EventType
from protocol.foremerge.words import ConflictKind, ConflictStatus
from rules.foremerge.findings import Finding

NO_SCOPE = "<none>"


class Identity(NamedTuple):
    """What makes two findings the same conflict; `source` is the lower of the two ids.

    Both precise scopes count, so no two findings of one look fold into one conflict. Duplicate work is one
    conflict a pair, wherever else the two meet.
    """

    source: str
    target: str
    kind: ConflictKind
    scopes: str


def stored_form(finding: Finding) -> Finding:
    """The finding as it is kept: the lower id is the source, and every part of it is turned along."""
    return finding.turned() if finding.source.intent_id > finding.target.intent_id else finding


def identity(finding: Finding) -> Identity:
    """The identity of a finding; the same from both sides."""
    kept = stored_form(finding)
    one, other = kept.source.scope, kept.target.scope
    by_scope = finding.kind is not ConflictKind.DUPLICATE_WORK and one and other
    scopes = "\n".join(sorted((one.precise, other.precise))) if by_scope and one and other else NO_SCOPE
    return Identity(kept.source.intent_id, kept.target.intent_id, finding.kind, scopes)


class Observation(NamedTuple):
    """How one look at a conflict is recorded. A settled one stays settled."""

    event: EventType
    is_new: bool
    previously_settled: bool


def observe(known: ConflictStatus | None) -> Observation:
    """The first look opens the conflict; each later one adds a detection and changes nothing else."""
    if known is None:
        return Observation(EventType.CONFLICT_DETECTED, True, False)
    return Observation(EventType.CONFLICT_REDETECTED, False, known.settled)


class Known(NamedTuple):
    """A stored conflict of an intent, as far as this needs it."""

    id: str
    identity: Identity
    status: ConflictStatus


def vanished(known: Iterable[Known], found: Iterable[Finding]) -> list[str]:
    """Unsettled conflicts that a new look did not find: to be dismissed after an intent changed its scopes.

    Claims are no part of such a look, so what they caused stays.
    """
    still = {identity(finding) for finding in found}
    return [
        one.id
        for one in known
        if not one.status.settled
        and one.identity.kind is not ConflictKind.OVERLAPPING_CLAIM
        and one.identity not in still
    ]
