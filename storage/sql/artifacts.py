"""The files that check runs handed over."""

from collections.abc import Sequence
from datetime import datetime
from typing import NamedTuple

import asyncpg


class ArtifactRow(NamedTuple):
    """One file, without its content."""

    number: int
    name: str
    bytes: int


class GroundRow(NamedTuple):
    """What held for a run, in words, and how many files were left out."""

    isolation: list[str]
    left_out: int


async def keep(connection: asyncpg.Connection, check_id: str, files: Sequence[tuple[str, bytes]]) -> None:
    """Keep a run's files, in place of those of an earlier try."""
    await connection.execute("DELETE FROM check_artifact WHERE check_id = $1", check_id)
    await connection.executemany(
        "INSERT INTO check_artifact (check_id, number, name, content) VALUES ($1, $2, $3, $4)",
        [(check_id, number, name, content) for number, (name, content) in enumerate(files, 1)],
    )


async def keep_ground(
    connection: asyncpg.Connection, check_id: str, isolation: Sequence[str], left_out: int, now: datetime
) -> None:
    """Keep what held for a run, and how many of the files its check named are not kept."""
    await connection.execute(
        "INSERT INTO check_ground (check_id, isolation, left_out, kept_at) VALUES ($1, $2, $3, $4) "
        "ON CONFLICT (check_id) DO UPDATE SET isolation = $2, left_out = $3, kept_at = $4",
        check_id,
        list(isolation),
        left_out,
        now,
    )


async def ground(connection: asyncpg.Connection, check_id: str) -> GroundRow:
    """What is kept of it; nothing for a run that has not ended."""
    row = await connection.fetchrow(
        "SELECT isolation, left_out FROM check_ground WHERE check_id = $1", check_id
    )
    return GroundRow(*row) if row else GroundRow([], 0)


async def listed(connection: asyncpg.Connection, check_id: str) -> list[ArtifactRow]:
    """A run's files, in their order."""
    rows = await connection.fetch(
        "SELECT number, name, length(content) FROM check_artifact WHERE check_id = $1 ORDER BY number",
        check_id,
    )
    return [ArtifactRow(*row) for row in rows]


async def of_checks(connection: asyncpg.Connection, check_ids: Sequence[str]) -> dict[str, list[ArtifactRow]]:
    """The files of several runs; those without any are left out."""
    rows = await connection.fetch(
        "SELECT check_id, number, name, length(content) FROM check_artifact WHERE check_id = ANY($1) "
        "ORDER BY check_id, number",
        list(check_ids),
    )
    found: dict[str, list[ArtifactRow]] = {}
    for check_id, *row in rows:
        found.setdefault(check_id, []).append(ArtifactRow(*row))
    return found


async def content(connection: asyncpg.Connection, check_id: str, number: int) -> tuple[str, bytes] | None:
    """One file: its name and what is in it."""
    row = await connection.fetchrow(
        "SELECT name, content FROM check_artifact WHERE check_id = $1 AND number = $2", check_id, number
    )
    return (row["name"], row["content"]) if row else None


async def sweep(connection: asyncpg.Connection, before: datetime, most_bytes: int) -> int:
    """Remove files kept before then, and of each project's the oldest beyond `most_bytes`; how many files that were."""
    gone = await connection.fetch(
        "WITH file AS (SELECT a.check_id, a.number, g.kept_at, sum(length(a.content)) OVER "
        "(PARTITION BY r.project_id ORDER BY g.kept_at DESC, a.check_id, a.number) AS total "
        "FROM check_artifact a JOIN check_ground g USING (check_id) JOIN check_run r ON r.id = a.check_id) "
        "DELETE FROM check_artifact USING file WHERE check_artifact.check_id = file.check_id "
        "AND check_artifact.number = file.number AND (file.kept_at < $1 OR file.total > $2) "
        "RETURNING check_artifact.number",
        before,
        most_bytes,
    )
    return len(gone)
