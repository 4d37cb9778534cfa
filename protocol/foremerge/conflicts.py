"""Conflicts: findings as shown and kept, checks, resolutions."""

from datetime import datetime
from typing import Annotated, Any, ClassVar, Self

from pydantic import Field, StringConstraints, model_validator

from protocol.foremerge.agents import AgentRef
from protocol.foremerge.scopes import DeclaredScopes, PlainScope
from protocol.foremerge.wire import ForemergeAnswer, ForemergeInput, Id, Text
from protocol.foremerge.words import ConflictKind, ConflictStatus, Severity

CHECK_POLICY = "Advisory while work is published or claimed; a HIGH conflict that nobody resolved keeps a ChangeSet from being accepted."


class Conflict(ForemergeAnswer):
    """One conflict: stored under a `cfl_` id, or a finding of a what-if check under an `eph_` id."""

    left_out: ClassVar[frozenset[str]] = frozenset({"previously_settled"})

    id: str
    kind: ConflictKind
    severity: Severity
    score: float
    source_intent_id: str | None
    target_intent_id: str
    scope: PlainScope | None
    explanation: str
    suggestion: str
    evidence: dict[str, Any]
    status: ConflictStatus = ConflictStatus.OPEN
    detected_at: datetime
    previously_settled: bool = False


class ConflictDetection(ForemergeAnswer):
    """One observation of a stored conflict; never changed."""

    id: str
    conflict_id: str
    severity: Severity
    score: float
    scope: PlainScope | None
    explanation: str
    suggestion: str
    evidence: dict[str, Any]
    previously_settled: bool
    detected_at: datetime


class OpenConflicts(ForemergeAnswer):
    """The open and coordinating conflicts of an intent, the newest first, as of an event."""

    count: int
    ids: list[str]
    as_of_event: int


class CheckConflictsInput(ForemergeInput):
    """`check_conflicts`: `intent_id` alone, `intent_id` with scopes, or `intent` text with scopes."""

    agent_id: Annotated[Id | None, Field(description="Your agent id; it is only noted.")] = None
    intent_id: Annotated[
        Id | None,
        Field(description="A published intent: alone for its stored conflicts, with scopes for a what-if."),
    ] = None
    intent: Annotated[
        Text | None,
        Field(
            description="Work not yet published, in words; never an id. Compared with its scopes as a what-if."
        ),
    ] = None
    scopes: DeclaredScopes = []

    @model_validator(mode="after")
    def _names_something(self) -> Self:
        if self.intent_id is None and self.intent is None:
            raise ValueError("give intent_id of a published intent, or intent as the text of work to come")
        return self


class ConflictReport(ForemergeAnswer):
    """`check_conflicts`: `ephemeral` findings are gone with this answer; equal `as_of_event` means equal state."""

    conflicts: list[Conflict]
    checked_intents: int
    blocking: bool
    policy: str = CHECK_POLICY
    ephemeral: bool
    as_of_event: int


class Resolution(ForemergeInput):
    """What was agreed; the body of `POST /v1/conflicts/{id}/resolve`."""

    agent_id: AgentRef
    resolution: Annotated[Text, Field(description="The outcome in a short sentence, such as: split scopes.")]
    rationale: Annotated[
        Text,
        Field(description="Why the two pieces of work may stand together; name the msg_ ids that agreed it."),
    ]


class ResolveConflictInput(Resolution):
    """`resolve_conflict`."""

    conflict_id: Annotated[
        str,
        StringConstraints(pattern="^cfl_", max_length=100),
        Field(description="A stored conflict (cfl_…); findings of a what-if have nothing to resolve."),
    ]
