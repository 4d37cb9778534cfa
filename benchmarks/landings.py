"""Landings: twenty intents through the merge queue, beside plain git merging the same twenty branches."""

import asyncio
import time
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from benchmarks.http import connected
from benchmarks.project import Detail, Project, create, declare, events, git_token, push
from benchmarks.repository import clone, commit_on_branch, file_of, git
from benchmarks.rows import Row, ms
from benchmarks.stack import Stack

MEMBERS = 20
BAD = 9
BROKEN = "BROKEN = True"
PATIENCE = 120.0


@dataclass(frozen=True)
class Batch:
    """Twenty pushed intents of one project, ready to be submitted."""

    project: Project
    folder: Path
    intents: list[Detail]
    pushed_sec: list[float]


@dataclass(frozen=True)
class Landing:
    """What one batch took, in seconds; `checks` are the beginning and end of each check that ran for it."""

    sec: float
    submits_sec: float
    rounds: int
    landed: int
    checks: list[tuple[float, float]]


async def push_batch(stack: Stack, source: Path, slug: str, test: str, bad: int | None = None) -> Batch:
    """Declare and push twenty disjoint intents; the one numbered `bad` breaks the check."""
    project = await create(stack, slug, source, test)
    env = await git_token(project)
    folder = await clone(source, slug)
    found: list[Detail] = []
    took: list[float] = []
    async with connected(stack.url, project.agent) as door:
        for n in range(MEMBERS):
            line = BROKEN if n == bad else f"ADDED_BY_{slug.upper().replace('-', '_')} = {n}"
            commit = await commit_on_branch(folder, f"work-{n}", n, line)
            intent, _ = await declare(door, project, file_of(n))
            took.append(await push(project, folder, commit, intent, env))
            found.append(intent)
    return Batch(project, folder, [intent["intent"] for intent in found], took)


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
        await _submit_all(batch)
        began = time.time()
        await _line(batch.project, "resume")
    else:
        await _submit_all(batch)
    submitted = time.time()
    async with asyncio.timeout(PATIENCE):
        await over
    return _landing(await events(batch.project, seq), began, submitted)


async def _line(project: Project, verb: str, given: Detail | None = None) -> None:
    async with connected(project.stack.url, project.stack.owner) as owner:
        await owner.call("POST", f"/api/v1/projects/{project.id}/lines/main/{verb}", given or {})


async def _submit_all(batch: Batch) -> None:
    async def submit(intent: Detail) -> None:
        async with connected(batch.project.stack.url, batch.project.agent) as door:
            await door.call("POST", f"/api/v1/intents/{intent['id']}/submit", {})

    await asyncio.gather(*(submit(intent) for intent in batch.intents))


async def _until_landed(project: Project, seq: int, expected: int) -> None:
    """Follow the project's live events until so many intents are merged."""
    landed = 0
    async with connected(project.stack.url, project.agent) as door:
        async for event in door.stream(f"/api/v1/projects/{project.id}/events/stream?afterSeq={seq}"):
            landed += event["event_type"] == "intent.state_changed" and event["payload"]["to"] == "merged"
            if landed == expected:
                return


def _landing(log: Sequence[Detail], began: float, submitted: float) -> Landing:
    merged = [
        at(e) for e in log if e["event_type"] == "intent.state_changed" and e["payload"]["to"] == "merged"
    ]
    starts = {e["entity_id"]: at(e) for e in log if e["event_type"] == "check.started"}
    ends = {e["entity_id"]: at(e) for e in log if e["event_type"] == "check.finished"}
    checks = [(start - began, ends.get(key, start) - began) for key, start in starts.items()]
    checks.sort()
    return Landing(max(merged) - began, submitted - began, rounds_of(checks), len(merged), checks)


def rounds_of(checks: Sequence[tuple[float, float]]) -> int:
    """How many rounds of checks there were: those that ran side by side, started in order, are one."""
    rounds, ended = 0, 0.0
    for start, end in checks:
        if not rounds or start >= ended:
            rounds += 1
        ended = max(ended, end)
    return rounds


def at(event: Detail) -> float:
    """An event's time as seconds of the wall clock."""
    return datetime.fromisoformat(event["created_at"]).timestamp()


async def plain_git(batch: Batch) -> float:
    """The same twenty merges by `git merge --no-ff` in the clone they were made in; seconds."""
    await git(batch.folder, "checkout", "--quiet", "main")
    began = time.perf_counter()
    for n in range(MEMBERS):
        await git(batch.folder, "merge", "--quiet", "--no-ff", "--message=Merge", f"work-{n}")
    return time.perf_counter() - began


async def all_landings(stack: Stack, source: Path) -> list[Row]:
    """Check `true`, check `sleep 1`, and one bad intent; from the first submit and from the resumed queue."""
    rows: list[Row] = []
    pushed: list[float] = []
    floor = 0.0
    for queue_first in (True, False):
        how = "resumed queue" if queue_first else "first submit"
        mark = "queued" if queue_first else "submitted"
        for test, seconds in (("true", 0.0), ("sleep 1", 1.0)):
            slug = f"land-{mark}-{test.replace(' ', '-')}"
            batch = await push_batch(stack, source, slug, test)
            pushed += batch.pushed_sec
            found = await land(batch, MEMBERS, queue_first=queue_first)
            if not floor:
                floor = await plain_git(batch)
                rows.append(
                    Row(
                        "plain git, the same 20 merges", f"{ms(floor / MEMBERS)} each", numbers={"sec": floor}
                    )
                )
            rows.append(_row(f"20 disjoint, check `{test}`, from the {how}", found, seconds, floor))
        bad = await push_batch(stack, source, f"land-{mark}-bad", f"sleep 1; ! grep -rq '^{BROKEN}' app", BAD)
        found = await land(bad, MEMBERS - 1, queue_first=queue_first)
        rows.append(_bad_row(f"one bad among 20, check of 1 s, from the {how}", found))
    rows.append(Row("one small push to an intent", f"p50 {ms(sorted(pushed)[len(pushed) // 2])}"))
    return rows


def _numbers(found: Landing) -> dict[str, float]:
    numbers = {
        "sec": found.sec,
        "rounds": float(found.rounds),
        "checks": float(len(found.checks)),
        "landed": float(found.landed),
        "submits_sec": found.submits_sec,
    }
    for n, (start, end) in enumerate(found.checks):
        numbers |= {f"check{n}_start": start, f"check{n}_end": end}
    return numbers


def _row(metric: str, found: Landing, check_sec: float, floor: float) -> Row:
    each = (found.sec - check_sec) / MEMBERS
    value = f"{ms(each)} an intent{' beside one check' if check_sec else ''} ({found.sec:.2f} s in all, {found.rounds} rounds"
    value += f", {each * MEMBERS / floor:.1f} × plain git, submits answered in {found.submits_sec:.2f} s)"
    target = "≤ 60 ms an intent" + (" + one check" if check_sec else "")
    return Row(metric, value, target, found.landed == MEMBERS and each <= 0.06, _numbers(found))


def _bad_row(metric: str, found: Landing) -> Row:
    value = (
        f"{found.rounds} rounds ({len(found.checks)} checks), {found.sec:.2f} s in all, {found.landed} landed"
    )
    return Row(
        metric, value, "19 land within 6 rounds", found.landed == 19 and found.rounds <= 6, _numbers(found)
    )
