"""mergetrain, a local merge queue for agents' worktrees, used as its own documents say.

The fastest settings that it has for unattended landing: jobs are enqueued with `--auto` (no second run of the
checks at an approval) and one `daemon --once` lands them, which does not wait between rounds as the resident
daemon does. Its remote is a bare repository on the same disk, reached by its path. `batch` is its default;
`ordered` lands one submission at a time.
"""

import asyncio
import json
import sys
import time
from dataclasses import dataclass
from pathlib import Path

from benchmarks.peers.cases import MEMBERS, Case, Measured, Worktrees, prepare
from benchmarks.peers.programs import ProgramFailed, run
from benchmarks.repository import git

LOCK = Path(__file__).with_name("mergetrain.txt")
# A round that lands only a part ends with 1: what landed is counted from the remote.
RAN = (0, 1)


@dataclass(frozen=True)
class Mergetrain:
    """The installed command, and a home folder of its own."""

    command: str
    home: Path
    version: str

    async def call(self, *words: str, folder: Path) -> str:
        """Run it in a checkout. Raises ProgramFailed."""
        return await run(self.command, *words, folder=folder, env=_home(self.home), fine=RAN)


def _home(home: Path) -> dict[str, str]:
    return {"HOME": str(home), "XDG_CONFIG_HOME": str(home), "XDG_STATE_HOME": str(home)}


async def install(folder: Path) -> Mergetrain:
    """Install the pinned version in an environment of its own under `folder`. Raises ProgramFailed."""
    venv, home = folder / "mergetrain-venv", folder / "mergetrain-home"
    home.mkdir(parents=True)
    await run(sys.executable, "-m", "venv", str(venv), folder=folder, env={})
    words = ("-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--retries=1", "--timeout=15")
    python = str(venv / "bin" / "python")
    await run(python, *words, "--require-hashes", "--requirement", str(LOCK), folder=folder, env={})
    command = str(venv / "bin" / "mergetrain")
    version = await run(command, "--version", folder=folder, env=_home(home))
    return Mergetrain(command, home, version.strip())


def settings(case: Case, runs: Path, processing: str) -> str:
    """Its `.mergetrain.yaml` (JSON is YAML); the check leaves a mark in `runs` each time that it is run."""
    check = {"name": "test", "run": f"echo >> {runs}; {case.test}"}
    content = {
        "version": 2,
        "project": {"name": "bench"},
        "queue": {"processing": processing},
        "gates": [check],
    }
    return json.dumps(content, indent=1) + "\n"


async def batch(peer: Mergetrain, source: Path, case: Case, name: str, *, queue_first: bool) -> Measured:
    """All in one train; the clock starts when the runner does, or before twenty agents enqueue at once."""
    runs, made = await _ready(source, case, name, "batch")
    began = time.perf_counter()
    if queue_first and case.bad is not None:  # the bad one stands where the others have it
        await _enqueue_in_turn(peer, made)
    else:
        await asyncio.gather(*(_enqueue(peer, made, branch) for branch in made.branches))
    if queue_first:
        began = time.perf_counter()
    await peer.call("daemon", "--once", folder=made.checkout)
    return await _measured(made, runs, time.perf_counter() - began)


async def one_by_one(peer: Mergetrain, source: Path, case: Case, name: str) -> Measured:
    """Each submission lands alone, in order; the one that fails is dismissed, so that the others may go on."""
    runs, made = await _ready(source, case, name, "ordered")
    await _enqueue_in_turn(peer, made)
    began = time.perf_counter()
    for number in range(MEMBERS):
        await peer.call("daemon", "--once", folder=made.checkout)
        if number == case.bad:
            await peer.call("dismiss", str(number + 1), "--note=bad", folder=made.checkout)
    return await _measured(made, runs, time.perf_counter() - began)


async def _ready(source: Path, case: Case, name: str, processing: str) -> tuple[Path, Worktrees]:
    runs = source.with_name(f"{name}-runs")
    made = await prepare(source, name, case, {".mergetrain.yaml": settings(case, runs, processing)})
    return runs, made


async def _enqueue(peer: Mergetrain, made: Worktrees, branch: str) -> None:
    await peer.call("enqueue", "--auto", f"--task={branch}", f"--branch={branch}", folder=made.checkout)


async def _enqueue_in_turn(peer: Mergetrain, made: Worktrees) -> None:
    for branch in made.branches:
        await _enqueue(peer, made, branch)


async def _measured(made: Worktrees, runs: Path, sec: float) -> Measured:
    """What the remote's line and the check's own marks say."""
    merged = set((await git(made.remote, "rev-list", "main")).split())
    heads = [(await git(made.checkout, "rev-parse", branch)).strip() for branch in made.branches]
    landed = sum(head in merged for head in heads)
    if not landed:
        raise ProgramFailed("it landed nothing")
    marks = await asyncio.to_thread(runs.read_text)
    return Measured(sec, marks.count("\n"), landed)
