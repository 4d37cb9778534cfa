"""ChangeSets, the runs of checks on them, and the folder that a project is bound to."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any, NamedTuple

import asyncpg

from protocol.foremerge.changesets import ChangeSet
from protocol.foremerge.validations import ValidationAttempt
from protocol.foremerge.words import ChangeSetStatus, Verification

_COLUMNS = ", ".join(name for name in ChangeSet.model_fields if name != "open_conflicts")
_ATTEMPT = ", ".join(ValidationAttempt.model_fields)
_MOST_ATTEMPTS = 500


class StoredChangeSet(NamedTuple):
    """A ChangeSet with what answers do not show. `worktree` is None for a candidate that was pushed."""

    changeset: ChangeSet
    project_id: str
    worktree: str | None
    snapshot: dict[str, Any]


class NewestRun(NamedTuple):
    """The newest run that counts."""

    passed: bool
    fingerprint: str


def _stored(row: asyncpg.Record) -> StoredChangeSet:
    fields = dict(row)
    beside = {name: fields.pop(name) for name in ("project_id", "worktree", "snapshot")}
    return StoredChangeSet(ChangeSet(**fields), **beside)


async def add(connection: asyncpg.Connection, stored: StoredChangeSet) -> None:
    """Record a ChangeSet; the one before it must be superseded."""
    fields = stored.changeset.model_dump(exclude={"open_conflicts"})
    names = [*fields, "project_id", "worktree", "snapshot"]
    places = ", ".join(f"${number}" for number in range(1, len(names) + 1))
    await connection.execute(
        f"INSERT INTO fm_changeset ({', '.join(names)}) VALUES ({places})", *fields.values(), *stored[1:]
    )


async def get(connection: asyncpg.Connection, changeset_id: str) -> StoredChangeSet | None:
    """One ChangeSet."""
    row = await connection.fetchrow(
        f"SELECT {_COLUMNS}, project_id, worktree, snapshot FROM fm_changeset WHERE id = $1", changeset_id
    )
    return _stored(row) if row else None


async def current(connection: asyncpg.Connection, intent_ids: Sequence[str]) -> dict[str, StoredChangeSet]:
    """By intent, its ChangeSet that is not superseded."""
    rows = await connection.fetch(
        f"SELECT {_COLUMNS}, project_id, worktree, snapshot FROM fm_changeset "
        "WHERE intent_id = ANY($1) AND status <> 'SUPERSEDED'",
        list(intent_ids),
    )
    return {row["intent_id"]: _stored(row) for row in rows}


async def move(
    connection: asyncpg.Connection,
    changeset_id: str,
    before: ChangeSetStatus,
    after: ChangeSetStatus,
    now: datetime,
) -> bool:
    """Compare-and-set the status; False when somebody else was faster."""
    moved = await connection.fetchval(
        "UPDATE fm_changeset SET status = $3, updated_at = $4 WHERE id = $1 AND status = $2 RETURNING id",
        changeset_id,
        before,
        after,
        now,
    )
    return moved is not None


async def accept(
    connection: asyncpg.Connection,
    changeset_id: str,
    *,
    commit: str,
    verification: Verification,
    reason: str | None,
    now: datetime,
) -> None:
    """The ChangeSet is accepted with `commit`."""
    await connection.execute(
        "UPDATE fm_changeset SET status = 'ACCEPTED', git_ref = $2, accepted_commit = $2, acceptance_verification = $3, "
        "acceptance_reason = $4, updated_at = $5 WHERE id = $1",
        changeset_id,
        commit,
        verification,
        reason,
        now,
    )


async def land(
    connection: asyncpg.Connection,
    changeset_id: str,
    *,
    commit: str,
    integration: dict[str, Any],
    now: datetime,
) -> None:
    """The ChangeSet has landed with `commit`; `integration` becomes part of its provenance."""
    await connection.execute(
        "UPDATE fm_changeset SET status = 'COMMITTED', git_ref = $2, integration_commit = $2, "
        "provenance = provenance || jsonb_build_object('integration', $3::jsonb), updated_at = $4 WHERE id = $1",
        changeset_id,
        commit,
        integration,
        now,
    )


async def add_attempt(connection: asyncpg.Connection, attempt: ValidationAttempt, now: datetime) -> None:
    """Record a run that ended."""
    fields = attempt.model_dump()
    places = ", ".join(f"${number}" for number in range(1, len(fields) + 2))
    await connection.execute(
        f"INSERT INTO fm_validation_attempt ({', '.join(fields)}, recorded_at) VALUES ({places})",
        *fields.values(),
        now,
    )


async def attempts(connection: asyncpg.Connection, changeset_id: str) -> list[ValidationAttempt]:
    """The newest runs on a ChangeSet, the newest first."""
    rows = await connection.fetch(
        f"SELECT {_ATTEMPT} FROM fm_validation_attempt WHERE changeset_id = $1 "
        "ORDER BY recorded_at DESC, id DESC LIMIT $2",
        changeset_id,
        _MOST_ATTEMPTS,
    )
    return [ValidationAttempt(**dict(row)) for row in rows]


async def newest_run(connection: asyncpg.Connection, changeset_id: str) -> NewestRun | None:
    """The newest run that counts for a ChangeSet."""
    row = await connection.fetchrow(
        "SELECT passed, observed_fingerprint AS fingerprint FROM fm_validation_attempt "
        "WHERE changeset_id = $1 AND authoritative ORDER BY recorded_at DESC, id DESC LIMIT 1",
        changeset_id,
    )
    return NewestRun(**dict(row)) if row else None


async def bind(
    connection: asyncpg.Connection, project_id: str, common_dir: str, person_id: str, now: datetime
) -> None:
    """Bind a project to a repository folder of its host, in place of the one before."""
    await connection.execute(
        "INSERT INTO fm_binding (project_id, common_dir, bound_by, created_at) VALUES ($1, $2, $3, $4) "
        "ON CONFLICT (project_id) DO UPDATE SET common_dir = $2, bound_by = $3, created_at = $4",
        project_id,
        common_dir,
        person_id,
        now,
    )
