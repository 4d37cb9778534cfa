"""Claim: announce with a lease, renew in place, hear who else holds the same; nobody is kept out."""

from collections.abc import Sequence

from activities.change import Change
from activities.foremerge.detection import keep_findings
from activities.foremerge.frame import finish_foremerge, owned_work, transitioned
from protocol.commands import Outcome
from protocol.events import EventType
from protocol.foremerge.claims import Claim, ClaimedWork, ClaimWorkInput
from protocol.foremerge.commands import ForemergeCommand
from protocol.foremerge.records import WorkRow
from protocol.foremerge.scopes import PlainScope
from protocol.ids import new_id
from rules.foremerge.advice import scope_warnings
from rules.foremerge.claims import ClaimStep, Held, plan_claim
from rules.foremerge.lifecycle import Step, after_claim, must_allow
from rules.foremerge.scopes import alias, fold_plain, operation_in_key, precise, require_no_operation
from storage.sql.foremerge import claims, work
from storage.sql.foremerge.claims import ClaimRow


async def claim(change: Change, command: ForemergeCommand, given: ClaimWorkInput) -> Outcome:
    """`claim_work`."""
    found = await owned_work(change, command, given.agent_id)
    must_allow(Step.CLAIM, found.id, found.status)
    for scope in given.scopes:
        if operation_in_key(scope.key):
            known = await work.declared_by_some(change.connection, change.project.id, precise(scope))
            require_no_operation(scope, known)
    scopes = fold_plain(given.scopes)
    held = await _held(change, scopes)
    plan = plan_claim(
        found.id,
        found.summary,
        scopes,
        [_facts(row, summary) for row, summary in held],
        given.lease_seconds,
        change.now,
    )
    before = {row.id: row for row, _ in held}
    made = [await _keep(change, found, step, before, given.reason) for step in plan.steps]
    warnings = await keep_findings(change, found.id, plan.overlaps)
    if after_claim(found.status) is not found.status:
        await transitioned(change, found, after_claim(found.status))
    answer = ClaimedWork(claims=made, warnings=warnings, scope_warnings=scope_warnings(scopes))
    return await finish_foremerge(change, command, answer)


async def _held(change: Change, scopes: Sequence[PlainScope]) -> list[tuple[ClaimRow, str]]:
    """Claims on these scopes' aliases that no event ended, each with its intent's summary."""
    aliases = sorted({alias(scope) for scope in scopes})
    rows = await claims.with_aliases(change.connection, change.project.id, aliases)
    works = await work.many(change.connection, sorted({row.intent_id for row in rows}))
    summaries = {one.id: one.summary for one in works}
    return [(row, summaries[row.intent_id]) for row in rows]


def _facts(row: ClaimRow, summary: str) -> Held:
    return Held(row.id, row.intent_id, summary, row.scope, False, row.lease_expires_at)


async def _keep(
    change: Change, found: WorkRow, step: ClaimStep, before: dict[str, ClaimRow], reason: str | None
) -> Claim:
    known = before.get(step.renews) if step.renews else None
    row = ClaimRow(
        id=known.id if known else new_id("clm"),
        agent_id=found.agent_id,
        intent_id=found.id,
        kind=step.scope.kind,
        key=step.scope.key,
        reason=reason,
        lease_expires_at=step.lease_expires_at,
        created_at=known.created_at if known else change.now,
        released_at=None,
    )
    await claims.keep(change.connection, change.project.id, row, precise(step.scope), alias(step.scope))
    shown = row.shown(change.now)
    change.emit(EventType.CLAIM_CREATED, "Claim", row.id, found.id, **shown.model_dump(mode="json"))
    return shown
