"""Giving work up and taking it over: what each makes of claims, conflicts and whoever waited."""

from activities.change import Change
from activities.foremerge.frame import actor_of, ended, finish_foremerge, owned_work, set_status, work_of
from protocol.commands import Outcome
from protocol.events import EventType
from protocol.foremerge.commands import ForemergeCommand
from protocol.foremerge.intents import AdoptWorkInput, DiscardWorkInput, Intent
from protocol.foremerge.records import AgentRow, WorkRow
from protocol.foremerge.words import IntentStatus
from protocol.refusals import refused
from rules.foremerge.agents import AgentFacts, must_adopt
from rules.foremerge.agreements import after_discard
from rules.foremerge.lifecycle import Step, must_allow
from rules.foremerge.refusing import filled, forbidden, lost_race
from rules.foremerge.stored import shown_intent
from storage.sql.foremerge import agents, claims, conflicts, work


async def discard(change: Change, command: ForemergeCommand, given: DiscardWorkInput) -> Outcome:
    """`discard_work`."""
    reason = filled(given.reason, "reason")
    found = await owned_work(change, command, given.agent_id)
    must_allow(Step.DISCARD, found.id, found.status)
    moved = await give_up(change, found, reason)
    return await finish_foremerge(change, command, await _shown(change, moved))


async def give_up(change: Change, found: WorkRow, reason: str) -> WorkRow:
    """DISCARDED, with the reason; its unsettled conflicts are dismissed, so that the other party is free."""
    change.emit(
        EventType.WORK_DISCARDED,
        "Intent",
        found.id,
        found.id,
        **{"from": found.status.value},
        to=IntentStatus.DISCARDED.value,
        reason=reason,
    )
    moved = await set_status(change, found, IntentStatus.DISCARDED, reason=reason)
    await dismiss_of(change, found.id, reason)
    await ended(change, found.id)
    return moved


async def withdraw_external(change: Change, intent_id: str, reason: str | None) -> None:
    """Gitring's withdraw of an intent of this face: given up in both; refused once it was accepted."""
    found = await work_of(change, intent_id)
    if not found.status.active:
        raise refused(
            "wrong_state",
            f"Intent #{found.number} is {found.status} in Foremerge: its work is about to land.",
            "Record the landing commit there, or revert it with a new intent.",
        )
    await give_up(change, found, reason or "withdrawn in gitring")


async def dismiss_of(change: Change, intent_id: str, reason: str) -> None:
    """Dismiss what was not settled of an intent that was given up, with an event for each other party."""
    for known in await conflicts.of_intents(change.connection, [intent_id]):
        conflict = known.conflict
        other = known.key.target if known.key.source == intent_id else known.key.source
        await conflicts.set_status(change.connection, conflict.id, after_discard(conflict.status))
        change.emit(
            EventType.CONFLICT_DISMISSED,
            "Conflict",
            conflict.id,
            other,
            reason=reason,
            intent_id=intent_id,
        )


async def adopt(change: Change, command: ForemergeCommand, given: AdoptWorkInput) -> Outcome:
    """`work adopt`: an intent whose agent fell silent changes hands, and its old claims end."""
    adopter = await actor_of(change, command, given.agent_id)
    found = await work_of(change, command.intent_id)
    owner = await agents.get(change.connection, found.agent_id)
    if owner is None or owner.of_gitring:
        raise forbidden(
            f"Intent {found.id} was declared with gitring's own tools.",
            "Its person withdraws it there; publish an intent of your own for the work.",
        )
    live = await claims.running(change.connection, found.id, change.now)
    facts = AgentFacts(owner.id, owner.name, owner.worktree, owner.last_seen_at)
    reason = must_adopt(found.id, found.status, facts, adopter.id, live, given.reason, change.now)
    await claims.release(change.connection, found.id, change.now)
    await _hand_over(change, found, adopter)
    change.emit(
        EventType.INTENT_ADOPTED,
        "Intent",
        found.id,
        found.id,
        previous_agent_id=owner.id,
        adopted_by_agent_id=adopter.id,
        reason=reason,
    )
    return await finish_foremerge(change, command, await _shown(change, await work_of(change, found.id)))


async def _hand_over(change: Change, found: WorkRow, adopter: AgentRow) -> None:
    if not await work.adopt(change.connection, found.id, adopter, found.version, change.now):
        raise lost_race(f"Intent {found.id} was changed by somebody else at this moment.")


async def _shown(change: Change, found: WorkRow) -> Intent:
    scopes = await work.scopes_of(change.connection, [found.id])
    return shown_intent(found, scopes[found.id])
