"""Numbered SQL files against a real database."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import asyncpg
import pytest
import pytest_asyncio

from protocol.ids import new_id
from runtime.embedded.postgres import Postgres
from storage.sql.migrate import FOLDER, MigrationFailed, MigrationRefused, ensure_database, migrate


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Two files that apply."""
    (tmp_path / "0001_first.sql").write_text("CREATE TABLE thing (id int PRIMARY KEY);")
    (tmp_path / "0002_second.sql").write_text("INSERT INTO thing VALUES (1); INSERT INTO thing VALUES (2);")
    return tmp_path


@pytest_asyncio.fixture
async def empty(postgres: Postgres) -> AsyncIterator[str]:
    """The dsn of a database without a table, made by the product."""
    dsn = postgres.url_of(new_id("test").lower())
    await ensure_database(dsn)
    yield dsn
    administrator = await asyncpg.connect(postgres.url_of("postgres"))
    await administrator.execute(f"DROP DATABASE {dsn.rsplit('/', 1)[1]} WITH (FORCE)")
    await administrator.close()


@pytest_asyncio.fixture
async def connection(empty: str) -> AsyncIterator[asyncpg.Connection]:
    """A session on it."""
    opened = await asyncpg.connect(empty)
    yield opened
    await opened.close()


async def test_files_are_applied_once_and_in_order(connection: asyncpg.Connection, folder: Path) -> None:
    assert await migrate(connection, folder) == ["0001_first.sql", "0002_second.sql"]
    assert await migrate(connection, folder) == []
    (folder / "0003_third.sql").write_text("INSERT INTO thing VALUES (3)")
    assert await migrate(connection, folder) == ["0003_third.sql"]
    assert await connection.fetchval("SELECT count(*) FROM thing") == 3


async def test_processes_that_start_together_apply_each_file_once(empty: str) -> None:
    sessions = await asyncio.gather(*(asyncpg.connect(empty) for _ in range(4)))
    applied = await asyncio.gather(*(migrate(session) for session in sessions))
    assert sorted(map(len, applied)) == [0, 0, 0, len(list(FOLDER.glob("*.sql")))]
    await asyncio.gather(*(session.close() for session in sessions))


async def test_a_file_that_fails_leaves_nothing_and_can_be_repaired(
    connection: asyncpg.Connection, folder: Path
) -> None:
    (folder / "0003_third.sql").write_text("INSERT INTO thing VALUES (3); SELECT 1 / 0")
    with pytest.raises(MigrationFailed, match=r"0003_third.sql did not apply: division by zero"):
        await migrate(connection, folder)
    assert await connection.fetchval("SELECT count(*) FROM thing") == 2
    (folder / "0003_third.sql").write_text("INSERT INTO thing VALUES (3)")
    assert await migrate(connection, folder) == ["0003_third.sql"]


async def test_a_file_changed_after_it_was_applied_is_refused(
    connection: asyncpg.Connection, folder: Path
) -> None:
    await migrate(connection, folder)
    (folder / "0001_first.sql").write_text("CREATE TABLE other (id int);")
    with pytest.raises(MigrationRefused, match=r"0001_first.sql was changed"):
        await migrate(connection, folder)


async def test_a_database_of_a_newer_version_is_refused(connection: asyncpg.Connection, folder: Path) -> None:
    await migrate(connection, folder)
    (folder / "0002_second.sql").unlink()
    with pytest.raises(MigrationRefused, match=r"0002_second.sql, which this version does not know"):
        await migrate(connection, folder)


async def test_a_new_file_must_come_after_the_applied_ones(
    connection: asyncpg.Connection, folder: Path
) -> None:
    await migrate(connection, folder)
    (folder / "0001_a_late_one.sql").write_text("SELECT 1")
    with pytest.raises(MigrationRefused, match=r"0001_a_late_one.sql sorts before"):
        await migrate(connection, folder)


async def test_a_file_without_number_is_refused(connection: asyncpg.Connection, folder: Path) -> None:
    (folder / "fix.sql").write_text("SELECT 1")
    with pytest.raises(MigrationRefused, match=r"fix.sql: name it like"):
        await migrate(connection, folder)


async def test_a_migration_gives_up_on_a_table_that_is_held_and_can_be_repeated(
    connection: asyncpg.Connection, empty: str, folder: Path
) -> None:
    await migrate(connection, folder)
    (folder / "0003_third.sql").write_text("ALTER TABLE thing ADD COLUMN name text")
    holder = await asyncpg.connect(empty)
    async with holder.transaction():
        await holder.execute("LOCK TABLE thing")
        with pytest.raises(MigrationFailed, match=r"0003_third.sql waited 4 s"):
            await migrate(connection, folder)
    await holder.close()
    assert await migrate(connection, folder) == ["0003_third.sql"]


async def test_the_database_is_made_once(empty: str) -> None:
    await asyncio.gather(ensure_database(empty), ensure_database(empty))
    fresh = empty + "_more"
    await asyncio.gather(*(ensure_database(fresh) for _ in range(3)))
    session = await asyncpg.connect(fresh)
    assert await session.fetchval("SELECT current_database()") == fresh.rsplit("/", 1)[1]
    await session.close()
    administrator = await asyncpg.connect(empty)
    await administrator.execute(f"DROP DATABASE {fresh.rsplit('/', 1)[1]} WITH (FORCE)")
    await administrator.close()
