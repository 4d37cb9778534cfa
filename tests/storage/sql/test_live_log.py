"""The output of running checks: pieces from any byte on, one try at a time, and nothing left of ended runs."""

from datetime import UTC, datetime, timedelta

import asyncpg

from protocol.ids import new_id
from storage.sql import artifacts, live_log
from storage.sql.pool import transaction
from tests.storage.sql.ledger import new_project

NOW = datetime(2026, 11, 30, 12, tzinfo=UTC)
LATER = NOW + timedelta(minutes=1)


async def run_of(pool: asyncpg.Pool, project_id: str, state: str = "running") -> str:
    """A check run of a project."""
    check_id = new_id("chk")
    await pool.execute(
        "INSERT INTO check_run (id, project_id, line, line_head, commit_id, tree, definition, state, started_at) "
        "VALUES ($1, $2, 'main', 'a', 'b', 'c', 'd', $3, $4)",
        check_id,
        project_id,
        state,
        NOW,
    )
    return check_id


async def append(pool: asyncpg.Pool, check_id: str, began: datetime, start: int, content: bytes) -> bool:
    """Add one piece."""
    async with transaction(pool) as connection:
        return await live_log.append(
            connection,
            check_id,
            began,
            start=start,
            content=content,
            written=start + len(content),
            progress={"lines": 1},
            tail=content,
            now=began,
        )


async def printed(pool: asyncpg.Pool, check_id: str, after: int = 0, limit: int = 1000) -> bytes:
    """What was printed after a byte."""
    async with transaction(pool, readonly=True) as connection:
        return await live_log.printed(connection, check_id, after, limit)


async def test_output_is_read_from_any_byte_on_in_bounded_pieces(pool: asyncpg.Pool) -> None:
    check_id = await run_of(pool, await new_project(pool))
    async with transaction(pool) as connection:
        await live_log.begin(connection, check_id, NOW)
    for start, content in ((0, b"one\n"), (4, b"two\n"), (8, b"three\n")):
        assert await append(pool, check_id, NOW, start, content)
    assert await printed(pool, check_id) == b"one\ntwo\nthree\n"
    assert await printed(pool, check_id, after=5) == b"wo\nthree\n"
    assert await printed(pool, check_id, limit=1) == b"one\n"
    assert await printed(pool, check_id, after=14) == b""
    async with transaction(pool, readonly=True) as connection:
        live = await live_log.live(connection, check_id)
    assert live == (NOW, 14, {"lines": 1}, b"three\n")


async def test_what_a_lost_worker_still_writes_is_left_out(pool: asyncpg.Pool) -> None:
    check_id = await run_of(pool, await new_project(pool))
    for began in (NOW, LATER):
        async with transaction(pool) as connection:
            await live_log.begin(connection, check_id, began)
    assert await append(pool, check_id, LATER, 0, b"again\n")
    assert not await append(pool, check_id, NOW, 0, b"ghost\n")
    assert await printed(pool, check_id) == b"again\n"
    async with transaction(pool) as connection:
        await live_log.end(connection, [check_id])
    assert not await append(pool, check_id, LATER, 6, b"late\n")


async def test_leftovers_of_ended_and_of_silent_runs_are_swept(pool: asyncpg.Pool) -> None:
    project_id = await new_project(pool)
    running, ended, silent = [await run_of(pool, project_id, s) for s in ("running", "failed", "running")]
    for check_id, began in ((running, LATER), (ended, LATER), (silent, NOW)):
        async with transaction(pool) as connection:
            await live_log.begin(connection, check_id, began)
        await append(pool, check_id, began, 0, b"x")
    async with transaction(pool) as connection:
        assert await live_log.sweep(connection, LATER) == 2
    left = await pool.fetch("SELECT check_id FROM check_output")
    assert [row["check_id"] for row in left] == [running]


async def test_files_go_when_they_are_old_and_when_they_are_too_many(pool: asyncpg.Pool) -> None:
    one, other = await new_project(pool), await new_project(pool)
    kept = [(one, NOW, 10), (one, LATER, 30), (one, LATER + timedelta(seconds=1), 40), (other, LATER, 90)]
    for project_id, at, size in kept:
        check_id = await run_of(pool, project_id, "passed")
        async with transaction(pool) as connection:
            await artifacts.keep(connection, check_id, [("a", b"x" * size)])
            await artifacts.keep_ground(connection, check_id, [], 0, at)
    async with transaction(pool) as connection:
        assert await artifacts.sweep(connection, LATER, 100) == 1
        assert await artifacts.sweep(connection, LATER, 60) == 2
    left = await pool.fetch("SELECT length(content) AS size FROM check_artifact")
    assert [row["size"] for row in left] == [40]
