"""What the Foremerge face asks of the system: one method for each tool and each route, whichever door it came through.

Every method raises `protocol.refusals.Refused`, in words of either face (`in_foremerge_words` maps them at the edge);
any other exception is a defect and is answered as one.
"""

from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any, NamedTuple, Protocol, cast

from protocol.events import Event
from protocol.foremerge.agents import Agent, ListAgentsInput, RegisterAgentInput, RegisteredAgent
from protocol.foremerge.changesets import (
    AcceptInput,
    ChangeSet,
    GetChangeSetInput,
    PublishChangeSetInput,
    RecordCommitInput,
)
from protocol.foremerge.claims import ClaimedWork, ClaimWorkInput, ReleaseClaimsInput, ReleasedClaims
from protocol.foremerge.conflicts import (
    CheckConflictsInput,
    Conflict,
    ConflictDetection,
    ConflictReport,
    ResolveConflictInput,
)
from protocol.foremerge.intents import (
    AdoptWorkInput,
    Assessment,
    DiscardWorkInput,
    GetIntentInput,
    Intent,
    PublishedIntent,
    PublishIntentInput,
    RecordAssessmentInput,
    ShownIntent,
    StartWorkInput,
)
from protocol.foremerge.ledger import AuditQuery, ChainAudit, EventEnvelope, EventsQuery, Graph
from protocol.foremerge.messages import CoordinateInput, CoordinationMessage
from protocol.foremerge.operators import (
    Binding,
    BindingQuery,
    BindInput,
    CheckInferringInput,
    MessagesRead,
    PublishInferringInput,
    ReadMessagesInput,
    RunCommandInput,
)
from protocol.foremerge.queries import (
    AssessmentsQuery,
    AttemptsQuery,
    ConflictsQuery,
    DetectionsQuery,
    GraphQuery,
    InboxQuery,
)
from protocol.foremerge.validations import RunVerificationInput, Validation, ValidationAttempt
from protocol.foremerge.work import QueryWorkInput, StatusInput, StatusReport, WorkItem
from protocol.projects import Caller


class Visit(NamedTuple):
    """Who calls, about which project, and whether through the JSON API.

    `project` is an id or a slug; None stands for the only project the token names. `operator` is True for the JSON API
    and the command, where any registered agent may resolve; it is False for MCP, where only a party may.
    """

    caller: Caller
    project: str | None = None
    operator: bool = False

    @property
    def may_override(self) -> bool:
        """Whether the gate may be overridden: by a person, through the JSON API."""
        return self.operator and self.caller.is_person


class ForemergeSurface(Protocol):
    """The operations behind both doors. The agent that an input names must belong to the caller's person."""

    async def authenticate(self, raw_token: str) -> Caller:
        """Whose token this is; refuses `unauthenticated`."""
        ...

    async def register_agent(self, visit: Visit, given: RegisterAgentInput, /) -> RegisteredAgent: ...
    async def publish_intent(self, visit: Visit, given: PublishIntentInput, /) -> PublishedIntent: ...
    async def record_assessment(self, visit: Visit, given: RecordAssessmentInput, /) -> Assessment: ...
    async def claim_work(self, visit: Visit, given: ClaimWorkInput, /) -> ClaimedWork: ...
    async def start_work(self, visit: Visit, given: StartWorkInput, /) -> Intent: ...
    async def discard_work(self, visit: Visit, given: DiscardWorkInput, /) -> Intent: ...
    async def coordinate_with_agent(self, visit: Visit, given: CoordinateInput, /) -> CoordinationMessage: ...

    async def resolve_conflict(self, visit: Visit, given: ResolveConflictInput, /) -> Conflict:
        """Refuses FORBIDDEN unless `visit.operator`, or the agent owns one of the two intents."""
        ...

    async def publish_changeset(self, visit: Visit, given: PublishChangeSetInput, /) -> ChangeSet: ...

    async def run_verification(self, visit: Visit, given: RunVerificationInput, /) -> Validation:
        """Takes as long as the check does."""
        ...

    async def accept_changeset(self, visit: Visit, given: AcceptInput, /) -> ChangeSet:
        """Refuses FORBIDDEN an override unless `visit.may_override`."""
        ...

    async def record_commit(self, visit: Visit, given: RecordCommitInput, /) -> ChangeSet: ...

    async def query_work(self, visit: Visit, given: QueryWorkInput, /) -> list[WorkItem]: ...
    async def check_conflicts(self, visit: Visit, given: CheckConflictsInput, /) -> ConflictReport: ...
    async def list_agents(self, visit: Visit, given: ListAgentsInput, /) -> list[Agent]: ...
    async def get_intent(self, visit: Visit, given: GetIntentInput, /) -> ShownIntent: ...
    async def get_changeset(self, visit: Visit, given: GetChangeSetInput, /) -> ChangeSet: ...
    async def status(self, visit: Visit, given: StatusInput, /) -> StatusReport: ...

    async def inbox(self, visit: Visit, given: InboxQuery, /) -> list[CoordinationMessage]:
        """Oldest first."""
        ...

    async def assessments(self, visit: Visit, given: AssessmentsQuery, /) -> list[Assessment]:
        """Oldest first."""
        ...

    async def conflicts(self, visit: Visit, given: ConflictsQuery, /) -> list[Conflict]:
        """Newest first."""
        ...

    async def detections(self, visit: Visit, given: DetectionsQuery, /) -> list[ConflictDetection]:
        """Oldest first."""
        ...

    async def validation_attempts(self, visit: Visit, given: AttemptsQuery, /) -> list[ValidationAttempt]:
        """Newest first."""
        ...

    async def graph(self, visit: Visit, given: GraphQuery, /) -> Graph: ...

    async def events(self, visit: Visit, given: EventsQuery, /) -> list[EventEnvelope]:
        """At most `limit` events with a seq above `after_seq`, oldest first."""
        ...

    def live_events(self, visit: Visit, after_seq: int, /) -> AsyncIterator[Event]:
        """Every event after `after_seq`, as it is committed, without end; refuses at the first step."""
        ...

    async def audit(self, visit: Visit, given: AuditQuery, /) -> ChainAudit: ...

    async def publish_inferring(self, visit: Visit, given: PublishInferringInput, /) -> PublishedIntent: ...

    async def adopt_work(self, visit: Visit, given: AdoptWorkInput, /) -> Intent:
        """Refuses FORBIDDEN unless `visit.operator`."""
        ...

    async def release_claims(self, visit: Visit, given: ReleaseClaimsInput, /) -> ReleasedClaims:
        """Idempotent; refuses FORBIDDEN any other agent than the owner."""
        ...

    async def read_messages(self, visit: Visit, given: ReadMessagesInput, /) -> MessagesRead: ...
    async def check_inferring(self, visit: Visit, given: CheckInferringInput, /) -> ConflictReport: ...

    async def run_command(self, visit: Visit, given: RunCommandInput, /) -> Validation:
        """Refuses FORBIDDEN whoever is no owner. Takes as long as the command does."""
        ...

    async def binding(self, visit: Visit, given: BindingQuery, /) -> Binding: ...

    async def bind(self, visit: Visit, given: BindInput, /) -> Binding:
        """Refuses FORBIDDEN whoever is no owner."""
        ...


Operation = Callable[[Visit, Any], Awaitable[Any]]


def operation_of(surface: ForemergeSurface, name: str) -> Operation:
    """The method of `surface` that answers the tool or route operation `name`. AttributeError when there is none."""
    return cast(Operation, getattr(surface, name))
