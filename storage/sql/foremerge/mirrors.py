"""Gitring's own intents as this face keeps them, so that both are compared by the same indexes."""

from collections.abc import Sequence
from datetime import datetime
from typing import NamedTuple

import asyncpg

from protocol.foremerge.records import AgentRow, NewScope, NewWork
from protocol.records import IntentRow, PlaceRow
from storage.sql import intents, places
from storage.sql.foremerge import agents, work


class Unmirrored(NamedTuple):
    """A gitring intent, with what of it this face compares and shows."""

    row: IntentRow
    changes: list[PlaceRow]
    names: list[str]
    depends_on: list[str]


async def read(connection: asyncpg.Connection, intent_ids: Sequence[str]) -> list[Unmirrored]:
    """These intents with their declared changes, reserved names and what they go after."""
    rows = await intents.many(connection, intent_ids)
    changes: dict[str, list[PlaceRow]] = {}
    for place in await places.of_intents(connection, intent_ids):
        if place.role == "change" and place.source == "declared":
            changes.setdefault(place.intent_id, []).append(place)
    names = await _grouped(
        connection,
        "SELECT intent_id, given AS one FROM claim WHERE intent_id = ANY($1) AND series IS NULL ORDER BY position",
        intent_ids,
    )
    after = await _grouped(
        connection,
        "SELECT intent_id, on_id AS one FROM depends_on WHERE intent_id = ANY($1) ORDER BY on_id",
        intent_ids,
    )
    return [
        Unmirrored(rows[one], changes.get(one, []), names.get(one, []), after.get(one, []))
        for one in intent_ids
    ]


async def _grouped(
    connection: asyncpg.Connection, query: str, intent_ids: Sequence[str]
) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for row in await connection.fetch(query, list(intent_ids)):
        found.setdefault(row["intent_id"], []).append(row["one"])
    return found


async def unknown(connection: asyncpg.Connection, project_id: str, limit: int) -> list[str]:
    """Live intents of gitring's own face that this face does not know yet, the oldest first."""
    rows = await connection.fetch(
        "SELECT id FROM intent WHERE project_id = $1 AND landing = 'queue' AND state NOT IN ('merged', 'withdrawn') "
        "AND NOT EXISTS (SELECT FROM fm_intent WHERE intent_id = intent.id) ORDER BY number LIMIT $2",
        project_id,
        limit,
    )
    return [row["id"] for row in rows]


async def keep(
    connection: asyncpg.Connection,
    agent: AgentRow,
    task: tuple[str, str],
    new: NewWork,
    scopes: Sequence[NewScope],
    now: datetime,
) -> None:
    """Record what this face keeps of an intent, or what changed of it; `task` is key and title."""
    await agents.add(connection, agent)
    task_id = await agents.task(
        connection,
        task_id=new.task_id,
        project_id=new.project_id,
        key=task[0],
        title=task[1],
        agent_id=agent.id,
        now=now,
    )
    await work.add(connection, new._replace(task_id=task_id), scopes, now)
