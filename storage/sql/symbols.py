"""What was read from source files: symbols by content, and a line's import edges.

The symbols of a content are kept under (blob, language, extractor): another language or a newer extractor reads
it anew. Edges belong to a line; they are written by one indexing run at a time, the latest that began.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import asyncpg

from protocol.symbols import FileSymbols


class BlobKey(NamedTuple):
    """A file content and the language it is read in."""

    blob: str
    language: str


class Edges(NamedTuple):
    """What each asked path imports, and who imports it; paths without any are left out."""

    imports: dict[str, set[str]]
    imported_by: dict[str, set[str]]


async def get_many(
    connection: asyncpg.Connection, keys: Iterable[BlobKey], extractor: int
) -> dict[BlobKey, FileSymbols]:
    """What is known of these contents."""
    rows = await _rows(connection, keys, extractor, "found")
    return {key: FileSymbols.model_validate(found) for key, found in rows}


async def imports_of(
    connection: asyncpg.Connection, keys: Iterable[BlobKey], extractor: int
) -> dict[BlobKey, list[str]]:
    """The raw imports alone, which is all that edges need."""
    return dict(await _rows(connection, keys, extractor, "found->'imports'"))


async def _rows(
    connection: asyncpg.Connection, keys: Iterable[BlobKey], extractor: int, what: str
) -> list[tuple[BlobKey, Any]]:
    asked = list(keys)
    rows = await connection.fetch(
        f"SELECT blob, language, {what} AS found FROM blob_symbols "
        "JOIN unnest($1::text[], $2::text[]) AS asked (blob, language) USING (blob, language) WHERE extractor = $3",
        [key.blob for key in asked],
        [key.language for key in asked],
        extractor,
    )
    return [(BlobKey(row["blob"], row["language"]), row["found"]) for row in rows]


async def save_many(
    connection: asyncpg.Connection, found: Mapping[BlobKey, FileSymbols], extractor: int
) -> None:
    """Remember what was read; a content that is known already stays as it is."""
    # In one order, so that two that save the same contents do not wait on each other in a circle.
    keys = sorted(found)
    await connection.execute(
        "INSERT INTO blob_symbols (blob, language, found, extractor) "
        "SELECT blob, language, found::jsonb, $4 FROM unnest($1::text[], $2::text[], $3::text[]) "
        "AS read (blob, language, found) ON CONFLICT DO NOTHING",
        [key.blob for key in keys],
        [key.language for key in keys],
        [found[key].model_dump_json() for key in keys],
        extractor,
    )


async def edges_of(
    connection: asyncpg.Connection, project_id: str, line: str, paths: Collection[str]
) -> Edges:
    """The import edges of these files, both ways."""
    rows = await connection.fetch(
        "SELECT path, target FROM import_edge WHERE project_id = $1 AND line = $2 AND path = ANY ($3::text[]) "
        "UNION SELECT path, target FROM import_edge "
        "WHERE project_id = $1 AND line = $2 AND target = ANY ($3::text[])",
        project_id,
        line,
        list(paths),
    )
    asked = set(paths)
    edges = Edges({}, {})
    for path, target in rows:
        if path in asked:
            edges.imports.setdefault(path, set()).add(target)
        if target in asked:
            edges.imported_by.setdefault(target, set()).add(path)
    return edges


async def replace_edges_of_files(
    connection: asyncpg.Connection, project_id: str, line: str, targets: Mapping[str, Sequence[str]]
) -> None:
    """Set what each of these files imports; a file with nothing has no edge any more."""
    await connection.execute(
        "DELETE FROM import_edge WHERE project_id = $1 AND line = $2 AND path = ANY ($3::text[])",
        project_id,
        line,
        list(targets),
    )
    pairs = [(path, target) for path, found in targets.items() for target in found]
    await connection.execute(
        "INSERT INTO import_edge (project_id, line, path, target) "
        "SELECT $1, $2, path, target FROM unnest($3::text[], $4::text[]) AS read (path, target) "
        "ON CONFLICT DO NOTHING",
        project_id,
        line,
        [path for path, _ in pairs],
        [target for _, target in pairs],
    )


async def forget_files(
    connection: asyncpg.Connection, project_id: str, line: str, paths: Collection[str]
) -> None:
    """Drop every edge from and to files that are gone."""
    await connection.execute(
        "DELETE FROM import_edge WHERE project_id = $1 AND line = $2 "
        "AND (path = ANY ($3::text[]) OR target = ANY ($3::text[]))",
        project_id,
        line,
        list(paths),
    )


async def forget_line(connection: asyncpg.Connection, project_id: str, line: str) -> None:
    """Drop every edge of a line, before it is indexed from the start."""
    await connection.execute("DELETE FROM import_edge WHERE project_id = $1 AND line = $2", project_id, line)


async def indexed_commit(connection: asyncpg.Connection, project_id: str, line: str) -> str | None:
    """The commit whose edges are stored; None while the line was never indexed to the end."""
    found: str | None = await connection.fetchval(
        "SELECT commit_id FROM line_index WHERE project_id = $1 AND line = $2", project_id, line
    )
    return found


async def begin_run(connection: asyncpg.Connection, project_id: str, line: str, run: str) -> str | None:
    """Make `run` the one that may write the line's edges. Returns the commit indexed so far."""
    found: str | None = await connection.fetchval(
        "INSERT INTO line_index (project_id, line, run) VALUES ($1, $2, $3) "
        "ON CONFLICT (project_id, line) DO UPDATE SET run = $3 RETURNING commit_id",
        project_id,
        line,
        run,
    )
    return found


async def hold_run(connection: asyncpg.Connection, project_id: str, line: str, run: str) -> bool:
    """Whether `run` may still write; if so, no other can begin before this transaction ends."""
    found = await connection.fetchval(
        "SELECT true FROM line_index WHERE project_id = $1 AND line = $2 AND run = $3 FOR UPDATE",
        project_id,
        line,
        run,
    )
    return bool(found)


async def end_run(
    connection: asyncpg.Connection, project_id: str, line: str, run: str, commit: str | None
) -> None:
    """Note that the edges are those of `commit`, or (None) of no commit yet; of the latest run only."""
    await connection.execute(
        "UPDATE line_index SET commit_id = $4 WHERE project_id = $1 AND line = $2 AND run = $3",
        project_id,
        line,
        run,
        commit,
    )
