"""ChangeSets: what was made, what it was compared with, how it was accepted and landed."""

from datetime import datetime
from typing import Annotated, Any, ClassVar

from pydantic import Field, StringConstraints
from pydantic.json_schema import SkipJsonSchema

from protocol.foremerge.agents import AgentRef
from protocol.foremerge.conflicts import OpenConflicts
from protocol.foremerge.intents import IntentRef
from protocol.foremerge.wire import MOST_ITEMS, ForemergeAnswer, ForemergeInput, Item, Line, PathText, Text
from protocol.foremerge.words import ChangeSetStatus, Verification

ChangeSetRef = Annotated[
    str,
    StringConstraints(min_length=1, max_length=100),
    Field(description="The ChangeSet's id (chg_…)."),
]
GitRef = Annotated[str, StringConstraints(min_length=1, max_length=300)]


class TestEvidence(ForemergeInput):
    """A test that the agent says it ran. Kept as history; acceptance never rests on it."""

    __test__: ClassVar[bool] = False  # pytest would take the name for a test class

    command: Annotated[Text, Field(description="The command that was run.")]
    status: Annotated[Line, Field(description="How it ended, such as passed.")]
    summary: Annotated[Text | None, Field(description="What it showed.")] = None


class DecisionInput(ForemergeInput):
    """A decision that the work embodies."""

    title: Annotated[Line, Field(description="The decision in a few words.")]
    rationale: Annotated[Text, Field(description="Why it was taken.")]
    alternatives: Annotated[list[Item], Field(max_length=50, description="What else was weighed.")] = []


class PublishChangeSetInput(ForemergeInput):
    """`publish_changeset`."""

    agent_id: AgentRef
    intent_id: IntentRef
    summary: Annotated[Text, Field(description="What the change does, in one sentence.")]
    files: Annotated[
        list[Item], Field(max_length=20_000, description="Changed files; left out, they are read from Git.")
    ] = []
    symbols: Annotated[
        list[Item],
        Field(max_length=MOST_ITEMS, description="Changed symbols; left out, read from the open edits."),
    ] = []
    contracts: Annotated[
        list[Item],
        Field(max_length=MOST_ITEMS, description="Contracts it sets or changes, by their agreed names."),
    ] = []
    dependencies: Annotated[
        list[Item],
        Field(max_length=100, description="Ids of intents that must be accepted and contained first."),
    ] = []
    tests: Annotated[list[TestEvidence], Field(max_length=100, description="Tests you ran yourself.")] = []
    decisions: Annotated[
        list[DecisionInput], Field(max_length=100, description="Decisions the work embodies.")
    ] = []
    provenance: Annotated[
        dict[str, Any], Field(description="Anything to keep about where the work came from, as an object.")
    ] = {}
    git_ref: Annotated[GitRef | None, Field(description="The candidate commit; HEAD when left out.")] = None
    base_ref: Annotated[
        GitRef | None,
        Field(description="The commit the candidate is compared with; its first parent when left out."),
    ] = None
    worktree: Annotated[
        PathText | None, Field(description="The worktree that holds it; yours as registered when left out.")
    ] = None


class ChangeSet(ForemergeAnswer):
    """A ChangeSet; `open_conflicts` comes with the answer of its publication."""

    left_out: ClassVar[frozenset[str]] = frozenset({"open_conflicts"})

    id: str
    agent_id: str
    task_id: str
    intent_id: str
    summary: str
    files: list[str] = []
    symbols: list[str] = []
    contracts: list[str] = []
    dependencies: list[str] = []
    tests: list[TestEvidence] = []
    decisions: list[DecisionInput] = []
    provenance: dict[str, Any] = {}
    base_ref: str | None = None
    git_ref: str | None = None
    accepted_commit: str | None = None
    integration_commit: str | None = None
    supersedes_changeset_id: str | None = None
    fingerprint: str
    status: ChangeSetStatus
    acceptance_verification: Verification | None = None
    acceptance_reason: str | None = None
    created_at: datetime
    updated_at: datetime
    open_conflicts: OpenConflicts | None = None


class GetChangeSetInput(ForemergeInput):
    """`get_changeset`."""

    id: ChangeSetRef


class Acceptance(ForemergeInput):
    """Body of `POST /v1/changesets/{id}/accept`: an operator may override, giving a reason."""

    git_ref: Annotated[
        GitRef | None, Field(description="The commit to accept; the recorded one when left out.")
    ] = None
    allow_high_conflicts: Annotated[
        bool, Field(description="Accept in spite of open HIGH conflicts; needs override_reason.")
    ] = False
    allow_unverified: Annotated[
        bool, Field(description="Accept without a passing validation; needs override_reason.")
    ] = False
    override_reason: Annotated[
        Text | None, Field(description="Why the gate is overridden; kept as a decision.")
    ] = None


class AcceptInput(Acceptance):
    """An acceptance with the ChangeSet it is of, as both doors ask for it; agents' calls never hold an override."""

    changeset_id: ChangeSetRef


class AcceptChangeSetInput(ForemergeInput):
    """`accept_changeset`. The overrides are read only so that they can be refused by name, never listed."""

    changeset_id: ChangeSetRef
    git_ref: Annotated[
        GitRef | None, Field(description="The commit to accept; the recorded one when left out.")
    ] = None
    allow_high_conflicts: SkipJsonSchema[Any] = None
    allow_unverified: SkipJsonSchema[Any] = None
    override_reason: SkipJsonSchema[Any] = None


class Landing(ForemergeInput):
    """Body of `POST /v1/changesets/{id}/commit`."""

    git_ref: Annotated[GitRef, Field(description="The commit with which the work landed.")]


class RecordCommitInput(Landing):
    """`record_commit`."""

    changeset_id: ChangeSetRef


class Decision(ForemergeAnswer):
    """A decision as kept: of a ChangeSet, of a resolution, or of an override."""

    id: str
    changeset_id: str | None = None
    intent_id: str
    title: str
    rationale: str
    alternatives: list[str] = []
    provenance: dict[str, Any] = {}
    created_at: datetime
