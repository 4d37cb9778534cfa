"""Held waits: how fast an event reaches those who wait for it, and what holding them costs."""

import asyncio
import re
import time
from collections.abc import Sequence
from datetime import datetime

import psutil

from benchmarks.http import Connection, Reply, connect, connected, wait_path
from benchmarks.project import Detail, Project, plan
from benchmarks.rows import Row, ms, percentile, summary
from benchmarks.stack import Stack

WAITERS = 1000
MOST = 5000
EVENTS = 150
ONE_INTENT_EVENTS = 4
SECONDS = 200
LIMIT_MIB = 600
_AT_ONCE = 100


class Held:
    """One waiter: a connection with an unanswered wait on one intent."""

    def __init__(self, connection: Connection, intent: Detail) -> None:
        self.connection = connection
        self.intent = intent
        self.after_seq = 0
        self.answer: asyncio.Task[Reply] | None = None

    async def ask(self, after_seq: int) -> None:
        """Send the wait and listen for its answer."""
        self.after_seq = after_seq
        await self.connection.send("GET", wait_path(self.intent["id"], after_seq, SECONDS))
        self.answer = asyncio.create_task(self.connection.reply())

    async def leave(self) -> None:
        """Hang up."""
        if self.answer is not None:
            self.answer.cancel()
        await self.connection.close()


async def hold(project: Project, intents: Sequence[Detail], count: int, after_seq: int) -> list[Held]:
    """So many waiters, spread over `intents`, all known to be held by the gateway when this returns."""
    before = await held_now(project.stack)
    found: list[Held] = []
    for first in range(0, count, _AT_ONCE):
        numbers = range(first, min(first + _AT_ONCE, count))
        found += await asyncio.gather(
            *(_begin(project, intents[n % len(intents)], after_seq) for n in numbers)
        )
        await until_held(project.stack, before + len(found))
    return found


async def _begin(project: Project, intent: Detail, after_seq: int) -> Held:
    held = Held(await connect(project.stack.url, project.agent), intent)
    await held.ask(after_seq)
    return held


async def held_now(stack: Stack) -> int:
    """What the gateway says it holds."""
    async with connected(stack.url, stack.owner) as door:
        await door.send("GET", "/metrics")
        found = re.search(rb"^gitring_waits_held (\S+)", (await door.reply()).body, re.MULTILINE)
    if found is None:
        raise RuntimeError("/metrics does not say how many waits are held")
    return int(float(found[1]))


async def until_held(stack: Stack, count: int) -> None:
    """Return when the gateway holds so many; raises TimeoutError."""
    async with asyncio.timeout(90):
        while await held_now(stack) < count:  # noqa: ASYNC110 - a gauge rings no bell
            await asyncio.sleep(0.02)


async def change_plan(door: Connection, intent: Detail, number: int) -> Detail:
    """Write one event on one intent; the answer."""
    path = intent["plan"]["scope"]["change"][0]["path"]
    return await door.call(
        "POST", f"/api/v1/intents/{intent['id']}/plan", {"plan": plan(path, f"Version {number}")}
    )


def waited(reply: Reply) -> float:
    """Seconds from the first event's time to the answer's last byte (one clock: both on this machine)."""
    first = reply.json()["events"][0]
    return reply.ended_at - datetime.fromisoformat(first["created_at"]).timestamp()


async def one_each(project: Project, intents: Sequence[Detail], seq: int) -> list[Row]:
    """1,000 waiters on 1,000 intents; one event after the other, each of which wakes one of them."""
    holders = await hold(project, intents, WAITERS, seq)
    took: list[float] = []
    step = max(1, len(holders) // EVENTS)
    async with connected(project.stack.url, project.agent) as door:
        for number in range(EVENTS):
            held = holders[number * step]
            after = (await change_plan(door, held.intent, number))["afterSeq"]
            assert held.answer
            async with asyncio.timeout(30):
                took.append(waited(await held.answer))
            await held.ask(after)
    await until_held(project.stack, WAITERS)
    burst = await _burst(project, holders)
    await asyncio.gather(*(held.leave() for held in holders))
    return [
        _row("event → its waiter answered, 1,000 held on 1,000 intents, p99", took, target=True),
        _row("the same, 100 events at once from 8 clients, p99 (no target)", burst, target=False),
    ]


async def _burst(project: Project, holders: Sequence[Held]) -> list[float]:
    chosen = list(holders[5:105])
    left = list(chosen)

    async def client() -> None:
        async with connected(project.stack.url, project.agent) as door:
            while left:
                await change_plan(door, left.pop().intent, 99)

    await asyncio.gather(*(client() for _ in range(8)))
    async with asyncio.timeout(60):
        return [waited(await held.answer) for held in chosen if held.answer]


async def all_on_one(project: Project, intent: Detail, seq: int) -> list[Row]:
    """1,000 waiters on one intent; each event wakes all of them."""
    holders = await hold(project, [intent], WAITERS, seq)
    took: list[float] = []
    again: list[float] = []
    async with connected(project.stack.url, project.agent) as door:
        for number in range(ONE_INTENT_EVENTS):
            after = (await change_plan(door, intent, 1000 + number))["afterSeq"]
            async with asyncio.timeout(60):
                replies = await asyncio.gather(*(held.answer for held in holders if held.answer))
            took += map(waited, replies)
            began = time.perf_counter()
            await asyncio.gather(*(held.ask(after) for held in holders))
            await until_held(project.stack, WAITERS)
            again.append(time.perf_counter() - began)
    await asyncio.gather(*(held.leave() for held in holders))
    held_again = percentile(again, 0.5)
    return [
        Row("all 1,000 ask again at once → all held", f"{held_again:.2f} s", numbers=summary(again)),
        _row("event → answered, 1,000 waiters all on one intent, p99 (no target)", took, target=False),
    ]


def _row(metric: str, took: list[float], *, target: bool) -> Row:
    p99 = percentile(took, 0.99)
    value = f"{ms(p99)} (p50 {ms(percentile(took, 0.5))})"
    return Row(metric, value, "≤ 100 ms" if target else "", p99 <= 0.1 if target else None, summary(took))


async def memory(project: Project, intents: Sequence[Detail], seq: int) -> list[Row]:
    """The gateway's resident memory with nobody, 1,000 and 5,000 held."""
    gateway = psutil.Process(project.stack.pid("gateway"))
    sizes = [gateway.memory_info().rss]
    holders: list[Held] = []
    began = time.perf_counter()
    for count in (WAITERS, MOST):
        holders += await hold(project, intents, count - len(holders), seq)
        sizes.append(gateway.memory_info().rss)
    seconds = time.perf_counter() - began
    held = await held_now(project.stack)
    await asyncio.gather(*(one.leave() for one in holders))
    mib = [size / 2**20 for size in sizes]
    value = f"{mib[2]:.0f} MiB with {held:,} (1,000: {mib[1]:.0f}, before: {mib[0]:.0f}; all held in {seconds:.1f} s)"
    numbers = {"before_mib": mib[0], "mib_1000": mib[1], "mib_5000": mib[2], "held": float(held)}
    holds = held >= MOST and mib[2] < LIMIT_MIB
    return [Row("gateway memory, waiters held", value, "≥ 5,000 under 600 MiB", holds, numbers)]


async def all_waits(project: Project, intents: Sequence[Detail]) -> list[Row]:
    """All of it on a project with 1,000 live intents."""
    rows: list[Row] = []
    async with connected(project.stack.url, project.agent) as door:

        async def seq() -> int:
            return int((await door.call("GET", f"/api/v1/intents/{intents[0]['id']}"))["afterSeq"])

        rows += await one_each(project, intents, await seq())
        rows += await all_on_one(project, intents[0], await seq())
        rows += await memory(project, intents, await seq())
    return rows
