"""Whom an intent waits for, and when an agent may stop polling; from the record alone."""

from collections.abc import Sequence

from protocol.records import IntentRow, RequestRow
from protocol.states import State, WaitsFor

STOP_POLLING_AFTER_WAITS = 3

_BY_STATE = {
    State.ACTIVE: WaitsFor.YOU,
    State.PLAN_REVIEW: WaitsFor.PERSON,
    State.HELD: WaitsFor.OTHER_INTENT,
    State.VERIFYING: WaitsFor.CHECKS,
    State.AWAITING_APPROVAL: WaitsFor.PERSON,
    State.QUEUED: WaitsFor.MERGE,
    State.MERGED: WaitsFor.NOTHING,
    State.WITHDRAWN: WaitsFor.NOTHING,
}


def waiting_for(intent: IntentRow, requests: Sequence[RequestRow]) -> WaitsFor:
    """Whom `intent` waits for. A plan that was sent back waits for its agent, not for the person."""
    if intent.state is State.PLAN_REVIEW and any(r.kind == "plan" and r.blocking for r in requests):
        return WaitsFor.YOU
    if intent.landing == "external" and not intent.state.final:
        return WaitsFor.YOU  # no queue or check of ours is under way for it
    return _BY_STATE[intent.state]


def can_stop(waits_for: WaitsFor, quiet_sec: float, asked_sec: float) -> bool:
    """True when nothing waits on the agent and `quiet_sec` holds three waits of the asked length.

    A final intent can always be left: no further wait will ever bring news.
    """
    if waits_for is WaitsFor.NOTHING:
        return True
    return (
        waits_for is not WaitsFor.YOU and asked_sec > 0 and quiet_sec >= STOP_POLLING_AFTER_WAITS * asked_sec
    )
