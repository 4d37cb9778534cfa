"""Landings: twenty intents through the merge queue, beside its peers and plain git on the same branches."""

import asyncio
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path

from benchmarks.http import connected
from benchmarks.peers.cases import CASES, MEMBERS, Case, line_of
from benchmarks.peers.columns import Peers
from benchmarks.project import Detail, Project, create, declare, events, git_token, push
from benchmarks.repository import clone, commit_on_branch, file_of
from benchmarks.rows import Row, ms
from benchmarks.stack import Stack

PATIENCE = 120.0
MOST_ROUNDS = 6
EACH_SEC = 0.06
STARTED, FINISHED = "check.started", "check.finished"


@dataclass(frozen=True)
class Batch:
    """Twenty pushed intents of one project, ready to be submitted."""

    project: Project
    intents: list[Detail]
    pushed_sec: list[float]


@dataclass(frozen=True)
class Landing:
    """What one batch took, in seconds; `runs` counts the checks that ran for it, `rounds` their longest chain."""

    sec: float
    submits_sec: float
    rounds: int
    runs: int
    landed: int


async def push_batch(stack: Stack, source: Path, slug: str, case: Case) -> Batch:
    """Declare and push twenty disjoint intents; the case's bad one breaks its check."""
    project = await create(stack, slug, source, case.test)
    env = await git_token(project)
    folder = await clone(source, slug)
    found: list[Detail] = []
    took: list[float] = []
    async with connected(stack.url, project.agent) as door:
        for n in range(MEMBERS):
            line = line_of(n, case, f"ADDED_BY_{slug.upper().replace('-', '_')}")
            commit = await commit_on_branch(folder, f"work-{n}", n, line)
            intent, _ = await declare(door, project, file_of(n))
            took.append(await push(project, folder, commit, intent, env))
            found.append(intent)
    return Batch(project, [intent["intent"] for intent in found], took)


async def land(batch: Batch, expected: int, *, queue_first: bool = False) -> Landing:
    """Submit all at once and wait for the last of `expected` to land.

    With `queue_first` the line stands still until all are queued, and the clock starts when it moves again.
    """
    async with connected(batch.project.stack.url, batch.project.agent) as door:
        seq = (await door.call("GET", f"/api/v1/intents/{batch.intents[0]['id']}"))["afterSeq"]
    over = asyncio.create_task(_until_landed(batch.project, seq, expected))
    began = time.time()
    if queue_first:
        await _line(batch.project, "pause", {"reason": "the benchmark fills the queue"})
        for intent in batch.intents:
            await _submit(batch, intent)
        began = time.time()
        await _line(batch.project, "resume")
    else:
        await asyncio.gather(*(_submit(batch, intent) for intent in batch.intents))
    submitted = time.time()
    async with asyncio.timeout(PATIENCE):
        await over
    return _landing(await events(batch.project, seq), began, submitted)


async def _line(project: Project, verb: str, given: Detail | None = None) -> None:
    async with connected(project.stack.url, project.stack.owner) as owner:
        await owner.call("POST", f"/api/v1/projects/{project.id}/lines/main/{verb}", given or {})


async def _submit(batch: Batch, intent: Detail) -> None:
    async with connected(batch.project.stack.url, batch.project.agent) as door:
        await door.call("POST", f"/api/v1/intents/{intent['id']}/submit", {})


async def _until_landed(project: Project, seq: int, expected: int) -> None:
    """Follow the project's live events until so many intents are merged."""
    landed = 0
    async with connected(project.stack.url, project.agent) as door:
        async for event in door.stream(f"/api/v1/projects/{project.id}/events/stream?afterSeq={seq}"):
            landed += _merged(event)
            if landed == expected:
                return


def _landing(log: Sequence[Detail], began: float, submitted: float) -> Landing:
    merged = [at(e) for e in log if _merged(e)]
    runs = {e["entity_id"] for e in log if e["event_type"] == STARTED}
    return Landing(max(merged) - began, submitted - began, rounds_of(log), len(runs), len(merged))


def rounds_of(log: Iterable[Detail]) -> int:
    """The longest chain of checks in a ledger, each of which began after the one before it had ended.

    Read from the order of the events, not from their times: checks side by side are one round, and a run that
    a lost worker began again is the same check.
    """
    depth: dict[str, int] = {}
    ended = 0
    for event in sorted(log, key=lambda event: int(event["seq"])):
        if event["event_type"] == STARTED:
            depth.setdefault(event["entity_id"], ended + 1)
        elif event["event_type"] == FINISHED:
            ended = max(ended, depth.get(event["entity_id"], 0))
    return max(depth.values(), default=0)


def at(event: Detail) -> float:
    """An event's time as seconds of the wall clock."""
    return datetime.fromisoformat(event["created_at"]).timestamp()


async def all_landings(stack: Stack, source: Path, peers: Peers) -> list[Row]:
    """Check `true`, check `sleep 1`, and one bad intent; from the resumed queue and from the first submit."""
    rows: list[Row] = []
    pushed: list[float] = []
    for queue_first in (True, False):
        for case in CASES:
            found: list[Landing] = []
            for number in range(case.repeats):
                slug = f"land-{'queued' if queue_first else 'submitted'}-{case.name}-{number}"
                batch = await push_batch(stack, source, slug, case)
                pushed += batch.pushed_sec
                found.append(await land(batch, case.expected, queue_first=queue_first))
            rows.append(_row(case, found, peers, queue_first=queue_first))
    rows.append(await _promise(stack, source))
    rows.append(Row("one small push to an intent", f"p50 {ms(sorted(pushed)[len(pushed) // 2])}"))
    return rows


async def _promise(stack: Stack, source: Path) -> Row:
    """What an intent hears at its submit of when it lands, beside when it did: on a queue that has tested before."""
    case = Case("promise", "sleep 2", 2.0)
    batch = await push_batch(stack, source, "land-promised", case)
    first, *others = batch.intents
    await land(replace(batch, intents=[first]), 1)
    async with connected(stack.url, batch.project.agent) as door:
        seq = (await door.call("GET", f"/api/v1/intents/{first['id']}"))["afterSeq"]
        over = asyncio.create_task(_until_landed(batch.project, seq, len(others)))
        for intent in others:
            told = await door.call("POST", f"/api/v1/intents/{intent['id']}/submit", {})
        submitted = time.time()
        async with asyncio.timeout(PATIENCE):
            await over
    [landed] = [at(e) for e in await events(batch.project, seq) if _merged(e, others[-1]["id"])]
    promised, took = told["queue"]["etaSec"], landed - submitted
    value = f"promised {promised} s, landed after {took:.1f} s"
    return Row(
        "the last of twenty, check `sleep 2`, as promised at its submit",
        value,
        "within 2 × the promise",
        took <= 2 * promised,
        {"promised": promised, "sec": took},
    )


def _merged(event: Detail, intent_id: str | None = None) -> bool:
    """Whether an event says that an intent, or this one, was merged."""
    moved: bool = event["event_type"] == "intent.state_changed" and event["payload"]["to"] == "merged"
    return moved and intent_id in (None, event["intent_id"])


def _row(case: Case, found: Sequence[Landing], peers: Peers, *, queue_first: bool) -> Row:
    """One row of the median landing, its peers beside it."""
    landing = sorted(found, key=lambda one: one.sec)[len(found) // 2]
    metric, value, target, holds = (_bad if case.bad is not None else _disjoint)(case, landing, peers.floor)
    metric += f", from the {'resumed queue' if queue_first else 'first submit'}"
    numbers = {f"sec{n}": each.sec for n, each in enumerate(found)}
    numbers |= {"rounds": landing.rounds, "runs": landing.runs, "landed": landing.landed}
    numbers |= {"submits_sec": landing.submits_sec}
    numbers |= peers.beside_numbers(case, queue_first=queue_first)
    return Row(metric, value, target, holds, numbers, peers.beside(case, queue_first=queue_first))


def _disjoint(case: Case, found: Landing, floor: float) -> tuple[str, str, str, bool]:
    each = (found.sec - case.check_sec) / MEMBERS
    value = f"{ms(each)} an intent{' beside one check' if case.check_sec else ''} ({found.sec:.2f} s in all"
    value += f", {found.rounds} round{'s' * (found.rounds != 1)}, {each * MEMBERS / floor:.1f} × plain git)"
    target = ("one check + 60 ms an intent") if case.check_sec else "≤ 60 ms an intent"
    holds = found.landed == MEMBERS and each <= EACH_SEC
    return f"{MEMBERS} disjoint, check `{case.test}`", value, target, holds


def _bad(case: Case, found: Landing, _: float) -> tuple[str, str, str, bool]:
    value = f"{found.rounds} rounds ({found.runs} checks), {found.sec:.2f} s in all, {found.landed} landed"
    holds = found.landed == case.expected and found.rounds <= MOST_ROUNDS
    target = f"{case.expected} land within {MOST_ROUNDS} rounds"
    return f"one bad among {MEMBERS}, check of 1 s", value, target, holds
