"""Related work: other active intents that touch this one, and which of them still wait for a judgement."""

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import NamedTuple

from protocol.foremerge.intents import RelatedWork, ScopeMeeting
from protocol.foremerge.scopes import PlainScope
from protocol.foremerge.words import IntentStatus
from rules.foremerge.findings import Finding, detect
from rules.foremerge.overlap import Overlap, Tier, overlaps
from rules.foremerge.subjects import Subject

ASSESS_NEXT = "Call record_assessment once for each entry of related_work before you begin to edit."


class Neighbour(NamedTuple):
    """Another active intent, with what is shown of it."""

    subject: Subject
    agent_id: str
    agent: str
    task: str
    summary: str
    status: IntentStatus


class Compared(NamedTuple):
    """A neighbour that touches the intent: its findings, and its entry of related work."""

    findings: list[Finding]
    related: RelatedWork


def compare(own: Subject, neighbours: Iterable[Neighbour]) -> list[Compared]:
    """Every neighbour with a finding, in the order given."""
    found = []
    for other in neighbours:
        findings = detect(own, other.subject)
        if findings:
            found.append(Compared(findings, _entry(other, overlaps(own, other.subject))))
    return found


def in_order(compared: Iterable[Compared]) -> list[RelatedWork]:
    """The entries of related work: asserted ones first, then those with more overlaps, then by id."""
    entries = [one.related for one in compared]
    return sorted(entries, key=lambda entry: (not entry.asserted, -len(entry.overlap), entry.intent_id))


def _entry(other: Neighbour, met: Sequence[Overlap]) -> RelatedWork:
    asserted = any(overlap.asserted for overlap in met)
    return RelatedWork(
        intent_id=other.subject.intent_id,
        agent_id=other.agent_id,
        agent=other.agent,
        task=other.task,
        summary=other.summary,
        status=other.status,
        overlap=[_meeting(overlap) for overlap in met],
        why_surfaced=None if asserted else _why(met),
        asserted=asserted,
    )


def _meeting(overlap: Overlap) -> ScopeMeeting:
    return ScopeMeeting(
        scope=PlainScope(kind=overlap.source.claim.kind, key=overlap.source.claim.key),
        your_operation=overlap.source.claim.operation,
        their_operation=overlap.target.claim.operation,
        interaction=overlap.interaction,
        asserted=overlap.asserted,
    )


def _why(met: Sequence[Overlap]) -> str:
    if not met:
        return "The two summaries use similar wording; no scopes overlap."
    if any(overlap.tier is Tier.PRECISE for overlap in met):
        return "A scope is the same, but an operation was inferred from a summary rather than declared."
    return "Scopes are related by name only; they may be different things."


class Assessed(NamedTuple):
    """An assessment of another intent by the owner of this one."""

    related_intent_id: str
    at: datetime


def unassessed(related: Iterable[tuple[str, datetime]], assessments: Iterable[Assessed]) -> list[str]:
    """The related intents without an assessment as they stand: (id, when its scopes were last declared), in order.

    An assessment counts until the other intent declares other scopes.
    """
    latest: dict[str, datetime] = {}
    for one in assessments:
        latest[one.related_intent_id] = max(one.at, latest.get(one.related_intent_id, one.at))
    return [other for other, declared in related if other not in latest or latest[other] < declared]


def assessment_required(related: Iterable[tuple[str, datetime]], assessments: Iterable[Assessed]) -> bool:
    """True while some related intent waits for a judgement."""
    return bool(unassessed(related, assessments))
