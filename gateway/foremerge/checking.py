"""`check_conflicts`: what is stored of an intent, or a comparison that keeps nothing."""

from collections.abc import Sequence
from datetime import datetime

import asyncpg

from protocol.foremerge.conflicts import CheckConflictsInput, ConflictReport
from protocol.foremerge.scopes import Scope
from protocol.ids import new_id
from protocol.records import ProjectRow
from rules.foremerge.checks import CheckKind, check_kind, stored_report, what_if
from rules.foremerge.faces import declared_by_foremerge
from rules.foremerge.prose import inferred
from rules.foremerge.refusing import filled
from rules.foremerge.scopes import fold_declared, scope_of
from rules.foremerge.stored import lookup_of, must_be_there, subject_of
from rules.foremerge.subjects import Subject, subject
from storage.sql import events
from storage.sql.foremerge import conflicts, work


async def check(
    connection: asyncpg.Connection,
    project: ProjectRow,
    given: CheckConflictsInput,
    now: datetime,
    undeclared: Sequence[Scope] = (),
) -> ConflictReport:
    """The report, and as of which event it is, from one snapshot; `undeclared` scopes take what the words mean."""
    kind = check_kind(given)
    if kind is CheckKind.STORED and undeclared:
        kind = CheckKind.OTHER_SCOPES
    as_of = await events.last_seq(connection, project.id)
    summary, own_id = given.intent or "", ""
    if given.intent_id is not None:
        found = must_be_there(await work.get(connection, given.intent_id), given.intent_id, project.id)
        summary, own_id = found.summary, found.id
    checked = await work.live_count(connection, project.id, own_id or None)
    if kind is CheckKind.STORED:
        known = await conflicts.of_intents(connection, [own_id])
        return stored_report([one.conflict for one in known], checked, as_of)
    read = [inferred(scope_of(one.kind, one.key), summary) for one in undeclared]
    scopes = declared_by_foremerge(fold_declared([*given.scopes, *read]))
    asked = subject(own_id, filled(summary, "intent"), scopes)
    others = await _near(connection, project.id, asked)
    report = what_if(asked, others, lambda: new_id("eph"), now, as_of)
    return report.model_copy(update={"checked_intents": checked})


async def _near(connection: asyncpg.Connection, project_id: str, asked: Subject) -> list[Subject]:
    """The active intents that can have anything in common with the work; all others have nothing to show."""
    near = await work.near(connection, project_id, asked.intent_id, lookup_of(asked))
    scopes = await work.scopes_of(connection, [one.id for one in near])
    return [subject_of(one, scopes[one.id]) for one in near]
