"""The rows of the overview that people read: a whole project at the moment of the caller's transaction."""

from collections.abc import Sequence
from datetime import datetime
from typing import NamedTuple

import asyncpg

from protocol.foremerge.conflicts import Conflict
from protocol.foremerge.scopes import PlainScope
from protocol.foremerge.words import ChangeSetStatus, ConflictStatus, IntentStatus
from protocol.foremerge.work import ChangeSetGroup, ClaimSeen
from storage.sql.foremerge import conflicts

MOST_LISTED = 500
_GROUPED = """
    SELECT status, number_of, id, agent_id, agent_name, summary, of_gitring, running FROM (
        SELECT fm_work.status, count(*) OVER (PARTITION BY fm_work.status) AS number_of,
               row_number() OVER (PARTITION BY fm_work.status ORDER BY fm_work.created_at DESC, fm_work.id DESC) AS newest,
               fm_work.id, fm_work.agent_id, fm_agent.name AS agent_name, fm_work.summary, fm_work.created_at,
               fm_agent.of_gitring, EXISTS (SELECT FROM fm_claim WHERE fm_claim.intent_id = fm_work.id
                   AND released_at IS NULL AND lease_expires_at > $2) AS running
        FROM fm_work JOIN fm_agent ON fm_agent.id = fm_work.agent_id WHERE fm_work.project_id = $1
    ) AS grouped WHERE newest <= $3 ORDER BY created_at, id
"""


class IntentLine(NamedTuple):
    """An intent of the overview. `number_of`: how many have its status; `running`: whether a claim of it runs."""

    status: IntentStatus
    number_of: int
    id: str
    agent_id: str
    agent_name: str
    summary: str
    of_gitring: bool
    running: bool


async def intents(connection: asyncpg.Connection, project_id: str, now: datetime) -> list[IntentLine]:
    """Intents of both faces, of each status the newest `MOST_LISTED`, the oldest of them first."""
    rows = await connection.fetch(_GROUPED, project_id, now, MOST_LISTED)
    return [IntentLine(IntentStatus(row["status"]), *list(row)[1:]) for row in rows]


async def running_claims(connection: asyncpg.Connection, project_id: str, now: datetime) -> list[ClaimSeen]:
    """Claims whose lease runs, the oldest first."""
    rows = await connection.fetch(
        "SELECT fm_claim.id, fm_claim.agent_id, fm_agent.name, intent_id, kind, key, lease_expires_at FROM fm_claim "
        "JOIN fm_agent ON fm_agent.id = fm_claim.agent_id WHERE fm_claim.project_id = $1 AND released_at IS NULL "
        "AND lease_expires_at > $2 ORDER BY created_at, fm_claim.id",
        project_id,
        now,
    )
    return [
        ClaimSeen(
            id=row["id"],
            agent_id=row["agent_id"],
            agent_name=row["name"],
            intent_id=row["intent_id"],
            scope=PlainScope(kind=row["kind"], key=row["key"]),
            lease_expires_at=row["lease_expires_at"],
        )
        for row in rows
    ]


async def unsettled(connection: asyncpg.Connection, project_id: str) -> list[Conflict]:
    """Conflicts that nobody settled, the newest first, then by id."""
    found = [
        conflict
        for status in (ConflictStatus.OPEN, ConflictStatus.COORDINATING)
        for conflict in await conflicts.of_project(connection, project_id, status)
    ]
    by_id = sorted(found, key=lambda conflict: conflict.id)
    return sorted(by_id, key=lambda conflict: conflict.detected_at, reverse=True)


async def owner_names(connection: asyncpg.Connection, intent_ids: Sequence[str]) -> dict[str, str]:
    """By intent, the name of the agent that owns it."""
    rows = await connection.fetch(
        "SELECT intent_id, name FROM fm_intent JOIN fm_agent ON fm_agent.id = agent_id WHERE intent_id = ANY($1)",
        list(intent_ids),
    )
    return {row["intent_id"]: row["name"] for row in rows}


async def changesets(connection: asyncpg.Connection, project_id: str) -> list[ChangeSetGroup]:
    """ChangeSets by status, in the order of their life; ids of those under way, the oldest first."""
    rows = await connection.fetch(
        "SELECT status, count(*) AS number_of, "
        "array_agg(id ORDER BY created_at, id) FILTER (WHERE status IN ('PROVISIONAL', 'VALIDATED', 'ACCEPTED')) AS ids "
        "FROM fm_changeset WHERE project_id = $1 GROUP BY status",
        project_id,
    )
    found = {row["status"]: row for row in rows}
    return [
        ChangeSetGroup(status=status, count=found[status]["number_of"], ids=found[status]["ids"] or [])
        for status in ChangeSetStatus
        if status in found
    ]
