"""Tasks, intents, assessments and related work."""

from datetime import datetime
from typing import Annotated, Any, ClassVar

from pydantic import Field, StringConstraints

from protocol.foremerge.agents import Agent, AgentRef
from protocol.foremerge.conflicts import Conflict, OpenConflicts
from protocol.foremerge.scopes import DeclaredScopes, PlainScope, ScopeClaim
from protocol.foremerge.wire import ForemergeAnswer, ForemergeInput, Item, Line, Text
from protocol.foremerge.words import (
    AssessmentAction,
    AssessmentVerdict,
    ConflictKind,
    IntentStatus,
    Operation,
)

IntentRef = Annotated[
    str,
    StringConstraints(min_length=1, max_length=100),
    Field(description="The intent's id (int_…)."),
]


class Task(ForemergeAnswer):
    """What several intents may serve; the same text is the same task."""

    id: str
    task_key: str
    title: str
    created_by_agent_id: str
    created_at: datetime


class PublishIntentInput(ForemergeInput):
    """`publish_intent`."""

    agent_id: AgentRef
    task: Annotated[Line, Field(description="The task this serves; intents with the same text share it.")]
    summary: Annotated[Text, Field(description="What you will do, in one sentence.")]
    rationale: Annotated[Text | None, Field(description="Why it is done this way.")] = None
    scopes: DeclaredScopes = []
    depends_on: Annotated[
        list[Item],
        Field(max_length=100, description="What this builds on, as ids or names; kept and shown only."),
    ] = []
    metadata: Annotated[
        dict[str, Any], Field(description="Anything else to keep with the intent, as an object.")
    ] = {}


class Intent(ForemergeAnswer):
    """An intent; `open_conflicts` comes with the answer of start_work."""

    left_out: ClassVar[frozenset[str]] = frozenset({"open_conflicts"})

    id: str
    agent_id: str
    task_id: str
    task: str
    summary: str
    rationale: str | None = None
    scopes: list[ScopeClaim] = []
    depends_on: list[str] = []
    metadata: dict[str, Any] = {}
    status: IntentStatus
    created_at: datetime
    updated_at: datetime
    open_conflicts: OpenConflicts | None = None


class ScopeMeeting(ForemergeAnswer):
    """One scope that two intents have in common, and how their operations interact."""

    scope: PlainScope
    your_operation: Operation
    their_operation: Operation
    interaction: ConflictKind
    asserted: bool


class RelatedWork(ForemergeAnswer):
    """Another active intent that touches this one."""

    left_out: ClassVar[frozenset[str]] = frozenset({"why_surfaced"})

    intent_id: str
    agent_id: str
    agent: str
    task: str
    summary: str
    status: IntentStatus
    overlap: list[ScopeMeeting]
    why_surfaced: str | None = None
    asserted: bool


class PublishedIntent(ForemergeAnswer):
    """`publish_intent`. `assessment_required`: some entry of `related_work` waits for record_assessment."""

    left_out: ClassVar[frozenset[str]] = frozenset({"related_work", "next", "warnings"})

    intent: Intent
    conflicts: list[Conflict]
    related_work: list[RelatedWork] = []
    assessment_required: bool
    next: str | None = None
    warnings: list[str] = []


class GetIntentInput(ForemergeInput):
    """`get_intent`."""

    id: IntentRef


class ShownIntent(ForemergeAnswer):
    """`get_intent`. `unassessed`: related intents that the owner has not assessed as they stand now."""

    left_out: ClassVar[frozenset[str]] = frozenset({"unassessed"})

    intent: Intent
    agent: Agent
    open_conflicts: list[Conflict]
    as_of_event: int
    unassessed: list[str] = []


class StartWorkInput(ForemergeInput):
    """`start_work`."""

    agent_id: AgentRef
    intent_id: IntentRef


class DiscardWorkInput(StartWorkInput):
    """`discard_work`."""

    reason: Annotated[Text, Field(description="Why the work is given up; kept for whoever waited for it.")]


class AdoptWorkInput(StartWorkInput):
    """`work adopt` of the command: take over what a silent agent left."""

    reason: Annotated[Text, Field(description="Why the work changes hands.")]


class RecordAssessmentInput(StartWorkInput):
    """`record_assessment`."""

    related_intent_id: Annotated[IntentRef, Field(description="The other intent, from related_work.")]
    verdict: Annotated[AssessmentVerdict, Field(description="How the two stand to each other.")]
    rationale: Annotated[Text, Field(description="What makes it so, for a later reader.")]
    action: Annotated[AssessmentAction, Field(description="What you do about it.")]


class Assessment(ForemergeAnswer):
    """What an agent decided about two intents that touch each other."""

    id: str
    agent_id: str
    intent_id: str
    related_intent_id: str
    verdict: AssessmentVerdict
    rationale: str
    action: AssessmentAction
    created_at: datetime
