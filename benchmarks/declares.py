"""Declares: their latency against an empty update, their rate with many clients, and their shape with many live intents."""

import asyncio
import time
from contextlib import AsyncExitStack
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import psutil

from benchmarks.empty_update import EmptyUpdates, empty_updates
from benchmarks.http import Connection, connected
from benchmarks.project import Detail, Project, create, declare, declare_many
from benchmarks.rows import Row, ms, percentile, summary
from benchmarks.stack import Stack

PAIRS = 60
RATES = ((1, 40), (8, 160), (32, 320))
LIVE = (10, 100, 1000)
MOST_LIVE = 5000
ROUNDS = 40
MEETING = 20
AFTER = 20


async def one_client(stack: Stack, source: Path) -> list[Row]:
    """Empty updates and declares in turn, so that both meet the same machine."""
    project = await create(stack, "one-client", source)
    empty: list[float] = []
    full: list[float] = []
    cost: dict[str, float] = {}
    async with empty_updates(stack) as updates, connected(stack.url, project.agent) as connection:
        for number in range(PAIRS + 5):
            first = await updates.once()
            _, second = await declare(connection, project, f"app/one/file{number}.py")
            if number >= 5:  # the first ones fill caches on both sides
                empty.append(first)
                full.append(second)
        cost = await _cpu_of_a_declare(project)
    ratio = percentile(full, 0.5) / percentile(empty, 0.5)
    numbers = {**summary(full, "declare_"), **summary(empty, "empty_"), "ratio": ratio}
    value = f"{ratio:.1f} × ({ms(numbers['declare_p50'])} against {ms(numbers['empty_p50'])})"
    return [
        Row(
            "declare, one client, p50 against an empty update-with-start", value, "≤ 3 ×", ratio <= 3, numbers
        ),
        Row("declare, one client, p99", ms(numbers["declare_p99"]), numbers=numbers),
        Row(
            "processor time of one declare, all processes",
            f"{ms(sum(cost.values()))} ({', '.join(f'{name} {ms(sec)}' for name, sec in cost.items())})",
            numbers=cost,
        ),
    ]


async def _cpu_of_a_declare(project: Project) -> dict[str, float]:
    """Processor seconds of each part of the stack for one declare: what bounds the rate on few cores."""
    before = _cpu(project.stack)
    await declare_many(project, [f"app/cpu/file{n}.py" for n in range(PAIRS)], 1)
    return {name: (sec - before[name]) / PAIRS for name, sec in _cpu(project.stack).items()}


def _cpu(stack: Stack) -> dict[str, float]:
    found = {}
    for name in stack.connection["pids"]:
        parent = psutil.Process(stack.pid(name))
        times = [one.cpu_times() for one in (parent, *parent.children(recursive=True))]
        found[name] = sum(one.user + one.system for one in times)
    return found


async def at_once(stack: Stack, source: Path) -> list[Row]:
    """The rate of declares, and of empty updates beside it, with 1, 8 and 32 clients."""
    project = await create(stack, "at-once", source)
    rows: list[Row] = []
    alone = alone_empty = 0.0
    async with empty_updates(stack) as updates:
        for clients, count in RATES:
            paths = [f"app/rate{clients}/file{n}.py" for n in range(count)]
            began = time.perf_counter()
            _, took, errors = await declare_many(project, paths, clients)
            rate = len(took) / (time.perf_counter() - began)
            empty = await _empty_rate(updates, clients, count)
            alone, alone_empty = alone or rate, alone_empty or empty
            numbers = {"rate": rate, "empty_rate": empty, "errors": float(len(errors))}
            numbers |= summary(took) if took else {}
            value = f"{rate:.0f}/s, {rate / alone:.1f} × one client, p99 {ms(numbers.get('p99', 0))}, {len(errors)} errors"
            value += f" (empty updates {empty:.0f}/s, {empty / alone_empty:.1f} ×)"
            holds = not errors and (clients == 1 or rate >= 2 * alone)
            target = "no error" if clients == 1 else "no error, ≥ 2 × one client"
            rows.append(Row(f"declare, {clients} at once", value, target, holds, numbers))
            if errors:
                print(f"  first error: {errors[0]}")
    return rows


async def _empty_rate(updates: EmptyUpdates, clients: int, count: int) -> float:
    left = count

    async def client() -> None:
        nonlocal left
        while left > 0:
            left -= 1
            await updates.once()

    began = time.perf_counter()
    await asyncio.gather(*(client() for _ in range(clients)))
    return count / (time.perf_counter() - began)


class Crowd(NamedTuple):
    """A project and its live intents."""

    project: Project
    intents: list[Detail]


def crowd_path(number: int) -> str:
    """The place of the n-th of many live intents."""
    return f"app/area{number % 40:02}/part{number}.py"


async def crowd(stack: Stack, source: Path, count: int) -> Crowd:
    """A project with so many live intents, all disjoint."""
    project = await create(stack, f"live-{count}", source)
    answers, _, errors = await declare_many(project, [crowd_path(n) for n in range(count)], 8)
    if errors:
        raise RuntimeError(f"{len(errors)} of {count} declares failed; the first: {errors[0]}")
    return Crowd(project, [answer["intent"] for answer in answers])


async def many_live(stack: Stack, source: Path) -> tuple[list[Row], dict[int, Crowd]]:
    """Declares in turn in projects of 10, 100 and 1,000 live intents; and some that meet others."""
    crowds = [await crowd(stack, source, count) for count in LIVE]
    took: dict[int, list[float]] = {count: [] for count in LIVE}
    async with AsyncExitStack() as opened:
        doors = [
            await opened.enter_async_context(connected(stack.url, found.project.agent)) for found in crowds
        ]
        for n in range(ROUNDS):
            for count, found, door in zip(LIVE, crowds, doors, strict=True):
                took[count].append((await declare(door, found.project, f"app/new/file{n}.py"))[1])
        meeting = [await _meet(doors[-1], crowds[-1].project, n) for n in range(MEETING)]
    return _live_rows(took, meeting), dict(zip(LIVE, crowds, strict=True))


async def _meet(door: Connection, project: Project, number: int) -> float:
    answer, seconds = await declare(door, project, crowd_path(number * 7))
    if not answer["conflicts"]:
        raise RuntimeError("an intent on a taken place met nobody")
    return seconds


async def most_live(stack: Stack, source: Path, crowds: dict[int, Project]) -> list[Row]:
    """Declares in turn in the smallest project and in one of 5,000 live intents."""
    few = min(crowds)
    largest = await crowd(stack, source, MOST_LIVE)
    took: dict[int, list[float]] = {few: [], MOST_LIVE: []}
    async with (
        connected(stack.url, crowds[few].agent) as small,
        connected(stack.url, largest.project.agent) as large,
    ):
        for n in range(ROUNDS):
            took[few].append((await declare(small, crowds[few], f"app/more/file{n}.py"))[1])
            took[MOST_LIVE].append((await declare(large, largest.project, f"app/more/file{n}.py"))[1])
    p50, base = percentile(took[MOST_LIVE], 0.5), percentile(took[few], 0.5)
    value = f"{p50 / base:.2f} × ({ms(p50)} against {ms(base)})"
    return [
        Row(
            f"declare at {MOST_LIVE:,} live intents against {few}, p50",
            value,
            numbers=summary(took[MOST_LIVE]),
        )
    ]


def _live_rows(took: dict[int, list[float]], meeting: list[float]) -> list[Row]:
    base = percentile(took[LIVE[0]], 0.5)
    rows = []
    for count in LIVE[1:]:
        p50 = percentile(took[count], 0.5)
        value = f"{p50 / base:.2f} × ({ms(p50)} against {ms(base)})"
        target, holds = ("≤ 1.5 ×", p50 <= 1.5 * base) if count == LIVE[-1] else ("", None)
        rows.append(
            Row(
                f"declare at {count:,} live intents against 10, p50",
                value,
                target,
                holds,
                {**summary(took[count]), "ratio": p50 / base},
            )
        )
    p50 = percentile(meeting, 0.5)
    value = f"{p50 / base:.2f} × ({ms(p50)}, p99 {ms(percentile(meeting, 0.99))})"
    numbers = {**summary(meeting), "ratio": p50 / base}
    rows.append(Row("declare that meets one of 1,000, against disjoint at 10, p50", value, numbers=numbers))
    return rows


async def after_restart(stack: Stack, crowd: Crowd) -> Row:
    """The first declares after a restart with more than a thousand live intents: nothing may be in their way."""
    project = replace(crowd.project, stack=stack)
    async with connected(stack.url, project.agent) as door:
        took = [(await declare(door, project, f"app/again/file{n}.py"))[1] for n in range(AFTER)]
    value = f"slowest of {AFTER} {ms(max(took))} (p50 {ms(percentile(took, 0.5))})"
    return Row("the first declares after that restart", value, numbers=summary(took))
