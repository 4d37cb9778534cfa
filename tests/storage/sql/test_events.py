"""The ledger on a real Postgres: its order, its chain, and that nobody rewrites it."""

import asyncio
import hashlib
from collections.abc import AsyncIterator
from datetime import datetime

import asyncpg
import pytest
import pytest_asyncio

from protocol.events import ChainVerdict
from protocol.ids import new_id
from storage.sql.events import append, audit, last_seq, last_seq_of_intent, read_after
from storage.sql.outbox import done, pending
from storage.sql.pool import UnknownProject, lock_project, transaction
from tests.storage.sql.ledger import NOON, commit, new_project, pushed

INTENT = new_id("int")
OTHER = new_id("int")


@pytest_asyncio.fixture
async def project_id(pool: asyncpg.Pool) -> str:
    return await new_project(pool)


@pytest_asyncio.fixture
async def connection(database: str) -> AsyncIterator[asyncpg.Connection]:
    opened = await asyncpg.connect(database)
    try:
        yield opened
    finally:
        opened.terminate()


async def test_events_of_one_call_follow_each_other_and_the_ones_before(pool, project_id):
    first = await commit(pool, project_id, pushed(INTENT, head="a"), pushed(OTHER, head="b"))
    then = await commit(pool, project_id, pushed(None, head="c"))

    events = first + then
    assert [event.seq for event in events] == [1, 2, 3]
    assert [event.prev_hash for event in events] == ["GENESIS", *(event.event_hash for event in events[:2])]
    assert {event.created_at for event in events} == {"2030-01-02T12:00:00.000005Z"}
    assert len({event.event_id for event in events}) == 3
    async with transaction(pool) as connection:
        assert await read_after(connection, project_id, 0, 10) == events


async def test_the_hash_of_a_row_covers_its_stored_text(pool, project_id, connection):
    await commit(
        pool, project_id, pushed(INTENT, note='Grüße, "quoted" | piped', deep={"b": 1, "a": [None, 1.5]})
    )

    row = await connection.fetchrow("SELECT * FROM event WHERE project_id = $1", project_id)
    assert row["payload"] == '{"note":"Grüße, \\"quoted\\" | piped","deep":{"b":1,"a":[null,1.5]}}'
    text = "|".join(
        (
            "GENESIS",
            row["event_id"],
            "1",
            "intent.pushed",
            "Intent",
            INTENT,
            "claude-code",
            "2030-01-02T12:00:00.000005Z",
            row["payload"],
        )
    )
    assert row["event_hash"] == hashlib.sha256(text.encode()).hexdigest()


async def test_a_reader_gets_what_is_after_its_seq_oldest_first_and_no_more_than_it_asked_for(
    pool, project_id
):
    await commit(pool, project_id, *(pushed(OTHER if n % 2 else INTENT, n=n) for n in range(6)))

    async with transaction(pool) as connection:
        assert [e.seq for e in await read_after(connection, project_id, 2, 3)] == [3, 4, 5]
        assert [e.seq for e in await read_after(connection, project_id, 1, 10, INTENT)] == [3, 5]
        assert await read_after(connection, project_id, 6, 10) == []
        assert await last_seq(connection, project_id) == 6
        assert await last_seq_of_intent(connection, INTENT) == 5
        assert await last_seq_of_intent(connection, new_id("int")) == 0


async def test_ledgers_of_two_projects_do_not_touch(pool, project_id):
    elsewhere = await new_project(pool)
    await commit(pool, project_id, pushed(INTENT))
    (event,) = await commit(pool, elsewhere, pushed(OTHER))

    assert (event.seq, event.prev_hash) == (1, "GENESIS")
    async with transaction(pool) as connection:
        assert await read_after(connection, project_id, 0, 10, OTHER) == []


async def test_a_transaction_that_fails_leaves_no_event_and_no_gap(pool, project_id):
    with pytest.raises(ZeroDivisionError):
        async with transaction(pool) as connection:
            await lock_project(connection, project_id)
            await append(connection, project_id, [pushed(INTENT)], NOON)
            raise ZeroDivisionError

    (event,) = await commit(pool, project_id, pushed(INTENT))
    assert event.seq == 1
    async with transaction(pool) as connection:
        assert len(await pending(connection, 10)) == 1


async def test_thirty_appenders_at_once_leave_no_gap_and_one_chain(pool, project_id, connection):
    async def append_five(n: int) -> None:
        for turn in range(5):
            await commit(pool, project_id, pushed(INTENT, n=n, turn=turn), pushed(OTHER, n=n, turn=turn))

    await asyncio.gather(*(append_five(n) for n in range(30)))

    verdict = await audit(connection, project_id, page=37)
    assert verdict == ChainVerdict(valid=True, events_verified=300, last_seq=300, head_hash=verdict.head_hash)
    events = await connection.fetch("SELECT seq FROM event WHERE project_id = $1 ORDER BY seq", project_id)
    assert [row["seq"] for row in events] == list(range(1, 301))


async def test_appenders_that_forgot_the_lock_wait_for_each_other_all_the_same(pool, project_id, connection):
    async def append_without_lock() -> None:
        async with transaction(pool, acquire_timeout=20) as own:
            await append(own, project_id, [pushed(INTENT)], NOON)

    await asyncio.gather(*(append_without_lock() for _ in range(20)))
    assert (await audit(connection, project_id)).events_verified == 20


async def test_a_reader_at_the_last_seq_never_finds_a_smaller_one_later(pool, project_id):
    seen: list[int] = []

    async def follow() -> None:
        while len(seen) < 60:
            async with transaction(pool) as connection:
                seen.extend(e.seq for e in await read_after(connection, project_id, max(seen, default=0), 7))

    async with asyncio.timeout(30):
        await asyncio.gather(follow(), *(commit(pool, project_id, pushed(INTENT, n=n)) for n in range(60)))
    assert seen == list(range(1, 61))


@pytest.mark.parametrize(
    "statement",
    ["UPDATE event SET payload = '{}'", "DELETE FROM event", "TRUNCATE event", "TRUNCATE event CASCADE"],
)
async def test_the_owner_of_the_table_cannot_rewrite_the_ledger(pool, project_id, connection, statement):
    await commit(pool, project_id, pushed(INTENT))
    owner = await connection.fetchval(
        "SELECT tableowner = current_user FROM pg_tables WHERE tablename = 'event'"
    )
    assert owner

    with pytest.raises(asyncpg.IntegrityConstraintViolationError, match="append-only"):
        await connection.execute(statement)
    assert await connection.fetchval("SELECT count(*) FROM event") == 1


async def test_append_outside_a_transaction_is_refused(project_id, connection):
    with pytest.raises(RuntimeError, match="transaction"):
        await append(connection, project_id, [pushed(INTENT)], NOON)


async def test_append_to_an_unknown_project_says_so(pool):
    with pytest.raises(UnknownProject):
        async with transaction(pool) as connection:
            await append(connection, new_id("prj"), [pushed(INTENT)], NOON)


async def test_a_time_without_zone_is_refused(pool, project_id):
    with pytest.raises(ValueError, match="zone"):
        async with transaction(pool) as connection:
            await append(connection, project_id, [pushed(INTENT)], datetime(2030, 1, 1))


@pytest.mark.parametrize("intent_id", ["int_1.2", "*", ">", "", "a b", "x" * 65])
async def test_an_intent_id_that_could_widen_a_subject_is_refused(pool, project_id, intent_id):
    with pytest.raises(ValueError, match="subject"):
        await commit(pool, project_id, pushed(intent_id))


async def test_text_that_is_no_unicode_is_refused_and_the_ledger_goes_on(pool, project_id):
    with pytest.raises(ValueError, match="surrogates"):
        await commit(pool, project_id, pushed(INTENT, note="\ud800"))
    (event,) = await commit(pool, project_id, pushed(INTENT, note="nul \x00 kept"))
    async with transaction(pool) as connection:
        assert await read_after(connection, project_id, 0, 10) == [event]


async def test_the_outbox_hands_out_events_by_project_and_seq_until_they_are_done(pool, project_id):
    elsewhere = await new_project(pool)
    for turn in range(3):
        await commit(pool, elsewhere, pushed(INTENT, turn=turn))
        await commit(pool, project_id, pushed(OTHER, turn=turn))

    async with transaction(pool) as connection:
        rows = await pending(connection, 4)
        order = [(p, n) for p in sorted((project_id, elsewhere)) for n in (1, 2, 3)]
        assert [(p, event.seq) for p, event in rows] == order[:4]
        await done(connection, rows)
        await done(connection, rows)
        assert [(p, event.seq) for p, event in await pending(connection, 4)] == order[4:]
