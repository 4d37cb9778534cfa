"""What the reads of the JSON API ask for, that no tool has."""

from typing import Annotated

from pydantic import Field

from protocol.foremerge.agents import AgentRef
from protocol.foremerge.changesets import ChangeSetRef
from protocol.foremerge.intents import IntentRef
from protocol.foremerge.wire import ForemergeInput, Id, Line


class InboxQuery(ForemergeInput):
    """`GET /v1/agents/{agent_id}/inbox`."""

    agent_id: AgentRef


class AssessmentsQuery(ForemergeInput):
    """`GET /v1/intents/{intent_id}/assessments`."""

    intent_id: IntentRef


class ConflictsQuery(ForemergeInput):
    """`GET /v1/conflicts`."""

    status: Annotated[
        Line | None, Field(description="Only conflicts in this status, such as OPEN, in whatever case.")
    ] = None


class DetectionsQuery(ForemergeInput):
    """`GET /v1/conflicts/{conflict_id}/detections`."""

    conflict_id: Annotated[Id, Field(description="The stored conflict's id (cfl_…).")]


class AttemptsQuery(ForemergeInput):
    """`GET /v1/changesets/{changeset_id}/validation-attempts`."""

    changeset_id: ChangeSetRef


class GraphQuery(ForemergeInput):
    """`GET /v1/graph`."""
