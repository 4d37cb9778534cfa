"""Which step each status allows, and the refusal when it does not."""

from collections.abc import Mapping
from enum import StrEnum
from itertools import pairwise
from typing import NamedTuple

from protocol.events import EventType
from protocol.foremerge.words import ChangeSetStatus, IntentStatus
from rules.foremerge.refusing import forbidden, wrong_status

_I = IntentStatus


class Step(StrEnum):
    """What somebody wants to do to an intent."""

    CLAIM = "claim"
    START = "start"
    PUBLISH = "publish a ChangeSet for"
    DISCARD = "discard"
    ADOPT = "adopt"
    RELEASE = "give back claims of"


ALLOWED: Mapping[Step, frozenset[IntentStatus]] = {
    Step.CLAIM: frozenset({_I.INTENT, _I.CLAIMED, _I.IN_PROGRESS}),
    Step.START: frozenset({_I.CLAIMED}),
    Step.PUBLISH: frozenset({_I.CLAIMED, _I.IN_PROGRESS, _I.PROVISIONAL, _I.VALIDATED}),
    Step.DISCARD: frozenset({_I.INTENT, _I.CLAIMED, _I.IN_PROGRESS, _I.PROVISIONAL, _I.VALIDATED}),
    Step.ADOPT: frozenset({_I.INTENT, _I.CLAIMED, _I.IN_PROGRESS, _I.PROVISIONAL}),
    Step.RELEASE: frozenset(set(_I) - {_I.COMMITTED, _I.DISCARDED}),
}

_NEXT: Mapping[IntentStatus, str] = {
    _I.INTENT: "Claim its scopes with claim_work first.",
    _I.CLAIMED: "Begin with start_work.",
    _I.IN_PROGRESS: "Publish the finished work with publish_changeset.",
    _I.PROVISIONAL: "Run a check with run_verification, or publish the ChangeSet again.",
    _I.VALIDATED: "Take it through accept_changeset, or publish the ChangeSet again.",
    _I.ACCEPTED: "Land it with Git, then name the commit with record_commit.",
    _I.COMMITTED: "It has landed; publish a new intent for more work.",
    _I.DISCARDED: "It was given up; publish a new intent for this work.",
}


def must_allow(step: Step, intent_id: str, status: IntentStatus) -> None:
    """INVALID_TRANSITION unless an intent in `status` allows `step`."""
    if status not in ALLOWED[step]:
        raise wrong_status(f"Intent {intent_id} is {status}: you cannot {step} it now.", _NEXT[status])


def must_own(intent_id: str, owner_id: str, agent_id: str) -> None:
    """FORBIDDEN unless the agent owns the intent."""
    if owner_id != agent_id:
        raise forbidden(
            f"Intent {intent_id} belongs to agent {owner_id}.",
            "Act with the agent_id that published it, or write to its owner with coordinate_with_agent.",
        )


def after_claim(status: IntentStatus) -> IntentStatus:
    """The first claim makes an intent CLAIMED; later ones change nothing."""
    return _I.CLAIMED if status is _I.INTENT else status


class Move(NamedTuple):
    """One recorded move of an intent."""

    event: EventType
    before: IntentStatus
    after: IntentStatus


def publication_moves(status: IntentStatus) -> list[Move]:
    """What publishing a ChangeSet records of the intent: a way forward, or one revision back."""
    if status in (_I.PROVISIONAL, _I.VALIDATED):
        return [Move(EventType.CHANGESET_REVISED, status, _I.PROVISIONAL)]
    way = (_I.CLAIMED, _I.IN_PROGRESS, _I.PROVISIONAL)
    rest = way[way.index(status) :]
    return [Move(EventType.LIFECYCLE_TRANSITIONED, before, after) for before, after in pairwise(rest)]


VALIDATABLE = frozenset({ChangeSetStatus.PROVISIONAL, ChangeSetStatus.VALIDATED})


def must_be_validatable(changeset_id: str, status: ChangeSetStatus) -> None:
    """INVALID_TRANSITION unless the ChangeSet may be validated or accepted."""
    if status not in VALIDATABLE:
        raise wrong_status(f"ChangeSet {changeset_id} is {status}.", _changeset_next(status))


def must_be_landable(changeset_id: str, status: ChangeSetStatus) -> None:
    """INVALID_TRANSITION unless the ChangeSet was accepted and has not landed."""
    if status is not ChangeSetStatus.ACCEPTED:
        raise wrong_status(f"ChangeSet {changeset_id} is {status}.", _changeset_next(status))


def _changeset_next(status: ChangeSetStatus) -> str:
    return {
        ChangeSetStatus.PROVISIONAL: "Validate and accept it first.",
        ChangeSetStatus.VALIDATED: "Accept it first.",
        ChangeSetStatus.ACCEPTED: "Land it with Git, then call record_commit.",
        ChangeSetStatus.COMMITTED: "It has landed; nothing is left to do.",
        ChangeSetStatus.SUPERSEDED: "Read the intent with query_work and use its latest ChangeSet.",
    }[status]
