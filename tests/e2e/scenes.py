"""What the fault stories share: work under way, calls repeated as the server says, and how all must end."""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass

import httpx2
import psutil

from tests.e2e.line import landed
from tests.e2e.listener import each_once_in_order, published
from tests.support.agent import Agent, Answer, Owner, Ran, Refused, Work
from tests.support.stack import RunningStack

APP = {"app/f1.py": "x = 1\n", "app/f2.py": "x = 2\n"}
CHANGED = {"app/f1.py": "y = 1\n"}
_PACE = 0.1


@dataclass
class Scene:
    """One project in which one thing is under way."""

    project: Answer
    agent: Agent
    intent: Answer
    work: Work


async def scene(owner: Owner, test: str = "true", **settings: str) -> Scene:
    """A project with one declared intent and its commit, not pushed yet."""
    project = await owner.project(APP, test, **settings)
    agent = await owner.agent(project)
    intent = await agent.declare("Work", ["app/f1.py"])
    work = await agent.checkout(intent)
    await work.commit(CHANGED)
    return Scene(project, agent, intent, work)


async def pushed_scene(owner: Owner, test: str = "true") -> Scene:
    """The same with its commit pushed."""
    found = await scene(owner, test)
    ran = await found.work.push()
    assert ran.code == 0, ran.err
    return found


async def answered(call: Callable[[], Awaitable[Answer]]) -> Answer:
    """The answer of a call with a requestId, repeated as its refusals say."""
    async with asyncio.timeout(60):
        while True:
            try:
                return await call()
            except Refused as refused:
                assert refused.code in ("outcome_unknown", "idempotency_in_progress", "busy"), refused
            except httpx2.TransportError:
                pass  # the gateway is gone for a moment
            await pause()


async def reached(agent: Agent, intent: Answer, *states: str) -> Answer:
    """Wait as `Agent.wait_until` does, through whatever breaks meanwhile."""
    seq = 0
    async with asyncio.timeout(75):
        while True:
            found = await answered(lambda after=seq: agent.wait(intent, after))  # type: ignore[misc]
            if found["intent"]["state"] in states:
                return found
            seq = found["afterSeq"]


async def pause() -> None:
    """A breath between two tries, so that a server that starts again has the machine for itself."""
    with suppress(TimeoutError):
        async with asyncio.timeout(_PACE):
            await asyncio.Event().wait()


def told_how_it_went(ran: Ran) -> None:
    """A push during a fault is taken, or its pusher is told that the commits are there and what to look at."""
    assert ran.code == 0 or "could not record the push yet. Look with gitring_status" in ran.err, ran.err


async def ended_well(stack: RunningStack, owner: Owner, project: Answer, merged: list[int]) -> None:
    """The line holds each merge once, the ledger is whole, and the stream has each event once, in order."""
    assert await landed(stack, project) == merged
    verdict = await owner.audit(project)
    events = await owner.events(project)
    assert each_once_in_order(await published(stack.connection, project["id"], verdict["lastSeq"])) == [
        event["seq"] for event in events
    ]
    kinds = [(event["event_type"], event["entity_id"], str(event["payload"].get("to"))) for event in events]
    once = [kind for kind in kinds if kind[0] in ("intent.declared", "line.moved") or kind[2] == "merged"]
    assert len(once) == len(set(once)), once


async def sleeping(seconds: str) -> bool:
    """Whether a check's `sleep` runs."""
    return any(["sleep", seconds] == _words(process) for process in psutil.process_iter())


async def ended(seconds: str) -> bool:
    """Whether no such `sleep` runs: what a killed worker started ends with it."""
    return not await sleeping(seconds)


def _words(process: psutil.Process) -> list[str]:
    try:
        return process.cmdline()
    except psutil.NoSuchProcess:
        return []
