"""Brings a database to the shape this version needs: numbered SQL files, each applied once, in order."""

import hashlib
import re
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

import asyncpg

FOLDER = Path(__file__).parent / "migrations"
FILE_NAME = re.compile(r"\d{4}_[a-z0-9_]+\.sql")

# Any fixed number; it names this lock among the advisory locks of the database.
LOCK = 4_706_221_873

CREATE_TABLE = """
CREATE TABLE IF NOT EXISTS migration (
    name        text PRIMARY KEY,
    sha256      text NOT NULL,
    applied_at  timestamptz NOT NULL DEFAULT now()
)"""


class MigrationRefused(Exception):
    """The files and the database disagree; the text names the file and the next step."""


class MigrationFailed(Exception):
    """A file did not apply and left nothing; the text holds the database's reason."""


@dataclass(frozen=True)
class _File:
    name: str
    text: str

    @property
    def sha256(self) -> str:
        return hashlib.sha256(self.text.encode()).hexdigest()


async def migrate(connection: asyncpg.Connection, folder: Path = FOLDER) -> list[str]:
    """Apply what is missing and return the names applied, in order.

    Safe to run from several processes at once: the others wait, then find nothing left to do. Each file is one
    transaction that waits at most 4 s for a lock, so that it never stands in front of a running server.
    Raises MigrationRefused or MigrationFailed.
    """
    files = _read(folder)
    await connection.execute("SELECT pg_advisory_lock($1)", LOCK)
    try:
        await connection.execute(CREATE_TABLE)
        rows = await connection.fetch("SELECT name, sha256 FROM migration ORDER BY name")
        pending = _pending(files, {row["name"]: row["sha256"] for row in rows})
        for file in pending:
            await _apply(connection, file)
        return [file.name for file in pending]
    finally:
        await connection.execute("SELECT pg_advisory_unlock($1)", LOCK)


async def ensure_database(dsn: str) -> None:
    """Make the database that `dsn` names where the server lacks it."""
    try:
        connection = await asyncpg.connect(dsn)
    except asyncpg.InvalidCatalogNameError:
        await _create_database(dsn)
    else:
        await connection.close()


def _read(folder: Path) -> list[_File]:
    paths = sorted(folder.glob("*.sql"))
    for path in paths:
        if not FILE_NAME.fullmatch(path.name):
            raise MigrationRefused(
                f"{path.name}: name it like 0002_what_it_does.sql, so that the order is plain."
            )
    return [_File(path.name, path.read_text(encoding="utf-8")) for path in paths]


def _pending(files: list[_File], applied: dict[str, str]) -> list[_File]:
    unknown = applied.keys() - {file.name for file in files}
    if unknown:
        raise MigrationRefused(
            f"The database already has {min(unknown)}, which this version does not know."
            " Run the version that applied it, or a newer one."
        )
    for file in files:
        if applied.get(file.name, file.sha256) != file.sha256:
            raise MigrationRefused(
                f"{file.name} was changed after it was applied. Put its text back and write the change as a new file."
            )
    last = max(applied, default="")
    pending = [file for file in files if file.name not in applied]
    if pending and pending[0].name < last:
        raise MigrationRefused(
            f"{pending[0].name} sorts before {last}, which is applied. Give it a later number."
        )
    return pending


async def _apply(connection: asyncpg.Connection, file: _File) -> None:
    try:
        async with connection.transaction():
            await connection.execute("SET LOCAL lock_timeout = '4s'")
            await connection.execute(file.text)
            await connection.execute(
                "INSERT INTO migration (name, sha256) VALUES ($1, $2)", file.name, file.sha256
            )
    except asyncpg.LockNotAvailableError as problem:
        raise MigrationFailed(
            f"{file.name} waited 4 s for a table that others use and gave up. Run it again at a quieter moment."
        ) from problem
    except asyncpg.PostgresError as problem:
        raise MigrationFailed(f"{file.name} did not apply: {problem}") from problem


async def _create_database(dsn: str) -> None:
    name = urlsplit(dsn).path.removeprefix("/").replace('"', '""')
    connection = await asyncpg.connect(dsn, database="postgres")
    try:
        await connection.execute(f'CREATE DATABASE "{name}"')
    except (asyncpg.DuplicateDatabaseError, asyncpg.UniqueViolationError):
        pass  # another process was faster; the second error is how a tie in the same moment looks
    finally:
        await connection.close()
