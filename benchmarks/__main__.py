"""`python -m benchmarks`: start a gitring, measure it, print one table, keep it in `benchmarks/results/latest.json`."""

import argparse
import asyncio
import shutil
import sys
import tempfile
import time
from collections.abc import Awaitable
from pathlib import Path

from benchmarks import declares, landings, transfers, waits
from benchmarks.foremerge import foremerge
from benchmarks.peers.columns import Peers, comparison, measure_peers, only_the_floor
from benchmarks.repository import make_repository
from benchmarks.rows import Row, keep, table
from benchmarks.stack import Stack, running, start, stop
from benchmarks.surveys import surveys

PARTS = ("declares", "waits", "landings", "push", "foremerge")
READY_SEC = 8.0


async def measure(folder: Path, parts: list[str], *, with_peers: bool = True) -> list[Row]:
    """All rows of the chosen parts; the folder holds everything that is made."""
    source = await make_repository(folder / "source")
    rows = await _of_gitring(folder, source, parts, with_peers) if set(parts) - {"foremerge"} else []
    if "foremerge" in parts:
        rows += await _of_foremerge(folder, source)
    return rows


async def _of_gitring(folder: Path, source: Path, parts: list[str], with_peers: bool) -> list[Row]:
    """The parts that share one data folder, restarts included."""
    data = folder / "data"
    peers = await _peers(source, folder, with_peers) if "landings" in parts else None
    first = await start(data)
    await stop(first)
    stack = await start(data)
    rows = [
        Row("ready from `gitring up`, new folder", f"{first.ready_sec:.1f} s"),
        _ready("ready from `gitring up`, used folder", stack.ready_sec),
    ]
    crowd: declares.Crowd | None = None
    try:
        crowd = await _parts(stack, source, folder, parts, rows, peers)
    finally:
        stopped = await stop(stack)
    again = await start(data)
    if crowd is not None:
        rows.append(await declares.after_restart(again, crowd))
    await stop(again)
    rows.insert(2, _ready("the same, folder of this whole run", again.ready_sec))
    rows.insert(3, Row("stopped from SIGINT, after this whole run", f"{stopped:.1f} s"))
    return rows


async def _of_foremerge(folder: Path, source: Path) -> list[Row]:
    """On a data folder of its own: a record filled by hand is nothing to measure a restart with."""
    began = time.monotonic()
    async with running(folder / "foremerge") as stack:
        found = await foremerge(stack, source)
    print(table(found), f"\n  foremerge: {time.monotonic() - began:.0f} s\n", flush=True)
    return found


def _ready(metric: str, seconds: float) -> Row:
    return Row(metric, f"{seconds:.1f} s", "≤ 8 s", seconds <= READY_SEC, {"sec": seconds})


async def _peers(source: Path, folder: Path, wanted: bool) -> Peers:
    """The peers, before gitring is started: nothing of it is in their way."""
    began = time.monotonic()
    found = await (measure_peers(source, folder / "peers") if wanted else only_the_floor(source))
    print(f"  peers: {found.about}, {time.monotonic() - began:.0f} s\n", flush=True)
    return found


async def _parts(
    stack: Stack, source: Path, folder: Path, parts: list[str], rows: list[Row], peers: Peers | None
) -> declares.Crowd | None:
    async def part(name: str, measuring: Awaitable[list[Row]]) -> None:
        began = time.monotonic()
        found = await measuring
        rows.extend(found)
        print(table(found), f"\n  {name}: {time.monotonic() - began:.0f} s\n", flush=True)

    if "declares" in parts:
        await part("one client", declares.one_client(stack, source))
        await part("many clients", declares.at_once(stack, source))
    if peers is not None:
        await part("landings", landings.all_landings(stack, source, peers))
        print(comparison(rows), "\n", flush=True)
    if "push" in parts:
        await part("a large push", transfers.large_push(stack, source, folder))
    if "declares" in parts or "waits" in parts:
        began = time.monotonic()
        found, crowds = await declares.many_live(stack, source)
        crowd, projects = crowds[max(crowds)], {live: each.project for live, each in crowds.items()}
        rows.extend(found)
        print(table(found), f"\n  many live intents: {time.monotonic() - began:.0f} s\n", flush=True)
        if "waits" in parts:
            await part("waits", waits.all_waits(crowd.project, crowd.intents))
        if "declares" in parts:
            few_and_many = {live: projects[live] for live in (min(projects), max(projects))}
            await part("boards and briefs", surveys(few_and_many))
            await part("5,000 live intents", declares.most_live(stack, source, projects))
        return crowd
    return None


def main() -> int:
    """Measure, print and keep; the exit code is 0 even when a target is missed."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument(
        "parts", nargs="*", choices=[*PARTS, []], help=f"some of {', '.join(PARTS)}; all by default"
    )
    parser.add_argument(
        "--folder", type=Path, help="where to work; a temporary folder by default, removed at the end"
    )
    parser.add_argument(
        "--no-peers",
        action="store_true",
        help="measure gitring's landings without the peers, which take minutes",
    )
    given = parser.parse_args()
    folder: Path = given.folder or Path(tempfile.mkdtemp(prefix="gitring-bench-"))
    folder.mkdir(exist_ok=True)
    began = time.monotonic()
    try:
        rows = asyncio.run(measure(folder, given.parts or list(PARTS), with_peers=not given.no_peers))
    finally:
        if given.folder is None:
            shutil.rmtree(folder, ignore_errors=True)
    print(table(rows))
    print(f"\n{comparison(rows)}")
    if not given.parts:
        keep(rows, time.monotonic() - began)
    print(f"\n{time.monotonic() - began:.0f} s in all; missed: {sum(row.holds is False for row in rows)}")
    return 0


sys.exit(main())
