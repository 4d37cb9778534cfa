"""Whom an intent has something to settle with, kept in the record: conflicts, detections, and the events of both.

Neighbours come from an index, never from a look at all live work. Pairs of two gitring intents are no matter of this
face; of every other pair, a gitring side hears by a notice that blocks nothing.
"""

from collections.abc import Sequence
from typing import Any

from activities.change import Change
from protocol.events import EventType
from protocol.foremerge.conflicts import Conflict, ConflictDetection
from protocol.foremerge.records import WorkRow
from protocol.foremerge.words import ConflictStatus
from protocol.ids import new_id
from rules.foremerge.checks import shown
from rules.foremerge.findings import Finding
from rules.foremerge.identity import Identity, Known, identity, observe, stored_form, vanished
from rules.foremerge.notices import meeting_notice
from rules.foremerge.related import Compared, compare
from rules.foremerge.stored import lookup_of, neighbours_of
from rules.foremerge.subjects import Subject
from storage.sql import intents
from storage.sql.foremerge import agents, conflicts, work
from storage.sql.foremerge.conflicts import Key


async def compared_with(change: Change, own: Subject, *, only_external: bool) -> list[Compared]:
    """Every active intent that touches `own`, the oldest first; with `only_external`, of this face alone."""
    near = await work.near(change.connection, change.project.id, own.intent_id, lookup_of(own))
    others = [one for one in near if not (only_external and one.of_gitring)]
    scopes = await work.scopes_of(change.connection, [one.id for one in others])
    known = await agents.many(change.connection, sorted({one.agent_id for one in others}))
    return compare(own, neighbours_of(others, scopes, known))


async def keep_findings(change: Change, own_id: str, found: Sequence[Finding]) -> list[Conflict]:
    """Record each finding, in order: a new conflict or one more look at a known one, with its event."""
    return [await _keep(change, own_id, stored_form(finding)) for finding in found]


async def _keep(change: Change, own_id: str, finding: Finding) -> Conflict:
    key = Key(*identity(finding))
    known = await conflicts.find(change.connection, key)
    seen = observe(known.status if known else None)
    latest = shown(finding, new_id("cfl"), change.now)
    if known is None:
        await conflicts.add(change.connection, change.project.id, latest, key)
        conflict = latest
    else:
        conflict = known.model_copy(update={"previously_settled": seen.previously_settled})
    detection = ConflictDetection(
        id=new_id("dtn"),
        conflict_id=conflict.id,
        severity=latest.severity,
        score=latest.score,
        scope=latest.scope,
        explanation=latest.explanation,
        suggestion=latest.suggestion,
        evidence=latest.evidence,
        previously_settled=seen.previously_settled,
        detected_at=change.now,
    )
    await conflicts.add_detection(change.connection, detection)
    change.emit(
        EventType(seen.event),
        "Conflict",
        conflict.id,
        key.target if key.source == own_id else key.source,
        conflict=_plain(conflict),
        detection=_plain(detection),
    )
    return conflict


def _plain(model: Conflict | ConflictDetection) -> dict[str, Any]:
    return model.model_dump(mode="json")


async def tell_gitring(change: Change, own: WorkRow, pairs: Sequence[Compared]) -> None:
    """A notice for the gitring side of each pair that has its first conflict now.

    `own` is one of each pair; where it is gitring's own intent, it hears of each of them.
    """
    others = [pair.findings[0].target.intent_id for pair in pairs]
    rows = await intents.many(change.connection, [own.id, *others])
    for pair, other in zip(pairs, others, strict=True):
        hears, of = (own.id, other) if own.of_gitring else (other, own.id)
        if rows[hears].landing == "external":
            continue
        if await conflicts.is_between(change.connection, own.id, other, change.now):
            continue
        reason, todo = meeting_notice(rows[of], pair.findings)
        await change.ask(rows[hears], kind="notice", reason=reason, todo=todo, blocking=False, about_id=of)


async def dismiss_vanished(change: Change, intent_id: str, found: Sequence[Finding]) -> None:
    """After an intent changed its scopes: what a new look did not find any more is dismissed."""
    known = await conflicts.of_intents(change.connection, [intent_id])
    gone = set(
        vanished([Known(one.conflict.id, Identity(*one.key), one.conflict.status) for one in known], found)
    )
    for one in known:
        if one.conflict.id in gone:
            other = one.key.target if one.key.source == intent_id else one.key.source
            await conflicts.set_status(change.connection, one.conflict.id, ConflictStatus.DISMISSED)
            change.emit(
                EventType.CONFLICT_DISMISSED,
                "Conflict",
                one.conflict.id,
                other,
                reason="the intent declares other scopes now",
                intent_id=intent_id,
            )
