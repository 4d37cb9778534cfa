"""A slow or absent record ends a call with `RecordBusy` within seconds; it never holds it."""

import asyncio
import os
import signal

import asyncpg
import pytest

from protocol.ids import new_id
from runtime.ports import free_port
from storage.sql.pool import (
    OutcomeUnknown,
    RecordBusy,
    UnknownProject,
    lock_project,
    open_pool,
    transaction,
)
from tests.storage.sql.ledger import commit, new_project, pushed


async def test_json_columns_travel_as_python_values(pool):
    async with transaction(pool) as connection:
        value = {"a": [1, None, "é"], "b": {"c": True}}
        assert await connection.fetchval("SELECT $1::jsonb", value) == value
        assert await connection.fetchval("SELECT $1::json", value) == value
        assert await connection.fetchval("SELECT NULL::jsonb") is None


async def test_an_exception_in_the_block_rolls_back_and_comes_through(pool):
    project_id = new_id("prj")
    with pytest.raises(KeyError):
        async with transaction(pool) as connection:
            await connection.execute("INSERT INTO person VALUES ($1, 'Ana', now())", project_id)
            raise KeyError
    async with transaction(pool) as connection:
        assert await connection.fetchval("SELECT count(*) FROM person WHERE id = $1", project_id) == 0


async def test_a_read_only_snapshot_does_not_see_what_commits_meanwhile(pool):
    project_id = await new_project(pool)
    count = "SELECT count(*) FROM event WHERE project_id = $1"
    async with transaction(pool, isolation="repeatable_read", readonly=True) as connection:
        assert await connection.fetchval(count, project_id) == 0
        await commit(pool, project_id, pushed(None))
        assert await connection.fetchval(count, project_id) == 0
        with pytest.raises(asyncpg.ReadOnlySQLTransactionError):
            await connection.execute("DELETE FROM outbox")


async def test_the_lock_answers_the_counters(pool):
    project_id = await new_project(pool)
    (event,) = await commit(pool, project_id, pushed(None))
    async with transaction(pool) as connection:
        assert await lock_project(connection, project_id) == (1, event.event_hash, 0)
        with pytest.raises(UnknownProject):
            await lock_project(connection, new_id("prj"))


async def test_the_lock_outside_a_transaction_is_refused(pool):
    async with pool.acquire() as connection:
        with pytest.raises(RuntimeError, match="transaction"):
            await lock_project(connection, new_id("prj"))


async def test_a_project_locked_too_long_is_busy_and_another_project_is_not(pool):
    held, free = await new_project(pool), await new_project(pool)
    async with transaction(pool) as holder:
        await lock_project(holder, held)
        with pytest.raises(RecordBusy, match="locked"):
            async with transaction(pool) as connection:
                await lock_project(connection, held, timeout=0.05)
        async with transaction(pool) as connection:
            await lock_project(connection, free, timeout=0.05)
    async with transaction(pool) as connection:
        await lock_project(connection, held, timeout=0.05)


async def test_a_pool_without_a_free_connection_is_busy(database):
    pool = await open_pool(database, max_size=1)
    async with transaction(pool), asyncio.timeout(20):
        with pytest.raises(RecordBusy, match="free connection"):
            async with transaction(pool, acquire_timeout=0.05):
                pass
    async with transaction(pool) as connection:
        assert await connection.fetchval("SELECT 1") == 1
    await pool.close()


async def test_a_statement_past_its_time_is_busy_and_the_pool_goes_on(database):
    pool = await open_pool(database, max_size=1, statement_timeout=0.4)
    with pytest.raises(RecordBusy):
        async with transaction(pool) as connection:
            await connection.execute("SELECT pg_sleep(60)")
    async with transaction(pool) as connection:
        assert await connection.fetchval("SELECT 1") == 1
    await pool.close()


async def test_a_connection_that_breaks_before_commit_is_busy_and_the_pool_goes_on(pool):
    with pytest.raises(RecordBusy):
        async with transaction(pool) as connection:
            await _terminate(pool, connection)
            await connection.fetchval("SELECT 1")
    async with transaction(pool) as connection:
        assert await connection.fetchval("SELECT 1") == 1


async def test_a_connection_that_breaks_at_commit_leaves_the_outcome_unknown(pool):
    with pytest.raises(OutcomeUnknown):
        async with transaction(pool) as connection:
            await connection.execute("SELECT 1")
            await _terminate(pool, connection)


@pytest.mark.parametrize("moment", ["before", "within"])
async def test_a_frozen_server_process_does_not_hold_its_caller(database, moment):
    pool = await open_pool(database, max_size=1, statement_timeout=0.2)
    pid = await pool.fetchval("SELECT pg_backend_pid()")
    try:
        async with asyncio.timeout(30):
            with pytest.raises(RecordBusy):
                if moment == "before":
                    os.kill(pid, signal.SIGSTOP)
                async with transaction(pool) as connection:
                    os.kill(pid, signal.SIGSTOP)
                    await connection.fetchval("SELECT 1")
    finally:
        os.kill(pid, signal.SIGCONT)
    async with transaction(pool) as connection:
        assert await connection.fetchval("SELECT pg_backend_pid()") != pid
    await pool.close()


async def test_a_record_that_is_not_there_is_busy():
    with pytest.raises(RecordBusy, match="reached"):
        await open_pool(f"postgresql://nobody@127.0.0.1:{free_port()}/none")


async def _terminate(pool: asyncpg.Pool, connection: asyncpg.Connection) -> None:
    pid = await connection.fetchval("SELECT pg_backend_pid()")
    await pool.execute("SELECT pg_terminate_backend($1, 10000)", pid)
