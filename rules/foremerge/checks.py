"""Conflict checks: which of the three kinds a call asks for, and the report it gets.

Ids and times come from the caller: a what-if makes new `eph_` ids at every call and keeps none of them.
"""

import re
from collections.abc import Callable, Iterable, Sequence
from datetime import datetime
from enum import Enum, auto

from protocol.foremerge.conflicts import CheckConflictsInput, Conflict, ConflictReport
from protocol.foremerge.scopes import PlainScope
from protocol.foremerge.words import ConflictStatus, Severity
from protocol.ids import ULID_PATTERN
from rules.foremerge.findings import Finding, Side, detect, evidence
from rules.foremerge.identity import stored_form
from rules.foremerge.refusing import bad_input, filled, missing
from rules.foremerge.subjects import Subject
from rules.foremerge.texts import explanation, suggestion

EPHEMERAL = "eph_"
_INTENT_ID = re.compile(f"int_(?:[0-9a-f]{{32}}|{ULID_PATTERN})", re.I)


class CheckKind(Enum):
    """What a check compares."""

    STORED = auto()
    OTHER_SCOPES = auto()
    UNPUBLISHED = auto()


def is_intent_id(text: str) -> bool:
    """True for `int_` and 32 hexadecimal digits, or a ULID, in either case."""
    return _INTENT_ID.fullmatch(text.strip()) is not None


def check_kind(asked: CheckConflictsInput) -> CheckKind:
    """Which check a call asks for. An id given as text is refused: compared as prose it would find nothing."""
    if asked.intent is not None and is_intent_id(asked.intent):
        raise bad_input(
            f"{asked.intent.strip()} is an id, and intent takes a description.",
            "Send the id as intent_id (in the command: --intent-id).",
        )
    if asked.intent_id is not None:
        return CheckKind.OTHER_SCOPES if asked.scopes else CheckKind.STORED
    filled(asked.intent or "", "intent")
    return CheckKind.UNPUBLISHED


def shown(
    finding: Finding,
    conflict_id: str,
    now: datetime,
    status: ConflictStatus = ConflictStatus.OPEN,
    previously_settled: bool = False,
) -> Conflict:
    """A finding as answers show it, from the side it is seen from; keep it with `stored_form` first."""
    ephemeral = conflict_id.startswith(EPHEMERAL)
    return Conflict(
        id=conflict_id,
        kind=finding.kind,
        severity=finding.severity,
        score=finding.score,
        source_intent_id=finding.source.intent_id or None,
        target_intent_id=finding.target.intent_id,
        scope=_scope(finding.source),
        explanation=explanation(finding),
        suggestion=suggestion(finding),
        evidence=evidence(finding, ephemeral),
        status=status,
        detected_at=now,
        previously_settled=previously_settled,
    )


def _scope(side: Side) -> PlainScope | None:
    return PlainScope(kind=side.scope.claim.kind, key=side.scope.claim.key) if side.scope else None


def what_if(
    asked: Subject,
    others: Sequence[Subject],
    new_id: Callable[[], str],
    now: datetime,
    as_of_event: int,
) -> ConflictReport:
    """Compare work with every other active intent, keeping nothing. `new_id` makes a fresh `eph_` id."""
    against = [other for other in others if other.intent_id != asked.intent_id]
    found = [shown(finding, new_id(), now) for other in against for finding in detect(asked, other)]
    return _report(found, len(against), as_of_event, ephemeral=True)


def stored_report(conflicts: Iterable[Conflict], checked: int, as_of_event: int) -> ConflictReport:
    """The stored conflicts that are open or coordinating, the newest first."""
    unsettled = [conflict for conflict in conflicts if not conflict.status.settled]
    by_id = sorted(unsettled, key=lambda conflict: conflict.id)
    newest = sorted(by_id, key=lambda conflict: conflict.detected_at, reverse=True)
    return _report(newest, checked, as_of_event, ephemeral=False)


def _report(found: list[Conflict], checked: int, as_of_event: int, ephemeral: bool) -> ConflictReport:
    return ConflictReport(
        conflicts=found,
        checked_intents=checked,
        blocking=any(conflict.severity is Severity.HIGH for conflict in found),
        ephemeral=ephemeral,
        as_of_event=as_of_event,
    )


def must_be_stored(conflict_id: str) -> None:
    """NOT_FOUND for an `eph_` id: nothing of a what-if is kept, so nothing can be said or decided about it."""
    if conflict_id.startswith(EPHEMERAL):
        raise missing(
            f"stored conflict {conflict_id[:60]}; it came from a what-if check",
            "Publish the intent, and use the cfl_ ids of its conflicts.",
        )


def to_keep(found: Iterable[Finding]) -> list[Finding]:
    """Findings in the form in which they are stored, in the order in which they were made."""
    return [stored_form(finding) for finding in found]
