"""Shared reads: few of them, and never one that began before its asker asked."""

import asyncio

import asyncpg
import pytest

from bus.coalesce import Coalesced
from bus.connect import Link
from bus.relay import Relay
from bus.wait import wait_for
from bus.waiters import Waiters
from protocol.ids import new_id
from storage.sql.events import last_seq_of_intent
from storage.sql.pool import transaction
from tests.bus.story import running, turns_until
from tests.storage.sql.ledger import commit, new_project, pushed


class Slow:
    """A read that a test lets go on; it answers the number its value had when it began."""

    def __init__(self) -> None:
        self.value = 0
        self.begun = 0
        self.at_once = 0
        self.most_at_once = 0
        self.go_on = asyncio.Event()
        self.begins = asyncio.Event()

    async def __call__(self, key: str) -> tuple[str, int]:
        seen = self.value
        self.begun += 1
        self.at_once += 1
        self.most_at_once = max(self.most_at_once, self.at_once)
        self.begins.set()
        try:
            await self.go_on.wait()
        finally:
            self.at_once -= 1
        return key, seen


async def test_askers_of_one_moment_share_one_read():
    read = Slow()
    read.go_on.set()
    shared = Coalesced(read)
    assert await asyncio.gather(*(shared("a") for _ in range(1000))) == [("a", 0)] * 1000
    assert read.begun == 1


async def test_an_asker_never_gets_a_read_that_had_begun_before_it_asked():
    read = Slow()
    shared = Coalesced(read)
    early = asyncio.create_task(shared("a"))
    await read.begins.wait()

    read.value = 1
    late = [asyncio.create_task(shared("a")) for _ in range(500)]
    await asyncio.sleep(0)
    read.go_on.set()
    assert await early == ("a", 0)
    assert await asyncio.gather(*late) == [("a", 1)] * 500
    assert (read.begun, read.most_at_once) == (2, 1)


async def test_different_keys_are_read_at_the_same_time_up_to_the_limit():
    read = Slow()
    shared = Coalesced(read, at_once=3)
    asking = [asyncio.create_task(shared(str(n))) for n in range(10)]
    await read.begins.wait()
    await turns_until(lambda: read.begun >= 3)
    read.go_on.set()
    assert await asyncio.gather(*asking) == [(str(n), 0) for n in range(10)]
    assert read.most_at_once == 3


async def test_a_cancelled_asker_leaves_the_read_to_the_others():
    read = Slow()
    shared = Coalesced(read)
    first, second = asyncio.create_task(shared("a")), asyncio.create_task(shared("a"))
    await read.begins.wait()
    first.cancel()
    read.go_on.set()
    assert await second == ("a", 0)
    assert first.cancelled()


async def test_a_failed_read_fails_for_its_askers_and_the_next_one_is_new():
    calls = 0

    async def read(_: str) -> int:
        nonlocal calls
        calls += 1
        if calls == 1:
            raise KeyError("gone")
        return calls

    shared = Coalesced(read)
    results = await asyncio.gather(*(shared("a") for _ in range(3)), return_exceptions=True)
    assert [type(result) for result in results] == [KeyError] * 3
    assert await shared("a") == 2


async def test_nothing_is_kept_of_finished_reads():
    read = Slow()
    read.go_on.set()
    shared = Coalesced(read)
    await asyncio.gather(*(shared(str(n)) for n in range(50)))
    assert not shared._gathering
    assert not shared._running


async def test_a_thousand_waiters_of_one_intent_cost_few_reads(pool: asyncpg.Pool, database: str, link: Link):
    project_id, intent_id = await new_project(pool), new_id("int")
    waiters = Waiters(link)
    await waiters.start()
    reads = 0

    async def read(intent: str) -> int:
        nonlocal reads
        reads += 1
        async with transaction(pool, readonly=True) as connection:
            return await last_seq_of_intent(connection, intent)

    shared = Coalesced(read)

    async def look() -> int | None:
        return await shared(intent_id) or None

    async def wait() -> int | None:
        return await wait_for(waiters, look, project_id=project_id, intent_ids=[intent_id], seconds=60)

    async with running(Relay(database, link)), asyncio.timeout(30), asyncio.TaskGroup() as group:
        waiting = [group.create_task(wait()) for _ in range(1000)]
        await turns_until(lambda: waiters.held == 1000)
        await shared(intent_id)
        before = reads
        await commit(pool, project_id, pushed(intent_id))
    assert {task.result() for task in waiting} == {1}
    assert reads - before <= 2
    await waiters.stop()


@pytest.mark.parametrize("cancelled", [1, 2])
async def test_askers_cancelled_while_their_read_queues_leave_the_key_usable(cancelled):
    read = Slow()
    shared = Coalesced(read, at_once=1)
    holding = asyncio.create_task(shared("a"))
    await read.begins.wait()
    queued = [asyncio.create_task(shared("b")) for _ in range(2)]
    await asyncio.sleep(0)
    for task in queued[:cancelled]:
        task.cancel()
    read.go_on.set()
    assert await holding == ("a", 0)
    assert await shared("b") == ("b", 0)
