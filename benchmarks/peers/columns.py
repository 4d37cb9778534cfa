"""gitring's landings and its peers' side by side."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from benchmarks.peers import mergetrain
from benchmarks.peers.cases import CASES, Case, Measured, told
from benchmarks.peers.plain import floor, told_floor
from benchmarks.peers.programs import ProgramFailed
from benchmarks.rows import Row, aligned

BATCH, ORDERED, PLAIN = "mergetrain, batch", "mergetrain, one by one", "plain git"
PEERS = (BATCH, ORDERED, PLAIN)


@dataclass
class Peers:
    """What the peers did: a cell for (case, from the filled queue, peer), the numbers behind it, git's floor in seconds."""

    floor: float
    about: str = ""
    cells: dict[tuple[str, bool, str], str] = field(default_factory=dict)
    numbers: dict[tuple[str, bool, str], dict[str, float]] = field(default_factory=dict)

    def beside(self, case: Case, *, queue_first: bool) -> dict[str, str]:
        """The cells of one row."""
        return {peer: self.cells.get((case.name, queue_first, peer), "") for peer in PEERS}

    def beside_numbers(self, case: Case, *, queue_first: bool) -> dict[str, float]:
        """The numbers of one row, named after the peer."""
        found = {peer: self.numbers.get((case.name, queue_first, peer), {}) for peer in PEERS}
        return {f"{peer}: {name}": value for peer, each in found.items() for name, value in each.items()}


async def only_the_floor(source: Path) -> Peers:
    """Plain git alone, and of the others that they were left out."""
    return Peers(await floor(source, CASES[0]), "no peer was measured")


async def measure_peers(source: Path, folder: Path) -> Peers:
    """Measure all; call it while gitring is not running, so that nothing is in a peer's way."""
    peers = Peers(await floor(source, CASES[0]))
    for case in CASES:
        for queue_first in (True, False):
            cell = told_floor(peers.floor) if case.bad is None else "checks nothing"
            peers.cells[case.name, queue_first, PLAIN] = cell
        peers.cells[case.name, False, ORDERED] = "only from the filled queue"
    try:
        installed = await mergetrain.install(folder)
    except ProgramFailed as problem:
        peers.about = f"mergetrain could not be installed: {problem}"
        mark_missing(peers)
        return peers
    peers.about = installed.version
    for case in CASES:
        await _measure_mergetrain(installed, source, case, peers)
    return peers


def mark_missing(peers: Peers) -> None:
    """Say in each cell of mergetrain that it was not measured."""
    for case in CASES:
        for peer, queue_first in ((BATCH, True), (BATCH, False), (ORDERED, True)):
            peers.cells[case.name, queue_first, peer] = "not measured: not installed"


async def _measure_mergetrain(
    installed: mergetrain.Mergetrain, source: Path, case: Case, peers: Peers
) -> None:
    async def cell(
        peer: str, queue_first: bool, repeats: int, one: Callable[[str], Awaitable[Measured]]
    ) -> None:
        key = (case.name, queue_first, peer)
        slug = f"{peer.split()[-1]}-{case.name}-{'filled' if queue_first else 'submit'}"
        try:
            found = [await one(f"{slug}-{n}") for n in range(repeats)]
        except ProgramFailed as problem:
            peers.cells[key] = f"failed: {problem}"
            return
        peers.cells[key] = told(case, found)
        peers.numbers[key] = {f"sec{n}": each.sec for n, each in enumerate(found)}
        peers.numbers[key] |= {"runs": found[-1].runs, "landed": found[-1].landed}

    for queue_first in (True, False):
        batch = partial(mergetrain.batch, installed, source, case, queue_first=queue_first)
        await cell(BATCH, queue_first, case.repeats, batch)
    await cell(ORDERED, True, 1, partial(mergetrain.one_by_one, installed, source, case))


def comparison(rows: Sequence[Row], about: str = "") -> str:
    """The rows that have peers as a table of their own; empty when none has."""
    compared = [row for row in rows if row.beside]
    if not compared:
        return ""
    columns = list(dict.fromkeys(peer for row in compared for peer in row.beside))
    lines = [(row.metric, row.value, *_cells(row.beside, columns)) for row in compared]
    return aligned([("the same work", "gitring", *columns), *lines]) + (f"\n\n  {about}" if about else "")


def _cells(beside: Mapping[str, str], columns: Sequence[str]) -> list[str]:
    return [beside.get(column, "") for column in columns]
