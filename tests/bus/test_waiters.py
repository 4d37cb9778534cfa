"""Waiters are rung by exactly their events, miss none, and are freed at once."""

import asyncio
from collections.abc import AsyncIterator

import asyncpg
import pytest
import pytest_asyncio

from bus.connect import Link
from bus.relay import Relay
from bus.subjects import subject
from bus.wait import wait_for
from bus.waiters import Waiters
from protocol.events import Event
from protocol.ids import new_id
from storage.sql.events import read_after
from storage.sql.pool import transaction
from tests.bus.story import running, turns_until
from tests.storage.sql.ledger import commit, new_project, pushed

PROJECT, INTENT, OTHER = new_id("prj"), new_id("int"), new_id("int")
LONG = 60.0


@pytest_asyncio.fixture
async def waiters(link: Link) -> AsyncIterator[Waiters]:
    async for started in _started(link):
        yield started


@pytest_asyncio.fixture
async def own_waiters(own_link: Link) -> AsyncIterator[Waiters]:
    async for started in _started(own_link):
        yield started


async def _started(link: Link) -> AsyncIterator[Waiters]:
    waiters = Waiters(link)
    await waiters.start()
    yield waiters
    await waiters.stop()
    assert waiters.held == 0


def in_a_while() -> float:
    return asyncio.get_running_loop().time() + LONG


def now() -> float:
    return asyncio.get_running_loop().time()


def reader(pool: asyncpg.Pool, project_id: str, after_seq: int, intent_id: str | None = None):
    """Reads the first event after `after_seq`, or None."""

    async def read() -> Event | None:
        async with transaction(pool, readonly=True) as connection:
            events = await read_after(connection, project_id, after_seq, 1, intent_id)
            return events[0] if events else None

    return read


async def until_held(waiters: Waiters, count: int) -> None:
    await turns_until(lambda: waiters.held >= count)


async def test_an_event_rings_the_waiters_of_its_intent_and_of_its_project_only(link, waiters):
    with (
        waiters.register(PROJECT, [INTENT]) as of_intent,
        waiters.register(PROJECT, [OTHER, INTENT]) as of_both,
        waiters.register(PROJECT) as of_project,
        waiters.register(PROJECT, [OTHER]) as of_other,
        waiters.register(new_id("prj"), [INTENT]) as of_other_project,
        waiters.register(PROJECT, []) as of_nothing,
    ):
        assert waiters.held == 6
        await link.client.publish(subject(PROJECT, INTENT, "intent.pushed"), b"")
        for waiter in (of_intent, of_both, of_project):
            assert await waiter.rung(in_a_while())
        for waiter in (of_other, of_other_project, of_nothing):
            assert not await waiter.rung(now() + 0.01)

        await link.client.publish(subject(PROJECT, None, "line.moved"), b"")
        assert await of_project.rung(in_a_while())
        assert not await of_intent.rung(now() + 0.01)
    assert waiters.held == 0


async def test_a_ring_before_the_sleep_ends_it_at_once_and_counts_once(waiters):
    with waiters.register(PROJECT, [INTENT]) as waiter:
        waiters.ring(PROJECT, INTENT)
        waiters.ring(PROJECT, INTENT)
        assert await waiter.rung(in_a_while())
        assert not await waiter.rung(now() + 0.01)


async def test_rings_do_not_carry_a_waiter_past_its_deadline(waiters):
    with waiters.register(PROJECT, [INTENT]) as waiter:
        waiters.ring(PROJECT, INTENT)
        assert not await waiter.rung(now())


async def test_a_foreign_subject_rings_nobody_and_the_next_event_does(link, waiters):
    with waiters.register(PROJECT) as waiter:
        await link.client.publish("gitring.v1.nonsense", b"")
        await link.client.publish(subject(PROJECT, INTENT, "intent.pushed"), b"")
        assert await waiter.rung(in_a_while())


async def test_a_waiter_cannot_be_registered_before_the_bell_is_heard(link):
    with pytest.raises(RuntimeError, match="start"):
        Waiters(link).register(PROJECT)


async def test_an_event_committed_between_the_read_and_the_sleep_is_not_missed(pool, database, link, waiters):
    project_id = await new_project(pool)
    relay = Relay(database, link)
    reads: list[Event | None] = []

    async def read_then_commit() -> Event | None:
        reads.append(await reader(pool, project_id, 0, INTENT)())
        if len(reads) == 1:
            await commit(pool, project_id, pushed(INTENT))
            await relay.caught_up()
        return reads[-1]

    async with running(relay), asyncio.timeout(LONG / 2):
        found = await wait_for(
            waiters, read_then_commit, project_id=project_id, intent_ids=[INTENT], seconds=LONG
        )
    assert found is not None
    assert (found.seq, len(reads)) == (1, 2)


async def test_a_follower_that_only_waits_gets_every_event_in_order(pool, database, link, waiters):
    project_id = await new_project(pool)
    got: list[int] = []

    async def follow() -> None:
        while len(got) < 200:
            event = await wait_for(
                waiters, reader(pool, project_id, len(got)), project_id=project_id, seconds=LONG
            )
            assert event is not None
            got.append(event.seq)

    async with running(Relay(database, link)), asyncio.timeout(LONG / 2), asyncio.TaskGroup() as group:
        group.create_task(follow())
        for _ in range(100):
            await commit(pool, project_id, pushed(INTENT), pushed(OTHER))
    assert got == list(range(1, 201))


async def test_nothing_is_lost_when_nats_is_restarted_under_the_waiters(
    pool, database, own_nats, own_link, own_waiters
):
    project_id = await new_project(pool)

    async def wait_after(seq: int) -> Event | None:
        read = reader(pool, project_id, seq)
        return await wait_for(own_waiters, read, project_id=project_id, seconds=LONG)

    async with running(Relay(database, own_link)), asyncio.timeout(LONG / 2):
        for turn in range(3):
            waiting = asyncio.create_task(wait_after(turn))
            await until_held(own_waiters, 1)
            await own_nats.kill()
            await commit(pool, project_id, pushed(INTENT))
            await own_nats.start()
            event = await waiting
            assert event is not None
            assert event.seq == turn + 1


async def test_a_reconnect_rings_everybody(own_nats, own_waiters):
    with own_waiters.register(PROJECT, [INTENT]) as one, own_waiters.register(OTHER) as other:
        await own_nats.kill()
        await own_nats.start()
        assert await one.rung(in_a_while())
        assert await other.rung(in_a_while())


async def test_two_thousand_waiters_of_one_intent_are_rung_by_one_event(link, waiters):
    told = 0
    everybody = asyncio.Event()

    async def hold() -> None:
        nonlocal told
        with waiters.register(PROJECT, [INTENT]) as waiter:
            assert await waiter.rung(in_a_while())
            told += 1
            if told == 2000:
                everybody.set()

    async with asyncio.timeout(LONG / 2), asyncio.TaskGroup() as group:
        for _ in range(2000):
            group.create_task(hold())
        await until_held(waiters, 2000)
        await link.client.publish(subject(PROJECT, INTENT, "intent.pushed"), b"")
        await everybody.wait()
    assert waiters.held == 0


async def test_two_thousand_waiters_of_as_many_intents_are_rung_each_by_its_own(link, waiters):
    intents = [new_id("int") for _ in range(2000)]
    rung: list[str] = []

    async def hold(intent_id: str) -> None:
        with waiters.register(PROJECT, [intent_id]) as waiter:
            assert await waiter.rung(in_a_while())
            rung.append(intent_id)

    async with asyncio.timeout(LONG / 2), asyncio.TaskGroup() as group:
        tasks = {intent_id: group.create_task(hold(intent_id)) for intent_id in intents}
        await until_held(waiters, 2000)
        for intent_id in intents[:50]:
            await link.client.publish(subject(PROJECT, intent_id, "intent.pushed"), b"")
            await tasks[intent_id]
        assert rung == intents[:50]
        assert waiters.held == 1950
        waiters.ring_all()
    assert sorted(rung) == sorted(intents)


async def test_a_cancelled_waiter_is_freed_at_once(waiters):
    async def nothing() -> None:
        return None

    waiting = asyncio.create_task(
        wait_for(waiters, nothing, project_id=PROJECT, intent_ids=[INTENT], seconds=LONG)
    )
    await until_held(waiters, 1)
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting
    assert waiters.held == 0
    assert not waiters._by_key


async def test_a_read_that_fails_frees_its_waiter_and_comes_through(waiters):
    async def fail() -> None:
        raise KeyError("gone")

    with pytest.raises(KeyError):
        await wait_for(waiters, fail, project_id=PROJECT, seconds=LONG)
    assert waiters.held == 0


async def test_a_lost_ring_costs_one_deadline_and_no_event(waiters):
    found = iter([None, "news"])

    async def read() -> str | None:
        return next(found)

    assert await wait_for(waiters, read, project_id=PROJECT, seconds=0.02) == "news"


async def test_a_wait_without_news_reads_at_its_start_and_its_end(waiters):
    reads = 0

    async def read() -> None:
        nonlocal reads
        reads += 1

    assert await wait_for(waiters, read, project_id=PROJECT, seconds=0.02) is None
    assert reads == 2
    assert await wait_for(waiters, read, project_id=PROJECT, seconds=0) is None
    assert reads == 3


async def test_a_process_that_stops_lets_its_waiters_go(link):
    waiters = Waiters(link)
    await waiters.start()

    async def nothing() -> None:
        return None

    async with asyncio.timeout(LONG / 2), asyncio.TaskGroup() as group:
        for _ in range(100):
            group.create_task(wait_for(waiters, nothing, project_id=PROJECT, seconds=LONG))
        await until_held(waiters, 100)
        await waiters.stop()
    assert waiters.held == 0
    assert await wait_for(waiters, nothing, project_id=PROJECT, seconds=LONG) is None
