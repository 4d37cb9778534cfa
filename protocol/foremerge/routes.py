"""The JSON API of this face as a table: method, path, what goes in, which operation answers."""

from typing import Annotated, NamedTuple

from pydantic import BaseModel, Field

from protocol.foremerge.agents import RegisterAgentInput
from protocol.foremerge.changesets import Acceptance, Landing, PublishChangeSetInput
from protocol.foremerge.claims import ClaimWorkInput
from protocol.foremerge.conflicts import CheckConflictsInput, Resolution
from protocol.foremerge.intents import PublishIntentInput, RecordAssessmentInput
from protocol.foremerge.ledger import AuditQuery, EventsQuery
from protocol.foremerge.messages import CoordinateInput
from protocol.foremerge.validations import ValidationRequest
from protocol.foremerge.wire import ForemergeInput


class AgentOnly(ForemergeInput):
    """Body of `POST /v1/work/{intent_id}/start`."""

    agent_id: Annotated[str, Field(description="Your agent id.")]


class DiscardBody(AgentOnly):
    """Body of `POST /v1/work/{intent_id}/discard`."""

    reason: Annotated[str, Field(description="Why the work is given up.")]


class Route(NamedTuple):
    """One route; `public` ones need no token. The input of a GET is its query."""

    method: str
    path: str
    operation: str
    input: type[BaseModel] | None = None
    public: bool = False


ROUTES = (
    Route("GET", "/healthz", "alive", public=True),
    Route("GET", "/readyz", "ready", public=True),
    Route("GET", "/v1/audit/event-chain", "audit", AuditQuery),
    Route("GET", "/v1/events", "events", EventsQuery),
    Route("GET", "/v1/graph", "graph"),
    Route("GET", "/v1/status", "status"),
    Route("GET", "/v1/work", "query_work"),
    Route("POST", "/v1/work/{intent_id}/start", "start_work", AgentOnly),
    Route("POST", "/v1/work/{intent_id}/discard", "discard_work", DiscardBody),
    Route("POST", "/v1/agents/register", "register_agent", RegisterAgentInput),
    Route("GET", "/v1/agents", "list_agents"),
    Route("GET", "/v1/agents/{agent_id}/inbox", "inbox"),
    Route("POST", "/v1/intents", "publish_intent", PublishIntentInput),
    Route("GET", "/v1/intents/{intent_id}", "get_intent"),
    Route("GET", "/v1/intents/{intent_id}/assessments", "assessments"),
    Route("POST", "/v1/assessments", "record_assessment", RecordAssessmentInput),
    Route("POST", "/v1/claims", "claim_work", ClaimWorkInput),
    Route("GET", "/v1/conflicts", "conflicts"),
    Route("POST", "/v1/conflicts/check", "check_conflicts", CheckConflictsInput),
    Route("GET", "/v1/conflicts/{conflict_id}/detections", "detections"),
    Route("POST", "/v1/conflicts/{conflict_id}/resolve", "resolve_conflict", Resolution),
    Route("POST", "/v1/changesets", "publish_changeset", PublishChangeSetInput),
    Route("GET", "/v1/changesets/{changeset_id}", "get_changeset"),
    Route("GET", "/v1/changesets/{changeset_id}/validation-attempts", "validation_attempts"),
    Route("POST", "/v1/changesets/{changeset_id}/validate", "run_verification", ValidationRequest),
    Route("POST", "/v1/changesets/{changeset_id}/accept", "accept_changeset", Acceptance),
    Route("POST", "/v1/changesets/{changeset_id}/commit", "record_commit", Landing),
    Route("POST", "/v1/coordinate", "coordinate_with_agent", CoordinateInput),
)
