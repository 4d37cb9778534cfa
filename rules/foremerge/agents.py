"""Agents that fell silent, work they left, and taking it over."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import NamedTuple

from protocol.foremerge.words import IntentStatus
from rules.foremerge.lifecycle import Step, must_allow
from rules.foremerge.refusing import bad_input, filled, forbidden

STALE_AFTER = timedelta(seconds=7_200)
_CAN_STRAND = frozenset({IntentStatus.CLAIMED, IntentStatus.IN_PROGRESS, IntentStatus.PROVISIONAL})


class AgentFacts(NamedTuple):
    """What these rules need to know of an agent."""

    id: str
    name: str
    worktree: str | None
    last_seen_at: datetime


def is_stale(agent: AgentFacts, now: datetime) -> bool:
    """True after two hours without a call of its own."""
    return now - agent.last_seen_at > STALE_AFTER


def is_stranded(status: IntentStatus, owner: AgentFacts, live_claims: int, now: datetime) -> bool:
    """Work under way whose owner is silent and holds no running claim."""
    return status in _CAN_STRAND and live_claims == 0 and is_stale(owner, now)


def twins_warning(name: str, worktree: str | None, known: Sequence[AgentFacts]) -> list[str]:
    """A word about earlier agents of the same name and worktree, perhaps this very session before it ended."""
    same = [agent.id for agent in known if (agent.name, agent.worktree) == (name, worktree)]
    if not same:
        return []
    return [
        f"Agents of this name registered this worktree before: {', '.join(same[-10:])}. If their work is yours, "
        "take it over with `foremerge work adopt`."
    ]


def must_adopt(
    intent_id: str,
    status: IntentStatus,
    owner: AgentFacts,
    adopter_id: str,
    live_claims: int,
    reason: str,
    now: datetime,
) -> str:
    """The reason, trimmed, when the intent may change hands; else a refusal."""
    why = filled(reason, "reason")
    if owner.id == adopter_id:
        raise bad_input(f"Intent {intent_id} is yours already.", "Go on with it.")
    must_allow(Step.ADOPT, intent_id, status)
    if live_claims:
        raise forbidden(
            f"Intent {intent_id} still has {live_claims} running claim{'s' if live_claims > 1 else ''}.",
            f"Wait until the lease ends, or write to {owner.id} with coordinate_with_agent.",
        )
    if not is_stale(owner, now):
        raise forbidden(
            f"Agent {owner.id} was seen in the last two hours.",
            "Write to it with coordinate_with_agent; it can discard the work.",
        )
    return why
