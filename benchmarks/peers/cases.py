"""What is landed, by gitring and by every peer alike: twenty branches and three checks."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from benchmarks.repository import clone, file_of, git
from benchmarks.rows import ms

MEMBERS = 20
BAD = 9
BROKEN = "BROKEN = True"
REPEATS = 3


@dataclass(frozen=True)
class Case:
    """One check on twenty branches; `bad` numbers the branch that breaks it, `check_sec` is what it sleeps."""

    name: str
    test: str
    check_sec: float = 0.0
    bad: int | None = None
    repeats: int = 1

    @property
    def expected(self) -> int:
        """How many should land."""
        return MEMBERS - (self.bad is not None)


CASES = (
    Case("true", "true", repeats=REPEATS),
    Case("sleep", "sleep 1", 1.0),
    Case("bad", f"sleep 1; ! grep -rq '^{BROKEN}' app", 1.0, BAD),
)


@dataclass(frozen=True)
class Measured:
    """How a peer fared: seconds from start to the last landing, runs of the check, branches that landed."""

    sec: float
    runs: int
    landed: int


def line_of(number: int, case: Case, mark: str) -> str:
    """What the n-th branch adds to its file."""
    return BROKEN if number == case.bad else f"{mark} = {number}"


def told(case: Case, found: Sequence[Measured]) -> str:
    """A peer's cell: the median of its runs in the words of gitring's own rows."""
    sec = median(one.sec for one in found)
    runs, landed = found[-1].runs, min(one.landed for one in found)
    if case.bad is not None:
        return f"{runs} checks one after the other, {sec:.2f} s in all, {landed} landed"
    each = (sec - runs * case.check_sec) / MEMBERS
    checks = f"{runs} check{'s' * (runs != 1)}"
    beside, inside = (f" beside {checks}", "") if case.check_sec else ("", f", {checks}")
    short = "" if landed == case.expected else f", ONLY {landed} LANDED"
    return f"{ms(each)} an intent{beside} ({sec:.2f} s in all{inside}{short})"


@dataclass(frozen=True)
class Worktrees:
    """A bare `remote` and a `checkout` of it, whose branches each have a worktree with one commit."""

    remote: Path
    checkout: Path
    branches: list[str]


async def prepare(source: Path, name: str, case: Case, extra: dict[str, str]) -> Worktrees:
    """The twenty branches off one base, each in its own worktree; `extra` files are committed to the base."""
    base = await clone(source, f"{name}-base")
    for path, content in extra.items():
        (base / path).write_text(content)
    await git(base, "add", "--all")
    await git(base, "commit", "--quiet", "--allow-empty", "--message=Settings")
    remote, checkout = base.with_name(f"{name}-remote.git"), base.with_name(f"{name}-checkout")
    await git(base, "clone", "--quiet", "--bare", str(base), str(remote))
    await git(base, "clone", "--quiet", str(remote), str(checkout))
    branches = [f"work-{number}" for number in range(MEMBERS)]
    for number, branch in enumerate(branches):
        tree = checkout.with_name(f"{name}-{branch}")
        await git(checkout, "worktree", "add", "--quiet", "-b", branch, str(tree), "origin/main")
        await asyncio.to_thread(_append, tree / file_of(number), line_of(number, case, "ADDED"))
        await git(tree, "commit", "--quiet", "--all", f"--message=Change module {number}")
    return Worktrees(remote, checkout, branches)


def _append(path: Path, line: str) -> None:
    with path.open("a") as file:
        file.write(line + "\n")
