"""The relay on a real record and a real NATS: all events, in order, through every kind of trouble."""

import asyncio
import os
import signal
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import asyncpg
import pytest_asyncio
from nats.js.api import StreamConfig

from bus.connect import Link, connect
from bus.publish import NotStored, Publisher
from bus.relay import Relay
from bus.stream import STREAM, ensure_stream
from protocol.events import Event
from protocol.ids import new_id
from storage.sql.outbox import pending
from storage.sql.pool import transaction
from tests.bus.story import (
    Gate,
    body,
    first_deliveries,
    outbox_size,
    running,
    stored,
    stored_seqs,
    turns_until,
)
from tests.storage.sql.ledger import commit, new_project, pushed

NEVER = 3600.0
INTENT = new_id("int")


async def committed(pool: asyncpg.Pool, project_id: str, count: int) -> None:
    """`count` events in transactions of one to three."""
    left = count
    while left:
        size = min(left, 1 + left % 3)
        await commit(pool, project_id, *(pushed(INTENT, left=left - n) for n in range(size)))
        left -= size


async def rows_of(pool: asyncpg.Pool) -> list:
    async with transaction(pool) as connection:
        return await pending(connection, 1000)


@pytest_asyncio.fixture
async def publisher(link: Link) -> AsyncIterator[Publisher]:
    async for opened in _publisher(link):
        yield opened


@pytest_asyncio.fixture
async def own_publisher(own_link: Link) -> AsyncIterator[Publisher]:
    async for opened in _publisher(own_link):
        yield opened


async def _publisher(link: Link) -> AsyncIterator[Publisher]:
    opened = Publisher(link)
    await opened.start()
    yield opened
    assert opened.open_acks == 0
    await opened.stop()


async def test_what_was_committed_while_no_relay_ran_is_published_in_order(pool, database, link):
    projects = [await new_project(pool) for _ in range(3)]
    for project_id in projects:
        await committed(pool, project_id, 120)

    relay = Relay(database, link, batch=50, sweep_seconds=NEVER)
    async with running(relay):
        await relay.caught_up()

    for project_id in projects:
        assert await stored_seqs(link, project_id) == list(range(1, 121))
    assert await outbox_size(pool) == 0
    assert relay.published == 360


async def test_a_message_carries_its_event_its_id_and_its_seq(pool, database, link):
    project_id = await new_project(pool)
    (about_intent,) = await commit(pool, project_id, pushed(INTENT, head="a1b2"))
    (of_project,) = await commit(pool, project_id, pushed(None))

    relay = Relay(database, link)
    async with running(relay):
        await relay.caught_up()

    first, second = await stored(link, project_id)
    assert first.subject == f"gitring.v1.{project_id}.{INTENT}.intent.pushed"
    assert body(first) == about_intent.model_dump() | {"project_id": project_id}
    assert (first.headers["Nats-Msg-Id"], first.headers["Gitring-Seq"]) == (about_intent.event_id, "1")
    assert second.subject == f"gitring.v1.{project_id}._.intent.pushed"
    assert body(second)["event_id"] == of_project.event_id


async def test_a_commit_rings_a_relay_that_has_nothing_to_do(pool, database, link):
    project_id = await new_project(pool)
    heard: asyncio.Queue[str] = asyncio.Queue()

    async def hear(message):
        heard.put_nowait(message.headers["Gitring-Seq"])

    await link.subscribe(f"gitring.v1.{project_id}.>", hear)
    relay = Relay(database, link, sweep_seconds=NEVER)
    async with running(relay):
        await relay.caught_up()
        for seq in range(1, 6):
            await commit(pool, project_id, pushed(INTENT))
            assert await heard.get() == str(seq)


async def test_the_sweep_finds_rows_that_no_bell_told_of(pool, database, link):
    project_id = await new_project(pool)
    heard = asyncio.Event()

    async def hear(_):
        heard.set()

    await link.subscribe(f"gitring.v1.{project_id}.>", hear)
    await commit(pool, project_id, pushed(INTENT))
    relay = Relay(database, link, sweep_seconds=0.05)
    async with running(relay):
        await relay.caught_up()
        await heard.wait()
        heard.clear()
        async with transaction(pool) as connection:
            await connection.execute("INSERT INTO outbox VALUES ($1, 1)", project_id)
        await heard.wait()


async def test_an_event_published_twice_is_in_the_stream_once(pool, database, link):
    project_id = await new_project(pool)
    await committed(pool, project_id, 10)
    relay = Relay(database, link, sweep_seconds=NEVER)
    async with running(relay):
        await relay.caught_up()
        await pool.execute("INSERT INTO outbox SELECT project_id, seq FROM event WHERE seq > 3")
        await commit(pool, project_id, pushed(INTENT))
        await relay.caught_up()
    assert await stored_seqs(link, project_id) == list(range(1, 12))
    assert await outbox_size(pool) == 0


async def test_an_event_too_large_for_the_stream_goes_out_marked(pool, database, link):
    project_id = await new_project(pool)
    await commit(pool, project_id, pushed(INTENT, log="x" * 200_000), pushed(INTENT, log="short"))
    relay = Relay(database, link)
    async with running(relay):
        await relay.caught_up()
    payloads = [body(message)["payload"] for message in await stored(link, project_id)]
    assert payloads == [{"truncated": True, "seq": 1}, {"log": "short"}]


async def test_nothing_overtakes_a_message_that_the_stream_refused(pool, own_link, own_publisher):
    js = own_link.jetstream
    info = await js.stream_info(STREAM)
    await js.update_stream(info.config.evolve(max_msg_size=2000))
    project_id = await new_project(pool)
    await committed(pool, project_id, 4)
    await commit(pool, project_id, pushed(INTENT, log="x" * 3000))
    await committed(pool, project_id, 5)
    rows = await rows_of(pool)

    progress = await own_publisher.publish_in_order(rows)
    assert progress.acked == 4
    assert isinstance(progress.problem, NotStored)
    assert "size" in str(progress.problem)
    assert await stored_seqs(own_link, project_id) == [1, 2, 3, 4]

    await ensure_stream(js)
    assert await own_publisher.publish_in_order(rows[4:]) == (6, None)
    assert await stored_seqs(own_link, project_id) == list(range(1, 11))


async def test_a_relay_keeps_what_the_stream_refused_and_all_behind_it(pool, database, own_nats, own_link):
    project_id = await new_project(pool)
    relay = Relay(database, own_link)
    async with running(relay):
        await relay.caught_up()
        info = await own_link.jetstream.stream_info(STREAM)
        await own_link.jetstream.update_stream(info.config.evolve(max_msg_size=2000))
        big = pushed(INTENT, log="x" * 3000)
        await commit(pool, project_id, pushed(INTENT), pushed(INTENT), big, pushed(INTENT), pushed(INTENT))
        await turns_until(lambda: relay.published == 2)
        await _outbox_has(pool, 3)
        assert await stored_seqs(own_link, project_id) == [1, 2]

        await ensure_stream(own_link.jetstream)
        await relay.caught_up()
    assert await stored_seqs(own_link, project_id) == [1, 2, 3, 4, 5]
    assert await outbox_size(pool) == 0


async def test_a_batch_of_which_a_part_is_stored_goes_through_as_a_whole(pool, link, publisher):
    project_id = await new_project(pool)
    await committed(pool, project_id, 9)
    rows = await rows_of(pool)
    assert await publisher.publish_in_order(rows[:5]) == (5, None)
    assert await publisher.publish_in_order(rows) == (9, None)
    assert await stored_seqs(link, project_id) == list(range(1, 10))


async def test_a_batch_begun_while_nats_is_away_is_not_sent_behind_its_back(
    pool, own_nats, own_link, own_publisher
):
    project_id = await new_project(pool)
    await committed(pool, project_id, 3)
    lost, gap = asyncio.Event(), asyncio.Event()
    own_link.on_lost(lost.set)
    own_link.on_gap(gap.set)
    await own_nats.kill()
    await lost.wait()

    progress = await own_publisher.publish_in_order(await rows_of(pool))
    assert progress.acked == 0
    assert isinstance(progress.problem, NotStored)
    await own_nats.start()
    await gap.wait()
    assert await stored_seqs(own_link, project_id) == []


async def test_a_nats_that_was_away_gets_everything_when_it_is_back(pool, database, own_nats, own_link):
    project_id = await new_project(pool)
    relay = Relay(database, own_link, sweep_seconds=NEVER)
    async with running(relay):
        await committed(pool, project_id, 20)
        await relay.caught_up()
        await own_nats.stop()
        await committed(pool, project_id, 20)
        await own_nats.start()
        await committed(pool, project_id, 20)
        await relay.caught_up()
    assert await stored_seqs(own_link, project_id) == list(range(1, 61))


async def test_a_nats_killed_again_and_again_under_load_never_gets_a_later_event_first(
    pool, database, own_nats, own_link
):
    projects = [await new_project(pool) for _ in range(2)]
    relay = Relay(database, own_link, batch=20)

    async def crash() -> None:
        for _ in range(3):
            before = relay.published
            while relay.published < before + 30:
                await relay.caught_up()
            await own_nats.kill()
            await own_nats.start()

    async with running(relay), asyncio.timeout(60):
        crashing = asyncio.create_task(crash())
        while not crashing.done():
            await asyncio.gather(*(committed(pool, project_id, 25) for project_id in projects))
        await crashing
        await relay.caught_up()

    for project_id in projects:
        last = await pool.fetchval("SELECT event_seq FROM project_counter WHERE project_id = $1", project_id)
        assert first_deliveries(await stored_seqs(own_link, project_id)) == list(range(1, last + 1))


async def test_a_nats_that_lost_its_disk_gets_its_stream_again(pool, database, own_nats, own_link):
    project_id = await new_project(pool)
    relay = Relay(database, own_link)
    async with running(relay):
        await relay.caught_up()
        await own_link.jetstream.delete_stream(STREAM)
        await committed(pool, project_id, 5)
        await relay.caught_up()
    assert await stored_seqs(own_link, project_id) == [1, 2, 3, 4, 5]
    info = await own_link.jetstream.stream_info(STREAM)
    assert isinstance(info.config, StreamConfig)
    assert info.config.deny_delete


async def test_of_two_relays_one_works_and_the_other_takes_over_when_it_is_cancelled(
    pool, database, link, nats_url
):
    project_id = await new_project(pool)
    second_link = await connect(nats_url, "second")
    first, second = Relay(database, link, batch=7), Relay(database, second_link, batch=7)
    async with running(second):
        await second.held()
        async with running(first):
            await committed(pool, project_id, 30)
            await second.caught_up()
            assert not first.holding
            assert first.published == 0
    async with running(first) as (task,):
        await first.held()
        async with running(second):
            writing = asyncio.create_task(committed(pool, project_id, 60))
            while first.published < 10:
                await first.caught_up()
            task.cancel()
            await second.held()
            assert not first.holding
            await writing
            await second.caught_up()
    assert await stored_seqs(link, project_id) == list(range(1, 91))
    await second_link.close()


async def test_a_relay_whose_connection_broke_queues_again_behind_the_other(pool, database, link, nats_url):
    project_id = await new_project(pool)
    second_link = await connect(nats_url, "second")
    first, second = Relay(database, link, batch=7), Relay(database, second_link, batch=7)
    async with running(first):
        await first.held()
        async with running(second):
            await _seat_is_wanted(pool)
            writing = asyncio.create_task(committed(pool, project_id, 60))
            await first.caught_up()
            await pool.execute(
                "SELECT pg_terminate_backend(pid, 5000) FROM pg_locks WHERE locktype = 'advisory' AND granted"
            )
            await second.held()
            await writing
            await second.caught_up()
            await _seat_is_wanted(pool)
            assert not first.holding
        await first.held()
        await committed(pool, project_id, 10)
        await first.caught_up()
    assert await stored_seqs(link, project_id) == list(range(1, 71))
    await second_link.close()


async def test_a_relay_goes_on_after_the_driver_lost_its_footing(pool, database, link, monkeypatch):
    project_id = await new_project(pool)
    answers = [asyncpg.InternalClientError("cannot switch to state 12; another operation (2) is in progress")]

    async def broken_once(connection: asyncpg.Connection, batch: int) -> list[tuple[str, Event]]:
        if answers:
            raise answers.pop()
        return await pending(connection, batch)

    monkeypatch.setattr("bus.relay.pending", broken_once)
    relay = Relay(database, link)
    async with running(relay):
        await committed(pool, project_id, 5)
        await relay.caught_up()
    assert await stored_seqs(link, project_id) == list(range(1, 6))


async def test_a_relay_killed_in_the_middle_hands_over_and_nothing_is_lost(pool, database, link, nats_url):
    project_id = await new_project(pool)
    victim = await asyncio.create_subprocess_exec(
        sys.executable,
        "-m",
        "tests.bus.relay_process",
        database,
        nats_url,
        stdout=asyncio.subprocess.PIPE,
        cwd=Path(__file__).parents[2],
    )
    assert victim.stdout is not None
    while (line := await victim.stdout.readline()) != b"holding\n":
        assert line, "the relay's process ended"
    heir = Relay(database, link, sweep_seconds=NEVER)
    async with running(heir):
        await _seat_is_wanted(pool)
        writing = asyncio.create_task(committed(pool, project_id, 150))
        ten = asyncio.Event()

        async def hear(message):
            if message.headers["Gitring-Seq"] == "10":
                ten.set()

        await link.subscribe(f"gitring.v1.{project_id}.>", hear)
        await ten.wait()
        os.kill(victim.pid, signal.SIGKILL)
        await heir.held()
        await writing
        await heir.caught_up()
        await victim.wait()
    assert heir.published > 0
    assert await stored_seqs(link, project_id) == list(range(1, 151))
    assert await outbox_size(pool) == 0


async def test_a_record_that_was_away_is_relayed_on_when_it_is_back(pool, database, link):
    project_id = await new_project(pool)
    gate = Gate(database)
    await gate.open()
    relay = Relay(gate.dsn, link)
    async with running(relay):
        await committed(pool, project_id, 10)
        await relay.caught_up()
        await gate.shut()
        await committed(pool, project_id, 10)
        await gate.open()
        await relay.caught_up()
    await gate.shut()
    assert await stored_seqs(link, project_id) == list(range(1, 21))


async def test_a_waiting_relay_leaves_at_once_when_it_is_cancelled(pool, database, link: Link):
    first, second = Relay(database, link), Relay(database, link)
    async with running(first):
        await first.held()
        async with asyncio.timeout(40):
            async with running(second):
                await _seat_is_wanted(pool)
            while await pool.fetchval(WAITING):
                pass
        assert first.holding


WAITING = "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND NOT granted"


async def _outbox_has(pool: asyncpg.Pool, count: int) -> None:
    """Return when exactly `count` events wait; fails when the relay passes that number by."""
    while (size := await outbox_size(pool)) != count:
        assert size > count


async def _seat_is_wanted(pool: asyncpg.Pool) -> None:
    """Return when a relay waits for the seat: Postgres tells of that only when asked."""
    async with asyncio.timeout(20):
        while not await pool.fetchval(WAITING):
            pass
