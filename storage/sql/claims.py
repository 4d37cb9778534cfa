"""Series of numbers, and what intents reserved of them; names reserved while an intent lives."""

from collections.abc import Sequence
from datetime import datetime
from typing import NamedTuple

import asyncpg


class SeriesRow(NamedTuple):
    """A series of a project."""

    prefix: str
    next: int
    created_by: str
    created_at: datetime


class Given(NamedTuple):
    """One thing an intent was given: its text, what it is compared by, and its number where it has one."""

    text: str
    key: str
    series: str | None = None
    number: int | None = None


async def add_series(
    connection: asyncpg.Connection,
    *,
    project_id: str,
    key: str,
    prefix: str,
    first: int,
    created_by: str,
    now: datetime,
) -> bool:
    """Record a series; False when the project has one of this key."""
    made = await connection.fetchval(
        "INSERT INTO series (project_id, key, prefix, next, created_by, created_at) "
        "VALUES ($1, $2, $3, $4, $5, $6) ON CONFLICT DO NOTHING RETURNING key",
        project_id,
        key,
        prefix,
        first,
        created_by,
        now,
    )
    return made is not None


async def series_count(connection: asyncpg.Connection, project_id: str) -> int:
    """How many series a project has."""
    return int(await connection.fetchval("SELECT count(*) FROM series WHERE project_id = $1", project_id))


async def series_of(connection: asyncpg.Connection, project_id: str, limit: int) -> list[SeriesRow]:
    """A project's series, by prefix."""
    rows = await connection.fetch(
        "SELECT prefix, next, person.name AS created_by, series.created_at FROM series "
        "JOIN person ON person.id = created_by WHERE project_id = $1 ORDER BY key LIMIT $2",
        project_id,
        limit,
    )
    return [SeriesRow(*row) for row in rows]


async def take(
    connection: asyncpg.Connection, project_id: str, key: str, count: int
) -> tuple[str, int] | None:
    """Take the next `count` numbers: the series' prefix and the first of them. None without such a series."""
    row = await connection.fetchrow(
        "UPDATE series SET next = next + $3 WHERE project_id = $1 AND key = $2 "
        "RETURNING prefix, next - $3 AS first",
        project_id,
        key,
        count,
    )
    return (row["prefix"], row["first"]) if row else None


async def series_behind(
    connection: asyncpg.Connection, project_id: str, keys: Sequence[str]
) -> tuple[str, int] | None:
    """A series of which one of these names would pass for a number (`d560` of D), and which name it is."""
    row = await connection.fetchrow(
        "SELECT prefix, place FROM unnest($2::text[]) WITH ORDINALITY AS name (word, place) "
        "JOIN series ON project_id = $1 AND starts_with(word, key) "
        "AND substr(word, length(key) + 1) ~ '^[0-9]+$' ORDER BY place LIMIT 1",
        project_id,
        list(keys),
    )
    return (row["prefix"], row["place"] - 1) if row else None


async def name_like_a_number(
    connection: asyncpg.Connection, project_id: str, series_key: str
) -> tuple[str, int] | None:
    """A name that a live intent holds and that would pass for a number of this series, and the intent's number."""
    row = await connection.fetchrow(
        "SELECT given, intent.number FROM claim JOIN intent ON intent.id = intent_id "
        "WHERE claim.project_id = $1 AND series IS NULL AND state NOT IN ('merged', 'withdrawn') "
        "AND starts_with(key, $2) AND substr(key, length($2) + 1) ~ '^[0-9]+$' LIMIT 1",
        project_id,
        series_key,
    )
    return (row[0], row[1]) if row else None


async def holder(
    connection: asyncpg.Connection, project_id: str, keys: Sequence[str]
) -> tuple[str, int] | None:
    """The first of these names that a live intent holds, as that one wrote it, and the intent's number."""
    row = await connection.fetchrow(
        "SELECT given, intent.number FROM claim JOIN intent ON intent.id = intent_id "
        "WHERE claim.project_id = $1 AND series IS NULL AND key = ANY($2) "
        "AND state NOT IN ('merged', 'withdrawn') ORDER BY array_position($2, key) LIMIT 1",
        project_id,
        list(keys),
    )
    return (row[0], row[1]) if row else None


async def add(
    connection: asyncpg.Connection, project_id: str, intent_id: str, given: Sequence[Given], now: datetime
) -> None:
    """Record what an intent was given, in its order."""
    await connection.executemany(
        "INSERT INTO claim (project_id, intent_id, position, key, given, series, number, created_at) "
        "VALUES ($1, $2, $3, $4, $5, $6, $7, $8)",
        [
            (project_id, intent_id, place, one.key, one.text, one.series, one.number, now)
            for place, one in enumerate(given)
        ],
    )


async def of_intents(connection: asyncpg.Connection, intent_ids: Sequence[str]) -> dict[str, list[str]]:
    """What each intent reserved, in its order; intents without a reservation are left out."""
    rows = await connection.fetch(
        "SELECT intent_id, given FROM claim WHERE intent_id = ANY($1) ORDER BY intent_id, position",
        list(intent_ids),
    )
    found: dict[str, list[str]] = {}
    for row in rows:
        found.setdefault(row["intent_id"], []).append(row["given"])
    return found
