"""Stored conflicts of this face, and each observation of one."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any, NamedTuple

import asyncpg

from protocol.foremerge.conflicts import Conflict, ConflictDetection
from protocol.foremerge.scopes import PlainScope
from protocol.foremerge.words import ConflictKind, ConflictStatus
from storage.sql.foremerge.hashes import short_hash

_CONFLICT = (
    "SELECT id, kind, severity, score, source_id AS source_intent_id, target_id AS target_intent_id, scope_kind, "
    "scope_key, explanation, suggestion, evidence, status, detected_at FROM fm_conflict"
)
_DETECTION = (
    "SELECT id, conflict_id, severity, score, scope_kind, scope_key, explanation, suggestion, evidence, "
    "previously_settled, detected_at FROM fm_detection"
)


class Key(NamedTuple):
    """What makes two findings one conflict (`rules.foremerge.identity.Identity`)."""

    source: str
    target: str
    kind: ConflictKind
    scopes: str


class KnownConflict(NamedTuple):
    """A stored conflict with its key."""

    conflict: Conflict
    key: Key


def _fields(row: asyncpg.Record) -> dict[str, Any]:
    fields = dict(row)
    kind, key = fields.pop("scope_kind"), fields.pop("scope_key")
    return {**fields, "scope": PlainScope(kind=kind, key=key) if kind else None}


def _conflict(row: asyncpg.Record) -> Conflict:
    return Conflict(**_fields(row))


async def find(connection: asyncpg.Connection, key: Key) -> Conflict | None:
    """The conflict with this key."""
    row = await connection.fetchrow(
        f"{_CONFLICT} WHERE source_id = $1 AND target_id = $2 AND kind = $3 AND scopes_hash = $4",
        key.source,
        key.target,
        key.kind,
        short_hash(key.scopes),
    )
    return _conflict(row) if row else None


async def get(connection: asyncpg.Connection, project_id: str, conflict_id: str) -> Conflict | None:
    """One conflict of a project."""
    row = await connection.fetchrow(f"{_CONFLICT} WHERE id = $1 AND project_id = $2", conflict_id, project_id)
    return _conflict(row) if row else None


async def add(connection: asyncpg.Connection, project_id: str, conflict: Conflict, key: Key) -> None:
    """Record a conflict."""
    await connection.execute(
        "INSERT INTO fm_conflict (id, project_id, source_id, target_id, kind, scopes, scopes_hash, severity, score, "
        "scope_kind, scope_key, explanation, suggestion, evidence, status, detected_at) "
        "VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16)",
        conflict.id,
        project_id,
        key.source,
        key.target,
        key.kind,
        key.scopes,
        short_hash(key.scopes),
        *_seen(conflict),
        conflict.status,
        conflict.detected_at,
    )


async def add_detection(connection: asyncpg.Connection, detection: ConflictDetection) -> None:
    """Record one observation."""
    await connection.execute(
        "INSERT INTO fm_detection (id, conflict_id, severity, score, scope_kind, scope_key, explanation, suggestion, "
        "evidence, previously_settled, detected_at) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)",
        detection.id,
        detection.conflict_id,
        *_seen(detection),
        detection.previously_settled,
        detection.detected_at,
    )


def _seen(one: Conflict | ConflictDetection) -> tuple[object, ...]:
    kind = one.scope.kind if one.scope else None
    key = one.scope.key if one.scope else None
    return (one.severity, one.score, kind, key, one.explanation, one.suggestion, one.evidence)


async def set_status(connection: asyncpg.Connection, conflict_id: str, status: ConflictStatus) -> None:
    """Move a conflict to `status`."""
    await connection.execute("UPDATE fm_conflict SET status = $2 WHERE id = $1", conflict_id, status)


async def of_intents(
    connection: asyncpg.Connection, intent_ids: Sequence[str], *, unsettled: bool = True
) -> list[KnownConflict]:
    """Conflicts in which one of these stands, the newest first, then by id."""
    rows = await connection.fetch(
        f"{_CONFLICT.replace(' FROM', ', scopes FROM')} WHERE (source_id = ANY($1) OR target_id = ANY($1)) "
        "AND (NOT $2 OR status IN ('OPEN', 'COORDINATING')) ORDER BY detected_at DESC, id",
        list(intent_ids),
        unsettled,
    )
    found = []
    for row in rows:
        fields = _fields(row)
        scopes = fields.pop("scopes")
        key = Key(
            fields["source_intent_id"], fields["target_intent_id"], ConflictKind(fields["kind"]), scopes
        )
        found.append(KnownConflict(Conflict(**fields), key))
    return found


async def open_counts(connection: asyncpg.Connection, intent_ids: Sequence[str]) -> dict[str, int]:
    """By intent, how many of its conflicts nobody settled."""
    rows = await connection.fetch(
        "SELECT id, count(*) AS open FROM (SELECT source_id AS id, status FROM fm_conflict WHERE source_id = ANY($1) "
        "UNION ALL SELECT target_id, status FROM fm_conflict WHERE target_id = ANY($1)) AS touching "
        "WHERE status IN ('OPEN', 'COORDINATING') GROUP BY id",
        list(intent_ids),
    )
    return {row["id"]: row["open"] for row in rows}


async def of_project(
    connection: asyncpg.Connection, project_id: str, status: ConflictStatus | None
) -> list[Conflict]:
    """Conflicts of a project, the newest first."""
    rows = await connection.fetch(
        f"{_CONFLICT} WHERE project_id = $1 AND ($2::text IS NULL OR status = $2) ORDER BY detected_at DESC, id",
        project_id,
        status,
    )
    return [_conflict(row) for row in rows]


async def detections(connection: asyncpg.Connection, conflict_id: str) -> list[ConflictDetection]:
    """The observations of a conflict, the oldest first."""
    rows = await connection.fetch(
        f"{_DETECTION} WHERE conflict_id = $1 ORDER BY detected_at, id", conflict_id
    )
    return [ConflictDetection(**_fields(row)) for row in rows]


async def owners(connection: asyncpg.Connection, conflict: Conflict) -> set[str]:
    """The agents that own the two intents."""
    rows = await connection.fetch(
        "SELECT agent_id FROM fm_intent WHERE intent_id = ANY($1)",
        [conflict.source_intent_id, conflict.target_intent_id],
    )
    return {row["agent_id"] for row in rows}


async def is_between(connection: asyncpg.Connection, one: str, other: str, now: datetime) -> bool:
    """Whether the two had a conflict before `now`."""
    found: bool = await connection.fetchval(
        'SELECT EXISTS (SELECT FROM fm_conflict WHERE source_id = least($1::text COLLATE "C", $2::text COLLATE "C") '
        'AND target_id = greatest($1::text COLLATE "C", $2::text COLLATE "C") AND detected_at < $3)',
        one,
        other,
        now,
    )
    return found
