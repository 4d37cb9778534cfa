"""All of a project's record of this face, for the graph and the export: each kind of row, the oldest first."""

from typing import TypeVar

import asyncpg
from pydantic import BaseModel

from protocol.foremerge.changesets import ChangeSet, Decision
from protocol.foremerge.conflicts import ConflictDetection
from protocol.foremerge.intents import Assessment, Task
from protocol.foremerge.records import WorkRow
from protocol.foremerge.scopes import PlainScope
from protocol.foremerge.validations import ValidationAttempt

Row = TypeVar("Row", bound=BaseModel)

_CHANGESETS = ", ".join(name for name in ChangeSet.model_fields if name != "open_conflicts")
_ATTEMPTS = ", ".join(f"fm_validation_attempt.{name}" for name in ValidationAttempt.model_fields)
_ASSESSMENTS = ", ".join(Assessment.model_fields)
_DECISIONS = ", ".join(Decision.model_fields)
_WORK = ", ".join(WorkRow.model_fields)


async def _all(connection: asyncpg.Connection, model: type[Row], query: str, project_id: str) -> list[Row]:
    return [model(**dict(row)) for row in await connection.fetch(query, project_id)]


async def tasks(connection: asyncpg.Connection, project_id: str) -> list[Task]:
    """The tasks of a project."""
    return await _all(
        connection,
        Task,
        "SELECT id, task_key, title, created_by AS created_by_agent_id, created_at FROM fm_task "
        "WHERE project_id = $1 ORDER BY created_at, id",
        project_id,
    )


async def works(connection: asyncpg.Connection, project_id: str) -> list[WorkRow]:
    """The intents of both faces."""
    query = f"SELECT {_WORK} FROM fm_work WHERE project_id = $1 ORDER BY created_at, id"
    return await _all(connection, WorkRow, query, project_id)


async def changesets(connection: asyncpg.Connection, project_id: str) -> list[ChangeSet]:
    """The ChangeSets of a project, superseded ones too."""
    query = f"SELECT {_CHANGESETS} FROM fm_changeset WHERE project_id = $1 ORDER BY created_at, id"
    return await _all(connection, ChangeSet, query, project_id)


async def attempts(connection: asyncpg.Connection, project_id: str) -> list[ValidationAttempt]:
    """Every run of a check."""
    query = (
        f"SELECT {_ATTEMPTS} FROM fm_validation_attempt JOIN fm_changeset ON fm_changeset.id = changeset_id "
        "WHERE project_id = $1 ORDER BY recorded_at, fm_validation_attempt.id"
    )
    return await _all(connection, ValidationAttempt, query, project_id)


async def assessments(connection: asyncpg.Connection, project_id: str) -> list[Assessment]:
    """Every assessment."""
    query = f"SELECT {_ASSESSMENTS} FROM fm_assessment WHERE project_id = $1 ORDER BY created_at, id"
    return await _all(connection, Assessment, query, project_id)


async def decisions(connection: asyncpg.Connection, project_id: str) -> list[tuple[Decision, str | None]]:
    """Every decision, with the conflict that it settled."""
    rows = await connection.fetch(
        f"SELECT {_DECISIONS}, conflict_id FROM fm_decision WHERE project_id = $1 ORDER BY created_at, id",
        project_id,
    )
    return [(Decision(**dict(row)), row["conflict_id"]) for row in rows]


async def detections(connection: asyncpg.Connection, project_id: str) -> list[ConflictDetection]:
    """Every observation of a conflict."""
    rows = await connection.fetch(
        "SELECT seen.* FROM fm_detection AS seen JOIN fm_conflict ON fm_conflict.id = conflict_id "
        "WHERE project_id = $1 ORDER BY seen.detected_at, seen.id",
        project_id,
    )
    found = []
    for row in rows:
        fields = dict(row)
        kind, key = fields.pop("scope_kind"), fields.pop("scope_key")
        found.append(ConflictDetection(**fields, scope=PlainScope(kind=kind, key=key) if kind else None))
    return found
