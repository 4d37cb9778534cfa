"""What agents said: assessments, messages, decisions."""

from collections.abc import Sequence
from datetime import datetime

import asyncpg

from protocol.foremerge.changesets import Decision
from protocol.foremerge.intents import Assessment
from protocol.foremerge.messages import CoordinationMessage

_ASSESSMENT = "SELECT id, agent_id, intent_id, related_intent_id, verdict, rationale, action, created_at FROM fm_assessment"
_MESSAGE = (
    "SELECT id, from_agent_id, to_agent_id, message, conflict_id, changeset_id, "
    "CASE WHEN read_at IS NULL THEN 'UNREAD' ELSE 'READ' END AS status, created_at FROM fm_message"
)


async def add_assessment(connection: asyncpg.Connection, project_id: str, one: Assessment) -> None:
    """Record an assessment."""
    await connection.execute(
        "INSERT INTO fm_assessment (project_id, id, agent_id, intent_id, related_intent_id, verdict, rationale, action, "
        "created_at) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)",
        project_id,
        *(getattr(one, name) for name in Assessment.model_fields),
    )


async def assessments_of(connection: asyncpg.Connection, intent_id: str) -> list[Assessment]:
    """Assessments of other work by the owner of an intent, the oldest first."""
    rows = await connection.fetch(f"{_ASSESSMENT} WHERE intent_id = $1 ORDER BY created_at, id", intent_id)
    return [Assessment(**dict(row)) for row in rows]


async def add_message(connection: asyncpg.Connection, project_id: str, one: CoordinationMessage) -> None:
    """Record a message."""
    await connection.execute(
        "INSERT INTO fm_message (id, project_id, from_agent_id, to_agent_id, message, conflict_id, changeset_id, "
        "created_at) VALUES ($1, $2, $3, $4, $5, $6, $7, $8)",
        one.id,
        project_id,
        one.from_agent_id,
        one.to_agent_id,
        one.message,
        one.conflict_id,
        one.changeset_id,
        one.created_at,
    )


async def inbox(connection: asyncpg.Connection, agent_id: str) -> list[CoordinationMessage]:
    """Messages for an agent, the oldest first."""
    rows = await connection.fetch(f"{_MESSAGE} WHERE to_agent_id = $1 ORDER BY created_at, id", agent_id)
    return [CoordinationMessage(**dict(row)) for row in rows]


async def unread(connection: asyncpg.Connection, agent_id: str, limit: int) -> list[CoordinationMessage]:
    """Messages that an agent has not marked as read, the oldest first."""
    rows = await connection.fetch(
        f"{_MESSAGE} WHERE to_agent_id = $1 AND read_at IS NULL ORDER BY created_at, id LIMIT $2",
        agent_id,
        limit,
    )
    return [CoordinationMessage(**dict(row)) for row in rows]


async def mark_read(
    connection: asyncpg.Connection, agent_id: str, message_ids: Sequence[str], now: datetime
) -> int:
    """The agent has read these; how many of them were unread."""
    rows = await connection.fetch(
        "UPDATE fm_message SET read_at = $3 WHERE to_agent_id = $1 AND id = ANY($2) AND read_at IS NULL RETURNING id",
        agent_id,
        list(message_ids),
        now,
    )
    return len(rows)


async def changeset_is_there(connection: asyncpg.Connection, project_id: str, changeset_id: str) -> bool:
    """Whether the project has this ChangeSet."""
    found: bool = await connection.fetchval(
        "SELECT EXISTS (SELECT FROM fm_changeset WHERE id = $1 AND project_id = $2)", changeset_id, project_id
    )
    return found


async def add_decision(
    connection: asyncpg.Connection,
    project_id: str,
    decision: Decision,
    *,
    agent_id: str | None,
    conflict_id: str | None = None,
) -> None:
    """Record a decision."""
    await connection.execute(
        "INSERT INTO fm_decision (id, project_id, intent_id, changeset_id, conflict_id, agent_id, title, rationale, "
        "alternatives, provenance, created_at) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)",
        decision.id,
        project_id,
        decision.intent_id,
        decision.changeset_id,
        conflict_id,
        agent_id,
        decision.title,
        decision.rationale,
        decision.alternatives,
        decision.provenance,
        decision.created_at,
    )
