"""The ledger, its audit, the graph made of it, and its export."""

from datetime import datetime
from typing import Annotated, Any

from pydantic import Field

from protocol.events import Event
from protocol.foremerge.agents import Agent
from protocol.foremerge.changesets import ChangeSet
from protocol.foremerge.claims import Claim
from protocol.foremerge.conflicts import Conflict, ConflictDetection
from protocol.foremerge.intents import Assessment, Intent
from protocol.foremerge.messages import CoordinationMessage
from protocol.foremerge.validations import ValidationAttempt
from protocol.foremerge.wire import AuditPage, EventLimit, ForemergeAnswer, ForemergeInput
from protocol.wire import MOST_SEQ


class StreamQuery(ForemergeInput):
    """`GET /v1/events/stream`."""

    after_seq: Annotated[
        int, Field(ge=0, le=MOST_SEQ, description="The last event you have seen; 0 for the beginning.")
    ] = 0


class EventsQuery(StreamQuery):
    """`GET /v1/events`."""

    limit: EventLimit = 100


class AuditQuery(ForemergeInput):
    """`GET /v1/audit/event-chain`."""

    page_size: AuditPage = 1_000


class EventEnvelope(ForemergeAnswer):
    """One event as this face shows it: the record's own, without the field only gitring has."""

    seq: int
    event_id: str
    event_type: str
    entity_type: str
    entity_id: str
    agent_id: str | None
    payload: dict[str, Any]
    created_at: str
    prev_hash: str
    event_hash: str

    @classmethod
    def of(cls, event: Event) -> "EventEnvelope":
        """The envelope of a committed event."""
        return cls(**event.model_dump(include=set(cls.model_fields)))


class ChainAudit(ForemergeAnswer):
    """The answer of an audit: how many rows from the beginning follow from each other."""

    valid: bool
    events_verified: int
    last_seq: int | None = None
    head_hash: str | None = None


class GraphNode(ForemergeAnswer):
    """A node of the semantic graph; one per kind and key."""

    id: str
    kind: str
    key: str
    label: str
    data: dict[str, Any] = {}
    created_at: datetime


class GraphEdge(ForemergeAnswer):
    """An edge of the semantic graph; `from` and `to` are node ids."""

    id: str
    source: Annotated[str, Field(alias="from")]
    target: Annotated[str, Field(alias="to")]
    kind: str
    data: dict[str, Any] = {}
    created_at: datetime


class Graph(ForemergeAnswer):
    """`GET /v1/graph`."""

    nodes: list[GraphNode]
    edges: list[GraphEdge]


class LedgerExport(ForemergeAnswer):
    """Everything of one project's Foremerge record, as of one event: for a backup, or another tool."""

    format: int = 1
    project: str
    as_of_event: int
    exported_at: datetime
    agents: list[Agent]
    intents: list[Intent]
    claims: list[Claim]
    assessments: list[Assessment]
    conflicts: list[Conflict]
    detections: list[ConflictDetection]
    messages: list[CoordinationMessage]
    changesets: list[ChangeSet]
    validation_attempts: list[ValidationAttempt]
    events: list[EventEnvelope]
