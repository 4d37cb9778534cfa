"""The ledger's envelope and the names of events. Stored shape: fields are added, never renamed."""

import hashlib
import json
from enum import StrEnum
from typing import Any

from pydantic import BaseModel, ConfigDict

from protocol.wire import Answer

GENESIS = "GENESIS"
SCHEMA_VERSION = 1


class EventType(StrEnum):
    """What happened, `<entity>.<past tense>`; the end of the NATS subject, dots and all."""

    PROJECT_CREATED = "project.created"
    SETTINGS_CHANGED = "project.settings_changed"
    TOKEN_CREATED = "token.created"
    TOKEN_REVOKED = "token.revoked"
    MEMBER_ADDED = "member.added"
    MEMBER_ROLE_CHANGED = "member.role_changed"
    MEMBER_REMOVED = "member.removed"
    ASK_OPENED = "ask.opened"
    ASK_DECLARED = "ask.declared"
    ASK_CLOSED = "ask.closed"
    INTENT_DECLARED = "intent.declared"
    INTENT_STATE_CHANGED = "intent.state_changed"
    PLAN_CHANGED = "intent.plan_changed"
    RISK_CHANGED = "intent.risk_changed"
    INTENT_PUSHED = "intent.pushed"
    INTENT_SUBMITTED = "intent.submitted"
    CONFLICT_OPENED = "conflict.opened"
    CONFLICT_CHANGED = "conflict.changed"
    CONFLICT_ENDED = "conflict.ended"
    CHANGE_REQUEST_OPENED = "change_request.opened"
    CHANGE_REQUEST_CLOSED = "change_request.closed"
    DECISION_RECORDED = "decision.recorded"
    CHECK_STARTED = "check.started"
    CHECK_FINISHED = "check.finished"
    CHECK_FLAKY = "check.flaky"
    BASE_MOVED = "base.moved"
    LINE_CREATED = "line.created"
    LINE_MOVED = "line.moved"
    LINE_PAUSED = "line.paused"
    LINE_RESUMED = "line.resumed"
    LINE_DRAINING = "line.draining"
    CLAIM_RESERVED = "claim.reserved"
    SERIES_CREATED = "series.created"
    WATCH_RAISED = "watch.raised"
    WATCH_CLEARED = "watch.cleared"
    # Of the Foremerge face.
    AGENT_REGISTERED = "agent.registered"
    INTENT_PUBLISHED = "intent.published"
    INTENT_ASSESSED = "intent.assessed"
    INTENT_ADOPTED = "intent.adopted"
    LIFECYCLE_TRANSITIONED = "lifecycle.transitioned"
    VALIDATION_INVALIDATED = "validation.invalidated"
    CONFLICT_OVERRIDDEN = "conflict.overridden"
    WORK_DISCARDED = "work.discarded"
    CLAIM_CREATED = "claim.created"
    CLAIM_RELEASED = "claim.released"
    CONFLICT_DETECTED = "conflict.detected"
    CONFLICT_REDETECTED = "conflict.redetected"
    CONFLICT_RESOLVED = "conflict.resolved"
    CONFLICT_DISMISSED = "conflict.dismissed"
    CHANGESET_PUBLISHED = "changeset.published"
    CHANGESET_REVISED = "changeset.revised"
    CHANGESET_ACCEPTED = "changeset.accepted"
    CHANGESET_COMMITTED = "changeset.committed"
    VALIDATION_COMPLETED = "validation.completed"
    VALIDATION_STALE = "validation.stale"
    COORDINATION_SENT = "coordination.sent"


class NewEvent(BaseModel):
    """An event before it has a place in the ledger."""

    model_config = ConfigDict(frozen=True)

    event_type: EventType
    entity_type: str
    entity_id: str
    intent_id: str | None = None
    agent_id: str | None = None
    payload: dict[str, Any]


class Event(BaseModel):
    """One committed event, as the log, NATS and REST show it."""

    model_config = ConfigDict(frozen=True)

    seq: int
    event_id: str
    event_type: str
    entity_type: str
    entity_id: str
    intent_id: str | None
    agent_id: str | None
    payload: dict[str, Any]
    created_at: str
    prev_hash: str
    event_hash: str


class ChainVerdict(Answer):
    """The answer of an audit: `valid`, or the first row whose hash does not follow."""

    valid: bool
    events_verified: int
    last_seq: int | None
    head_hash: str | None
    first_bad_seq: int | None = None
    reason: str | None = None


def compact_json(payload: dict[str, Any]) -> str:
    """The stored text of a payload: compact, keys as given, so that the hash covers exact bytes."""
    return json.dumps(payload, separators=(",", ":"), ensure_ascii=False)


def event_hash(
    prev_hash: str,
    event_id: str,
    event_type: str,
    entity_type: str,
    entity_id: str,
    agent_id: str | None,
    created_at: str,
    payload_text: str,
) -> str:
    """SHA-256 of one row chained to the row before it (`foremerge-details`, section 8.2)."""
    parts = (
        prev_hash,
        event_id,
        str(SCHEMA_VERSION),
        event_type,
        entity_type,
        entity_id,
        agent_id or "",
        created_at,
        payload_text,
    )
    return hashlib.sha256("|".join(parts).encode()).hexdigest()
