"""Bounded looks at many intents at once: for the board, the brief and what is nearby."""

from collections.abc import Sequence
from datetime import datetime
from typing import NamedTuple

import asyncpg

from protocol.records import ConflictRow, IntentRow
from storage.sql import intents

_PLACES_SHOWN = 20
_PATHS_READ = 2000

_PAIR = f"""
    SELECT conflict.id, conflict.project_id, first_id, second_id, one.number AS first_number,
           two.number AS second_number, range, rule, verdict,
           jsonb_path_query_array(places, '$[0 to {_PLACES_SHOWN - 1}]') AS places, conflict.state,
           conflict.created_at
    FROM {{0}} AS conflict JOIN intent one ON one.id = first_id JOIN intent two ON two.id = second_id
"""
_FOLDER = (
    "CASE WHEN right(path, 1) = '/' THEN path WHEN cardinality(ancestors) > 1 THEN ancestors[2] ELSE './' END"
)


async def holding_pairs(
    connection: asyncpg.Connection, intent_ids: Sequence[str], most: int
) -> list[ConflictRow]:
    """Open holds and narrowings of these intents, at most `most` for each side of each; places are cut to 20."""
    # Ids sort by time, so the lowest are those of the oldest intents; places are read of those kept alone.
    side = (
        "(SELECT conflict.* FROM unnest($1::text[]) AS mine (id), LATERAL (SELECT * FROM conflict "
        "WHERE {0} = mine.id AND state = 'open' AND verdict IN ('hold', 'narrow') ORDER BY {1} LIMIT $2) AS conflict)"
    )
    pairs = f"({side.format('first_id', 'second_id')} UNION ALL {side.format('second_id', 'first_id')})"
    rows = await connection.fetch(
        f"SELECT DISTINCT ON (first_number, second_number) * FROM ({_PAIR.format(pairs)}) AS pair "
        "ORDER BY first_number, second_number",
        list(intent_ids),
        most,
    )
    return [ConflictRow(**dict(row)) for row in rows]


async def nearest_pairs(connection: asyncpg.Connection, intent_id: str, limit: int) -> list[ConflictRow]:
    """The open pairs of one intent, nearest range first; places are cut to 20."""
    rows = await connection.fetch(
        f"{_PAIR.format('conflict')} WHERE conflict.state = 'open' AND (first_id = $1 OR second_id = $1) "
        "ORDER BY range, first_number, second_number LIMIT $2",
        intent_id,
        limit,
    )
    return [ConflictRow(**dict(row)) for row in rows]


async def folders_of(
    connection: asyncpg.Connection, intent_ids: Sequence[str], most: int
) -> dict[str, list[str]]:
    """The folders that each intent's declared and pushed changes are in, at most `most` each."""
    rows = await connection.fetch(
        "SELECT mine.id, near.folder FROM unnest($1::text[]) AS mine (id), LATERAL ("
        f"SELECT DISTINCT {_FOLDER} AS folder FROM place WHERE intent_id = mine.id AND role = 'change' "
        "ORDER BY folder LIMIT $2) AS near",
        list(intent_ids),
        most,
    )
    found: dict[str, list[str]] = {}
    for row in rows:
        found.setdefault(row["id"], []).append(row["folder"])
    return found


async def top_folders(
    connection: asyncpg.Connection, project_id: str, after: int, limit: int
) -> list[tuple[str, int]]:
    """How many live intents change something in each top folder (`./` is the root), the busiest first."""
    rows = await connection.fetch(
        "SELECT top, count(*) AS live FROM (SELECT DISTINCT intent_id, CASE WHEN position('/' IN path) > 0 "
        "THEN split_part(path, '/', 1) || '/' ELSE './' END AS top FROM place "
        "WHERE project_id = $1 AND role = 'change') AS found GROUP BY top ORDER BY live DESC, top OFFSET $2 LIMIT $3",
        project_id,
        after,
        limit,
    )
    return [(row["top"], row["live"]) for row in rows]


class Near(NamedTuple):
    """A live intent, and how many folders up from the area one goes to meet it (0: it is in the area)."""

    intent: IntentRow
    steps: int


async def near_area(
    connection: asyncpg.Connection,
    project_id: str,
    above: Sequence[tuple[str, int]],
    after: tuple[int, int] | None,
    limit: int,
) -> list[Near]:
    """Live intents with a place at, in or around these paths, the nearest first, after a (steps, number).

    `above` holds each path of the area (0 steps) and the folders above it, with their steps. A place that covers
    the path is at 0 steps however far up it lies.
    """
    steps, number = after or (-1, 0)
    rows = await connection.fetch(
        "WITH near AS (SELECT * FROM unnest($2::text[], $3::int[]) AS near (path, steps)), "
        "met AS (SELECT intent_id, min(CASE WHEN place.path = near.path THEN 0 ELSE steps END) AS steps "
        "FROM place CROSS JOIN unnest(ancestors) AS folder JOIN near ON near.path = folder "
        "WHERE project_id = $1 AND ancestors && $2 GROUP BY intent_id) "
        "SELECT id, steps FROM met JOIN intent ON id = intent_id WHERE (steps, number) > ($4, $5::bigint) "
        "ORDER BY steps, number LIMIT $6",
        project_id,
        [path for path, _ in above],
        [far for _, far in above],
        steps,
        number,
        limit,
    )
    found = await intents.many(connection, [row["id"] for row in rows])
    return [Near(found[row["id"]], row["steps"]) for row in rows]


async def declared_since(connection: asyncpg.Connection, project_id: str, line: str, seq: int) -> int:
    """How many intents of a line that are live now were declared after the event `seq`."""
    count: int = await connection.fetchval(
        "SELECT count(*) FROM intent WHERE project_id = $1 AND line = $2 AND state NOT IN ('merged', 'withdrawn') "
        "AND created_at > coalesce((SELECT created_at::timestamptz FROM event WHERE project_id = $1 AND seq = $3), '-infinity')",
        project_id,
        line,
        seq,
    )
    return count


async def line_moved_since(connection: asyncpg.Connection, project_id: str, line: str, seq: int) -> bool:
    """Whether something landed on a line after the event `seq`."""
    moved: bool = await connection.fetchval(
        "SELECT EXISTS (SELECT 1 FROM event WHERE project_id = $1 AND entity_id = $2 "
        "AND event_type = 'line.moved' AND seq > $3)",
        project_id,
        line,
        seq,
    )
    return moved


class LandedRow(NamedTuple):
    """A merged intent: what its last push changed, cut to 2,000 paths, and how many paths there were."""

    id: str
    number: int
    title: str
    commit: str | None
    merged_at: datetime
    paths: list[str]
    path_count: int


async def landed(
    connection: asyncpg.Connection, project_id: str, line: str, since: datetime | None, limit: int
) -> list[LandedRow]:
    """What merged on a line, newest first; with `since`, only what merged after it."""
    rows = await connection.fetch(
        "SELECT intent.id, number, title, merged_commit, state_since, coalesce(paths, '{}') AS paths, "
        f"coalesce(count, 0) AS count FROM intent LEFT JOIN LATERAL (SELECT paths[1:{_PATHS_READ}] AS paths, "
        "cardinality(paths) AS count FROM push WHERE intent_id = intent.id ORDER BY created_at DESC, id DESC LIMIT 1"
        ") AS pushed ON true WHERE project_id = $1 AND line = $2 AND state = 'merged' "
        "AND ($3::timestamptz IS NULL OR state_since > $3) ORDER BY state_since DESC, number DESC LIMIT $4",
        project_id,
        line,
        since,
        limit,
    )
    return [LandedRow(*row) for row in rows]


async def landed_at(
    connection: asyncpg.Connection, project_id: str, line: str, commit: str, since: datetime
) -> datetime:
    """When `commit` landed on a line, if an intent's merge since `since` made it; else `since`."""
    found: datetime | None = await connection.fetchval(
        "SELECT state_since FROM intent WHERE project_id = $1 AND line = $2 AND state = 'merged' "
        "AND state_since >= $4 AND merged_commit = $3",
        project_id,
        line,
        commit,
        since,
    )
    return found or since
