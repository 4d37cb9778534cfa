"""Release: claims are given back before their leases end, and nobody is told of them any more."""

from activities.change import Change
from activities.foremerge.frame import finish_foremerge, owned_work
from protocol.commands import Outcome
from protocol.events import EventType
from protocol.foremerge.claims import Claim, ReleaseClaimsInput, ReleasedClaims
from protocol.foremerge.commands import ForemergeCommand
from protocol.foremerge.words import ConflictKind
from rules.foremerge.agreements import after_discard
from rules.foremerge.claims import Held, given_back, plan_release
from rules.foremerge.lifecycle import Step, must_allow
from rules.foremerge.scopes import alias
from storage.sql.foremerge import claims, conflicts

_REASON = "The claim was given back."


async def release(change: Change, command: ForemergeCommand, given: ReleaseClaimsInput) -> Outcome:
    """`release_claims`; what was given back before is told as held by nobody, without an event."""
    found = await owned_work(change, command, given.agent_id)
    must_allow(Step.RELEASE, found.id, found.status)
    known = (await claims.of_intents(change.connection, [found.id]))[found.id]
    ended = plan_release(
        given.scopes,
        [
            Held(row.id, found.id, found.summary, row.scope, bool(row.released_at), row.lease_expires_at)
            for row in known
        ],
    )
    await claims.release_some(change.connection, ended, change.now)
    released, held = [], []
    for row in known:
        if row.id in ended:
            shown = row.model_copy(update={"released_at": change.now}).shown(change.now)
            change.emit(EventType.CLAIM_RELEASED, "Claim", row.id, found.id, **shown.model_dump(mode="json"))
            released.append(shown)
        elif row.released_at is None:
            held.append(row.shown(change.now))
    await _dismiss(change, found.id, released, held)
    return await finish_foremerge(change, command, ReleasedClaims(released=released, held=held))


async def _dismiss(change: Change, intent_id: str, released: list[Claim], held: list[Claim]) -> None:
    """Two who claimed the same do so no longer: that conflict is over, with an event for the other."""
    free = given_back([one.scope for one in released], [one.scope for one in held])
    for known in await conflicts.of_intents(change.connection, [intent_id]):
        conflict, key = known.conflict, known.key
        if conflict.kind is not ConflictKind.OVERLAPPING_CLAIM or conflict.scope is None:
            continue
        if alias(conflict.scope) not in free:
            continue
        await conflicts.set_status(change.connection, conflict.id, after_discard(conflict.status))
        other = key.target if key.source == intent_id else key.source
        change.emit(
            EventType.CONFLICT_DISMISSED, "Conflict", conflict.id, other, reason=_REASON, intent_id=intent_id
        )
