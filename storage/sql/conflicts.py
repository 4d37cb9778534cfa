"""Conflicts between two intents, and change requests on one."""

from collections.abc import Sequence
from datetime import datetime

import asyncpg

from protocol.records import ConflictRow, RequestRow

_CONFLICT = """
    SELECT conflict.id, conflict.project_id, first_id, second_id, one.number AS first_number,
           two.number AS second_number, range, rule, verdict, places, uses, depends, pushed, settled, conflict.state, conflict.created_at
    FROM conflict JOIN intent one ON one.id = first_id JOIN intent two ON two.id = second_id
"""
_REQUEST = """
    SELECT id, project_id, intent_id, from_kind, from_name, kind, conflict_id, check_id, place, reason, todo,
           blocking, head, created_at, closed_at, about_id
    FROM change_request
"""


async def open_of(connection: asyncpg.Connection, intent_ids: Sequence[str]) -> list[ConflictRow]:
    """Open conflicts in which one of these intents stands, in order of number."""
    rows = await connection.fetch(
        f"{_CONFLICT} WHERE conflict.state = 'open' AND (first_id = ANY($1) OR second_id = ANY($1)) "
        "ORDER BY first_number, second_number",
        list(intent_ids),
    )
    return [ConflictRow(**dict(row)) for row in rows]


async def entangled(connection: asyncpg.Connection, intent_ids: Sequence[str]) -> set[str]:
    """Which of these intents have an open conflict, or go before or after another."""
    rows = await connection.fetch(
        "SELECT asked.who FROM unnest($1::text[]) AS asked (who) WHERE "
        "EXISTS (SELECT FROM conflict WHERE conflict.state = 'open' AND first_id = asked.who) OR "
        "EXISTS (SELECT FROM conflict WHERE conflict.state = 'open' AND second_id = asked.who) OR "
        "EXISTS (SELECT FROM depends_on WHERE intent_id = asked.who) OR "
        "EXISTS (SELECT FROM depends_on WHERE on_id = asked.who)",
        list(intent_ids),
    )
    return {row["who"] for row in rows}


async def hanging_together(connection: asyncpg.Connection, intent_ids: Sequence[str]) -> list[ConflictRow]:
    """Every open conflict that one can reach from these intents by going from pair to pair."""
    rows = await connection.fetch(
        "WITH RECURSIVE near(id) AS (SELECT unnest($1::text[]) UNION "
        "SELECT CASE WHEN conflict.first_id = near.id THEN conflict.second_id ELSE conflict.first_id END "
        "FROM near JOIN conflict ON conflict.state = 'open' "
        "AND (conflict.first_id = near.id OR conflict.second_id = near.id)) "
        f"{_CONFLICT} WHERE conflict.state = 'open' AND first_id IN (SELECT id FROM near) "
        "ORDER BY first_number, second_number",
        list(intent_ids),
    )
    return [ConflictRow(**dict(row)) for row in rows]


async def dependencies_of_line(
    connection: asyncpg.Connection, project_id: str, line: str
) -> dict[str, set[str]]:
    """Whom each live intent of a line goes after by `dependsOn`."""
    rows = await connection.fetch(
        "SELECT intent_id AS waiter, on_id AS waits_on FROM depends_on JOIN intent ON intent.id = intent_id "
        "WHERE project_id = $1 AND line = $2 AND state NOT IN ('merged', 'withdrawn')",
        project_id,
        line,
    )
    return _edges(rows)


def _edges(rows: Sequence[asyncpg.Record]) -> dict[str, set[str]]:
    edges: dict[str, set[str]] = {}
    for row in rows:
        edges.setdefault(row["waiter"], set()).add(row["waits_on"])
    return edges


async def save(connection: asyncpg.Connection, row: ConflictRow) -> None:
    """Open a conflict, or rewrite what an open one says."""
    await connection.execute(
        "INSERT INTO conflict (id, project_id, first_id, second_id, range, rule, verdict, places, uses, depends, "
        "pushed, state, created_at) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, 'open', $12) "
        "ON CONFLICT (id) DO UPDATE SET first_id = $3, second_id = $4, range = $5, rule = $6, verdict = $7, "
        "places = $8, uses = $9, depends = $10, pushed = $11",
        row.id,
        row.project_id,
        row.first_id,
        row.second_id,
        row.range,
        row.rule,
        row.verdict,
        row.places,
        row.uses,
        row.depends,
        row.pushed,
        row.created_at,
    )


async def end(connection: asyncpg.Connection, conflict_id: str, now: datetime) -> None:
    """End a conflict: the two no longer meet, or one of them is final."""
    await connection.execute(
        "UPDATE conflict SET state = 'ended', ended_at = $2 WHERE id = $1", conflict_id, now
    )


async def add_request(connection: asyncpg.Connection, row: RequestRow) -> None:
    """Open a change request."""
    await connection.execute(
        "INSERT INTO change_request (id, project_id, intent_id, from_kind, from_name, kind, conflict_id, check_id, "
        "place, reason, todo, blocking, head, created_at, about_id) "
        "VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15)",
        row.id,
        row.project_id,
        row.intent_id,
        row.from_kind,
        row.from_name,
        row.kind,
        row.conflict_id,
        row.check_id,
        row.place,
        row.reason,
        row.todo,
        row.blocking,
        row.head,
        row.created_at,
        row.about_id,
    )


async def notices_about(connection: asyncpg.Connection, intent_ids: Sequence[str]) -> list[RequestRow]:
    """Open notices, of others, that tell of these intents."""
    rows = await connection.fetch(
        f"{_REQUEST} WHERE about_id = ANY ($1) AND closed_at IS NULL ORDER BY id", list(intent_ids)
    )
    return [RequestRow(**dict(row)) for row in rows]


async def close_request(connection: asyncpg.Connection, request_id: str, how: str, now: datetime) -> None:
    """Close a change request, saying how."""
    await connection.execute(
        "UPDATE change_request SET closed_at = $3, closed_how = $2 WHERE id = $1 AND closed_at IS NULL",
        request_id,
        how,
        now,
    )


async def requests_of(connection: asyncpg.Connection, intent_id: str) -> list[RequestRow]:
    """Open change requests on an intent, newest first."""
    rows = await connection.fetch(
        f"{_REQUEST} WHERE intent_id = $1 AND closed_at IS NULL ORDER BY created_at DESC, id DESC", intent_id
    )
    return [RequestRow(**dict(row)) for row in rows]


async def request(connection: asyncpg.Connection, request_id: str) -> RequestRow | None:
    """One change request, open or closed."""
    row = await connection.fetchrow(f"{_REQUEST} WHERE id = $1", request_id)
    return RequestRow(**dict(row)) if row else None


async def sent_back(connection: asyncpg.Connection, intent_ids: Sequence[str]) -> set[str]:
    """Which of these intents have a plan that a person sent back."""
    rows = await connection.fetch(
        "SELECT DISTINCT intent_id FROM change_request WHERE intent_id = ANY($1) AND kind = 'plan' "
        "AND closed_at IS NULL",
        list(intent_ids),
    )
    return {row["intent_id"] for row in rows}


async def settle(connection: asyncpg.Connection, conflict_id: str, first_id: str) -> None:
    """Note which of the two a person said goes first."""
    await connection.execute("UPDATE conflict SET settled = $2 WHERE id = $1", conflict_id, first_id)


async def holders_of(connection: asyncpg.Connection, intent_ids: Sequence[str]) -> dict[str, list[int]]:
    """By held intent, the numbers of those that hold it, lowest first."""
    rows = await connection.fetch(
        "SELECT second_id, array_agg(number ORDER BY number) AS held_by FROM conflict "
        "JOIN intent ON intent.id = first_id WHERE conflict.state = 'open' AND verdict = 'hold' "
        "AND second_id = ANY($1) GROUP BY second_id",
        list(intent_ids),
    )
    return {row["second_id"]: list(row["held_by"]) for row in rows}
