"""The ChangeSet that stands for an intent, and where a ChangeSet belongs."""

from collections.abc import Sequence
from typing import NamedTuple

import asyncpg

from protocol.foremerge.changesets import ChangeSet
from protocol.foremerge.words import ChangeSetStatus

_COLUMNS = ", ".join(name for name in ChangeSet.model_fields if name != "open_conflicts")


class ChangeSetPlace(NamedTuple):
    """Whose ChangeSet it is, and where it stands."""

    project_id: str
    intent_id: str
    status: ChangeSetStatus


async def latest_of(connection: asyncpg.Connection, intent_ids: Sequence[str]) -> dict[str, ChangeSet]:
    """By intent, its ChangeSet that is not superseded."""
    rows = await connection.fetch(
        f"SELECT {_COLUMNS} FROM fm_changeset WHERE intent_id = ANY($1) AND status <> 'SUPERSEDED'",
        list(intent_ids),
    )
    return {row["intent_id"]: ChangeSet(**dict(row)) for row in rows}


async def place_of(connection: asyncpg.Connection, changeset_id: str) -> ChangeSetPlace | None:
    """Where a ChangeSet belongs."""
    row = await connection.fetchrow(
        "SELECT project_id, intent_id, status FROM fm_changeset WHERE id = $1", changeset_id
    )
    return (
        ChangeSetPlace(row["project_id"], row["intent_id"], ChangeSetStatus(row["status"])) if row else None
    )
