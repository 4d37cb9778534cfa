"""The floor: plain git merging the same branches one after the other, without a working tree and without checks."""

import time
from pathlib import Path

from benchmarks.peers.cases import MEMBERS, Case, Measured, prepare
from benchmarks.repository import git
from benchmarks.rows import ms


async def floor(source: Path, case: Case) -> float:
    """Seconds for twenty times merge-tree, commit-tree and update-ref: the median of the case's repeats."""
    took = sorted([(await _merge_all(source, case, n)).sec for n in range(case.repeats)])
    return took[len(took) // 2]


async def _merge_all(source: Path, case: Case, number: int) -> Measured:
    found = await prepare(source, f"plain-{number}", case, {})
    head = (await git(found.checkout, "rev-parse", "main")).strip()
    began = time.perf_counter()
    for branch in found.branches:
        tree = (await git(found.checkout, "merge-tree", "--write-tree", head, branch)).strip()
        words = ("commit-tree", tree, "-p", head, "-p", branch, "-m", "Merge")
        merged = (await git(found.checkout, *words)).strip()
        await git(found.checkout, "update-ref", "refs/heads/main", merged, head)
        head = merged
    return Measured(time.perf_counter() - began, 0, len(found.branches))


def told_floor(sec: float) -> str:
    """The floor's cell."""
    return f"{ms(sec / MEMBERS)} a merge ({sec:.2f} s in all, no check)"
