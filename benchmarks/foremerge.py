"""The Foremerge face: its four queries beside 500, 5,000 and 20,000 intents, and what the comparison of a new one costs."""

import time
from collections.abc import Mapping
from contextlib import AsyncExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

from benchmarks.foremerge_record import HOT, fill
from benchmarks.http import CallFailed, Connection, connected
from benchmarks.project import Project, create
from benchmarks.rows import Row, ms, percentile, summary
from benchmarks.stack import Stack

SIZES = (500, 5_000, 20_000)
RUNS = 9
WARM = 2
LIMIT = 50
MOST_RATIO = 3  # with forty times as many intents

Took = dict[tuple[str, int], list[float]]


@dataclass(frozen=True)
class Filled:
    """A project with many intents, a connection to it, the agent that publishes and one that owns a hundred."""

    door: Connection
    project: Project
    publisher: str
    owner: str


async def foremerge(stack: Stack, source: Path) -> list[Row]:
    """All rows of this face; each size is a project of its own, and they take turns."""
    took: Took = {}
    async with AsyncExitStack() as opened:
        filled: dict[int, Filled] = {}
        for size in SIZES:
            project = await create(stack, f"foremerge-{size}", source)
            door = await opened.enter_async_context(connected(stack.url, project.agent))
            filled[size] = await _filled(project, door, size)
        for run in range(-WARM, RUNS):
            for size, one in filled.items():
                for name, path in _queries(one).items():
                    await _timed(took, (name, size), one, "GET", path)
                await _compared(took, one, size, run)
            if run < 0:
                took.clear()
    names = list(dict.fromkeys(name for name, _ in took))
    return [_row(name, size, took) for name in names for size in SIZES[1:]]


async def _filled(project: Project, door: Connection, size: int) -> Filled:
    began = time.monotonic()
    registered = await _call(door, "POST", "/v1/agents/register", {"name": "publisher"})
    first = _publication(registered["id"], "Give the first one", "first/one")
    published = await _call(door, "POST", "/v1/intents", first)
    owners = await fill(project.stack.connection["postgres"], published["intent"]["id"], size)
    print(f"  {size:,} intents written in {time.monotonic() - began:.1f} s", flush=True)
    return Filled(door, project, registered["id"], owners[-1])


def _queries(one: Filled) -> Mapping[str, str]:
    """`query_work` four times: without a filter, by agent and status, by a scope that many have, and by one of nobody."""
    filters = {
        "no filter": {},
        "agent and status": {"agent_id": one.owner, "status": "CLAIMED"},
        "a scope of every tenth": {"scope": f"symbol:{HOT}"},
        "a scope of nobody": {"scope": "symbol:Nowhere::to_be_found"},
    }
    return {
        f"query_work, {name}": f"/v1/work?{urlencode({**given, 'limit': LIMIT})}"
        for name, given in filters.items()
    }


async def _compared(took: Took, one: Filled, size: int, run: int) -> None:
    """A check that keeps nothing, a publication that meets nobody, and one that meets what was published before it."""
    number = run + WARM
    place = f"new{number}/work"
    check = {"intent": "Give totals another currency", "scopes": _scopes(place)}
    await _timed(took, ("check_conflicts, a description", size), one, "POST", "/v1/conflicts/check", check)
    alone = _publication(one.publisher, f"Describe shelf{number} colour{number} weight{number}", place)
    answer = await _timed(took, ("publish_intent, meets nobody", size), one, "POST", "/v1/intents", alone)
    if answer["conflicts"]:
        raise RuntimeError(f"it met somebody: {answer['conflicts'][0]['explanation']}")
    meeting = _publication(one.publisher, f"Print receipt{number} margin{number} footer{number}", place)
    answer = await _timed(took, ("publish_intent, meets one", size), one, "POST", "/v1/intents", meeting)
    if not answer["conflicts"]:
        raise RuntimeError("an intent with a taken scope met nobody")


def _scopes(place: str) -> list[dict[str, str]]:
    symbol = f"{place.replace('/', '')}::run"
    return [
        {"kind": "symbol", "key": symbol, "operation": "extend"},
        {"kind": "file", "key": f"fresh/{place}.py", "operation": "modify"},
    ]


def _publication(agent: str, summary_: str, place: str) -> dict[str, Any]:
    return {"agent_id": agent, "task": "benchmark", "summary": summary_, "scopes": _scopes(place)}


async def _timed(
    took: Took, key: tuple[str, int], one: Filled, method: str, path: str, body: dict[str, Any] | None = None
) -> Any:
    began = time.perf_counter()
    answer = await _call(one.door, method, path, body)
    took.setdefault(key, []).append(time.perf_counter() - began)
    return answer


async def _call(door: Connection, method: str, path: str, body: dict[str, Any] | None = None) -> Any:
    """A call of the JSON API; its `data`. Raises CallFailed."""
    found = await door.call(method, path, body)
    if not found["ok"]:
        raise CallFailed(str(found["error"]))
    return found["data"]


def _row(name: str, size: int, took: Took) -> Row:
    p50, base = percentile(took[name, size], 0.5), percentile(took[name, SIZES[0]], 0.5)
    numbers = {**summary(took[name, size]), "ratio": p50 / base}
    target, holds = ("≤ 3 ×", p50 <= MOST_RATIO * base) if size == SIZES[-1] else ("", None)
    metric = f"{name}, {size:,} intents against {SIZES[0]}, median of {RUNS}"
    return Row(metric, f"{p50 / base:.2f} × ({ms(p50)} against {ms(base)})", target, holds, numbers)
