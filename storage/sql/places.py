"""Places of live intents: kept as rows so that who meets whom is an index look-up."""

from collections.abc import Sequence

import asyncpg

from protocol.records import PlaceRow


async def replace(
    connection: asyncpg.Connection,
    *,
    intent_id: str,
    project_id: str,
    line: str,
    source: str,
    places: Sequence[tuple[str, str, str, list[str]]],
) -> None:
    """Set the places of one source (`declared` or `pushed`): (role, path, symbol, ancestors) each."""
    await connection.execute("DELETE FROM place WHERE intent_id = $1 AND source = $2", intent_id, source)
    await connection.executemany(
        "INSERT INTO place (intent_id, project_id, line, role, source, path, symbol, ancestors) "
        "VALUES ($1, $2, $3, $4, $5, $6, $7, $8) ON CONFLICT DO NOTHING",
        [
            (intent_id, project_id, line, role, source, path, symbol, above)
            for role, path, symbol, above in places
        ],
    )


async def forget(connection: asyncpg.Connection, intent_ids: Sequence[str]) -> None:
    """Drop the places of intents that are final."""
    await connection.execute("DELETE FROM place WHERE intent_id = ANY($1)", list(intent_ids))


async def of_intents(connection: asyncpg.Connection, intent_ids: Sequence[str]) -> list[PlaceRow]:
    """All places of these intents."""
    rows = await connection.fetch(
        "SELECT intent_id, role, source, path, symbol FROM place WHERE intent_id = ANY($1)", list(intent_ids)
    )
    return [PlaceRow(**dict(row)) for row in rows]


async def met_by(
    connection: asyncpg.Connection,
    project_id: str,
    line: str,
    paths: Sequence[str],
    above: Sequence[str],
    but: str,
) -> list[str]:
    """Live intents of the line that have a place at, above or below one of `paths`.

    `above` holds every ancestor of the paths: a place there covers one of them; and a place whose own
    ancestors hold one of the paths lies below it. Both questions are answered by an index.
    """
    rows = await connection.fetch(
        "SELECT intent_id FROM place WHERE project_id = $1 AND line = $2 AND path = ANY($4) AND intent_id <> $5 "
        "UNION SELECT intent_id FROM place WHERE ancestors && $3::text[] AND project_id = $1 AND line = $2 "
        "AND intent_id <> $5",
        project_id,
        line,
        list(paths),
        list(above),
        but,
    )
    return [row["intent_id"] for row in rows]
