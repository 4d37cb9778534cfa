"""Intents of both faces in this face's words, with their scopes."""

from collections.abc import Sequence
from datetime import datetime

import asyncpg

from protocol.foremerge.records import AgentRow, Lookup, NewScope, NewWork, ScopeRow, WorkRow
from protocol.foremerge.words import IntentStatus
from storage.sql.foremerge.hashes import short_hash

_WORK = (
    "SELECT id, project_id, number, landing, line, agent_id, task_id, task, summary, rationale, depends_on, metadata, "
    "status, version, live, scopes_since, created_at, updated_at FROM fm_work"
)

_WITH_ALIAS = (
    "id IN (SELECT intent_id FROM fm_scope WHERE project_id = $1 AND alias_hash = ${0} "
    "UNION SELECT intent_id FROM fm_claim WHERE project_id = $1 AND alias_hash = ${0})"
)


async def add(
    connection: asyncpg.Connection, new: NewWork, scopes: Sequence[NewScope], now: datetime
) -> None:
    """Record an intent with its scopes, or what changed of one of gitring's own."""
    await connection.execute(
        "INSERT INTO fm_intent (intent_id, project_id, agent_id, task_id, summary, rationale, depends_on, metadata, "
        "status, summary_likes, live, scopes_since, created_at, updated_at) "
        "VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $12, $12) "
        "ON CONFLICT (intent_id) DO UPDATE SET task_id = excluded.task_id, summary = excluded.summary, "
        "depends_on = excluded.depends_on, summary_likes = excluded.summary_likes, live = excluded.live, "
        "version = fm_intent.version + 1, scopes_since = $12, updated_at = $12",
        *new,
        now,
    )
    await connection.execute("DELETE FROM fm_scope WHERE intent_id = $1", new.intent_id)
    await connection.executemany(
        "INSERT INTO fm_scope (intent_id, position, project_id, live, kind, key, operation, inferred, precise, alias, "
        "precise_hash, alias_hash, key_hash, likes, path, symbol) "
        "VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16)",
        [
            (new.intent_id, position, new.project_id, new.live, *_row(one))
            for position, one in enumerate(scopes)
        ],
    )


def _row(one: NewScope) -> tuple[object, ...]:
    return (
        one.kind,
        one.key,
        one.operation,
        one.inferred,
        one.precise,
        one.alias,
        short_hash(one.precise),
        short_hash(one.alias),
        short_hash(one.lower_key),
        one.likes,
        one.path,
        one.symbol,
    )


async def get(connection: asyncpg.Connection, intent_id: str) -> WorkRow | None:
    """One intent."""
    row = await connection.fetchrow(f"{_WORK} WHERE id = $1", intent_id)
    return WorkRow(**dict(row)) if row else None


async def many(connection: asyncpg.Connection, intent_ids: Sequence[str]) -> list[WorkRow]:
    """Several intents, the oldest first."""
    rows = await connection.fetch(f"{_WORK} WHERE id = ANY($1) ORDER BY created_at, id", list(intent_ids))
    return [WorkRow(**dict(row)) for row in rows]


async def scopes_of(connection: asyncpg.Connection, intent_ids: Sequence[str]) -> dict[str, list[ScopeRow]]:
    """The scopes of these intents, in the order in which they were declared."""
    rows = await connection.fetch(
        "SELECT intent_id, kind, key, operation, inferred, path, symbol FROM fm_scope WHERE intent_id = ANY($1) "
        "ORDER BY intent_id, position",
        list(intent_ids),
    )
    found: dict[str, list[ScopeRow]] = {intent_id: [] for intent_id in intent_ids}
    for row in rows:
        found[row["intent_id"]].append(ScopeRow(**dict(row)))
    return found


async def move(
    connection: asyncpg.Connection,
    intent_id: str,
    before: IntentStatus,
    after: IntentStatus,
    version: int,
    now: datetime,
) -> bool:
    """Compare-and-set the status; False when somebody else was faster. Only active work is compared with."""
    moved = await connection.fetchval(
        "UPDATE fm_intent SET status = $3, live = $4, version = version + 1, updated_at = $6 "
        "WHERE intent_id = $1 AND status = $2 AND version = $5 RETURNING intent_id",
        intent_id,
        before,
        after,
        after.active,
        version,
        now,
    )
    if moved is not None and not after.active:
        await connection.execute("UPDATE fm_scope SET live = false WHERE intent_id = $1", intent_id)
    return moved is not None


async def end(connection: asyncpg.Connection, intent_ids: Sequence[str]) -> list[str]:
    """Nothing is compared with these any more; returns those that this face knew as live."""
    rows = await connection.fetch(
        "UPDATE fm_intent SET live = false, updated_at = now() WHERE intent_id = ANY($1) AND live RETURNING intent_id",
        list(intent_ids),
    )
    ended = [row["intent_id"] for row in rows]
    if ended:
        await connection.execute("UPDATE fm_scope SET live = false WHERE intent_id = ANY($1)", ended)
    return ended


async def adopt(
    connection: asyncpg.Connection, intent_id: str, agent: AgentRow, version: int, now: datetime
) -> bool:
    """Compare-and-set the owner, on both faces; False when somebody else was faster."""
    moved = await connection.fetchval(
        "UPDATE fm_intent SET agent_id = $2, version = version + 1, updated_at = $4 "
        "WHERE intent_id = $1 AND version = $3 RETURNING intent_id",
        intent_id,
        agent.id,
        version,
        now,
    )
    if moved is None:
        return False
    await connection.execute(
        "UPDATE intent SET person_id = $2, token_id = $3, agent_name = $4 WHERE id = $1",
        intent_id,
        agent.person_id,
        agent.token_id,
        agent.name,
    )
    return True


async def live_count(connection: asyncpg.Connection, project_id: str, but: str | None) -> int:
    """How many intents of a project are active, without one of them."""
    count: int = await connection.fetchval(
        "SELECT count(*) FROM fm_intent WHERE project_id = $1 AND live AND ($2::text IS NULL OR intent_id <> $2)",
        project_id,
        but,
    )
    return count


async def near(connection: asyncpg.Connection, project_id: str, but: str, by: Lookup) -> list[WorkRow]:
    """Active intents that can have anything in common with one, the oldest first; each question is put to an index.

    Keys are looked up one by one, each apart from the project (`OFFSET 0`): of a dozen rare keys at once, or of a project
    that holds a part of the table, the planner thinks so badly that it reads the table instead.
    """
    rows = await connection.fetch(
        """
        SELECT intent_id FROM fm_scope WHERE project_id = $1 AND live AND alias_hash = ANY($2::bytea[])
        UNION SELECT intent_id FROM fm_scope WHERE project_id = $1 AND live AND key_hash = ANY($3::bytea[])
        UNION SELECT intent_id FROM unnest($4::bigint[]) AS alike, LATERAL (
            SELECT intent_id, project_id FROM fm_scope WHERE likes @> ARRAY[alike] AND live OFFSET 0) AS near_scope
            WHERE project_id = $1
        UNION SELECT intent_id FROM unnest($5::bigint[]) AS alike, LATERAL (
            SELECT intent_id, project_id FROM fm_intent WHERE summary_likes @> ARRAY[alike] AND live OFFSET 0) AS near_words
            WHERE project_id = $1
        UNION SELECT intent_id FROM unnest($6::text[]) AS below, LATERAL (
            SELECT intent_id, project_id FROM place WHERE ancestors @> ARRAY[below] OFFSET 0) AS near_place
            WHERE project_id = $1
        UNION SELECT intent_id FROM place WHERE project_id = $1 AND path = ANY($7::text[])
        """,
        project_id,
        [short_hash(alias) for alias in by.aliases],
        [short_hash(key) for key in by.lower_keys],
        by.likes,
        by.summary_likes,
        by.paths,
        by.above,
    )
    found = [row["intent_id"] for row in rows if row["intent_id"] != but]
    return [one for one in await many(connection, found) if one.live] if found else []


async def declared_by_some(connection: asyncpg.Connection, project_id: str, precise: str) -> bool:
    """Whether any intent of the project declared exactly this scope."""
    found: bool = await connection.fetchval(
        "SELECT EXISTS (SELECT FROM fm_scope WHERE project_id = $1 AND precise_hash = $2)",
        project_id,
        short_hash(precise),
    )
    return found


async def query(
    connection: asyncpg.Connection,
    project_id: str,
    agent_id: str | None,
    status: IntentStatus | None,
    alias: str | None,
    limit: int,
) -> list[WorkRow]:
    """Intents, the newest first; `alias` among declared scopes or any claim ever held."""
    wanted = [
        (condition, value)
        for condition, value in (
            ("agent_id = ${}", agent_id),
            ("status = ${}", status),
            (_WITH_ALIAS, None if alias is None else short_hash(alias)),
        )
        if value is not None
    ]
    # Only what is asked stands in the statement: beside `OR ... IS NULL` no index is used.
    where = "".join(f" AND {condition.format(n)}" for n, (condition, _) in enumerate(wanted, start=3))
    rows = await connection.fetch(
        f"{_WORK} WHERE project_id = $1{where} ORDER BY created_at DESC, number DESC LIMIT $2",
        project_id,
        limit,
        *(value for _, value in wanted),
    )
    return [WorkRow(**dict(row)) for row in rows]


async def dependents(connection: asyncpg.Connection, intent_ids: Sequence[str]) -> dict[str, list[str]]:
    """By intent, those whose `depends_on` names it."""
    rows = await connection.fetch(
        "SELECT intent_id, depends_on FROM fm_intent WHERE depends_on && $1::text[] ORDER BY created_at, intent_id",
        list(intent_ids),
    )
    found: dict[str, list[str]] = {intent_id: [] for intent_id in intent_ids}
    for row in rows:
        for on in set(row["depends_on"]) & found.keys():
            found[on].append(row["intent_id"])
    return found
