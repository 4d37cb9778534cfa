"""What a person may want to look at: work outside its plan, orders by number alone; and ChangeSets only a person accepts."""

from datetime import datetime

import asyncpg

from protocol.records import IntentRow
from protocol.wire import Record
from storage.sql import intents

_MINE = "JOIN member ON member.project_id = intent.project_id AND member.person_id = $1 AND role <> 'viewer'"


class Drifting(Record):
    """An intent whose pushes change what its plan does not name, while no person has accepted that commit."""

    intent: IntentRow
    slug: str
    paths: list[str]
    count: int
    since: datetime


class Unsettled(Record):
    """Two intents that change the same place, ordered by nothing but their numbers."""

    slug: str
    first: int
    second: int
    first_title: str
    second_title: str
    verdict: str
    places: list[str]
    since: datetime


class Asking(Record):
    """A validated ChangeSet that does what the project lets only a person accept, such as `remove symbol:Cart`."""

    slug: str
    number: int
    title: str
    agent_name: str
    changeset_id: str
    asked: list[str]
    since: datetime


async def asking(connection: asyncpg.Connection, person_id: str, limit: int) -> list[Asking]:
    """ChangeSets that wait for a person to accept them, in the projects in which the person decides; the oldest first."""
    rows = await connection.fetch(
        f"""
        SELECT slug, number, title, fm_agent.name AS agent_name, fm_changeset.id AS changeset_id,
               fm_changeset.updated_at AS since,
               array_agg(operation || ' ' || fm_scope.kind || ':' || fm_scope.key ORDER BY position) AS asked
        FROM project JOIN intent ON intent.project_id = project.id {_MINE}
        JOIN fm_intent ON fm_intent.intent_id = intent.id AND fm_intent.live
        JOIN fm_changeset ON fm_changeset.intent_id = intent.id AND fm_changeset.status = 'VALIDATED'
        JOIN fm_agent ON fm_agent.id = fm_intent.agent_id
        JOIN fm_scope ON fm_scope.intent_id = intent.id AND settings->'person_accepts' ? operation
        GROUP BY slug, number, title, fm_agent.name, fm_changeset.id
        ORDER BY since, fm_changeset.id LIMIT $2
        """,
        person_id,
        limit,
    )
    return [Asking(**dict(row)) for row in rows]


async def drifting(connection: asyncpg.Connection, person_id: str, limit: int) -> list[Drifting]:
    """Intents that left their plan, in the projects in which the person decides; the longest ago first."""
    rows = await connection.fetch(
        f"""
        SELECT intent.id, slug, latest.created_at AS since, outside.paths, outside.count
        FROM intent JOIN project ON project.id = intent.project_id {_MINE}
        CROSS JOIN LATERAL (SELECT paths, created_at FROM push WHERE intent_id = intent.id
                            ORDER BY created_at DESC, id DESC LIMIT 1) latest
        CROSS JOIN LATERAL (
            SELECT (array_agg(changed ORDER BY changed))[:5] AS paths, count(*) AS count
            FROM unnest(latest.paths) AS changed
            WHERE NOT EXISTS (SELECT FROM place WHERE intent_id = intent.id AND place.role = 'change'
                AND source = 'declared'
                AND (path = changed OR right(path, 1) = '/' AND starts_with(changed, path)))
        ) outside
        WHERE state NOT IN ('merged', 'withdrawn') AND landing = 'queue' AND outside.count > 0
          AND NOT EXISTS (SELECT FROM decision WHERE intent_id = intent.id AND decision.kind = 'drift_accepted'
                          AND decision.head = intent.head)
        ORDER BY latest.created_at, intent.id LIMIT $2
        """,
        person_id,
        limit,
    )
    found = await intents.many(connection, [row["id"] for row in rows])
    return [Drifting(intent=found[row["id"]], **dict(row)) for row in rows]


async def unsettled(connection: asyncpg.Connection, person_id: str, limit: int) -> list[Unsettled]:
    """Pairs that rule R5 ordered, in the projects in which the person decides; the oldest first."""
    rows = await connection.fetch(
        f"""
        SELECT slug, intent.number AS first, two.number AS second, intent.title AS first_title,
               two.title AS second_title, verdict, places, conflict.created_at AS since
        FROM conflict JOIN intent ON intent.id = first_id JOIN intent two ON two.id = second_id
        JOIN project ON project.id = conflict.project_id {_MINE}
        WHERE conflict.state = 'open' AND rule = 'R5' AND settled IS NULL AND verdict IN ('hold', 'narrow')
        ORDER BY conflict.created_at, conflict.id LIMIT $2
        """,
        person_id,
        limit,
    )
    return [Unsettled(**dict(row)) for row in rows]
