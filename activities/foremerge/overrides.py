"""What an operator lets pass at the gate, and what is kept of that."""

from activities.change import Change
from protocol.commands import Command
from protocol.events import EventType
from protocol.foremerge.changesets import AcceptChangeSetInput, AcceptInput, ChangeSet, Decision
from protocol.foremerge.words import ConflictStatus, Verification
from protocol.ids import new_id
from protocol.projects import Caller
from rules.foremerge.acceptance import NO_OVERRIDES, Accepted, Overrides, refuse_overrides
from storage.sql.foremerge import conflicts
from storage.sql.foremerge.words import add_decision


def overrides_of(given: AcceptInput, caller: Caller, by_person: bool = False) -> Overrides:
    """What the call asks to let pass. FORBIDDEN for anybody who is not a person, whichever door it came through."""
    if not caller.is_person:
        refuse_overrides(AcceptChangeSetInput(**given.model_dump()))
        return NO_OVERRIDES
    person = caller.person_name if by_person else None
    return Overrides(given.allow_high_conflicts, given.allow_unverified, given.override_reason or "", person)


async def keep_overrides(
    change: Change, command: Command, changeset: ChangeSet, overrides: Overrides, accepted: Accepted
) -> None:
    """A decision for what was overridden, if anything was; the conflicts among it are OVERRIDDEN."""
    unverified = overrides.unverified and accepted.verification is not Verification.VERIFIED
    if not unverified and not accepted.overridden:
        return
    reason = overrides.reason.strip()
    decision = Decision(
        id=new_id("dec"),
        changeset_id=changeset.id,
        intent_id=changeset.intent_id,
        title="override",
        rationale=reason,
        provenance={
            "person": command.caller.person_name,
            "person_id": command.caller.person_id,
            "verification": accepted.verification.value,
            "overridden_conflicts": list(accepted.overridden),
        },
        created_at=change.now,
    )
    await add_decision(change.connection, change.project.id, decision, agent_id=None)
    for conflict_id in accepted.overridden:
        await conflicts.set_status(change.connection, conflict_id, ConflictStatus.OVERRIDDEN)
    if accepted.overridden:
        change.emit(
            EventType.CONFLICT_OVERRIDDEN,
            "Intent",
            changeset.intent_id,
            changeset.intent_id,
            reason=reason,
            decision_id=decision.id,
            conflict_ids=list(accepted.overridden),
        )
