"""The tests that a line's queue runs side by side, by the tree they test."""

import asyncio
from collections.abc import Collection
from datetime import datetime

from temporalio import workflow

with workflow.unsafe.imports_passed_through():
    from protocol.ids import short
    from protocol.queue import Candidate, CheckOutcome
    from workflows.line_life import LineLife, numbers
    from workflows.verification import run_checks


async def check(life: LineLife, candidate: Candidate, red_since: datetime | None) -> CheckOutcome:
    """Run the checks on the candidate's last tree; without members, on the line itself."""
    state = life.state
    named = numbers(m.number for m in candidate.members) or f"{state.line} at {short(candidate.line_head)}"
    return await run_checks(state, candidate, named, red_since)


class Tests:
    """Running tests. A test that is stopped is cancelled with all its processes, and its result is not waited for."""

    def __init__(self, life: LineLife) -> None:
        self._life = life
        self._running: dict[str, asyncio.Task[CheckOutcome]] = {}

    @property
    def finished(self) -> bool:
        """True when there is a result to take."""
        return any(task.done() for task in self._running.values())

    @property
    def trees(self) -> Collection[str]:
        """What is being tested."""
        return self._running.keys()

    def start(self, candidate: Candidate, red_since: datetime | None) -> None:
        """Begin to test a candidate's last tree."""
        self._running[candidate.tree] = asyncio.create_task(check(self._life, candidate, red_since))

    def stop(self, trees: Collection[str]) -> None:
        """Cancel the tests of these trees."""
        for tree in trees:
            task = self._running.pop(tree)
            task.add_done_callback(_unheard)
            task.cancel()

    def keep(self, trees: Collection[str]) -> None:
        """Cancel every test but those of these trees."""
        self.stop([tree for tree, task in self._running.items() if tree not in trees and not task.done()])

    async def take(self) -> dict[str, CheckOutcome]:
        """The results since the last time, by tree."""
        done = [tree for tree, task in self._running.items() if task.done()]
        return {tree: await self._running.pop(tree) for tree in done}


def _unheard(task: asyncio.Task[CheckOutcome]) -> None:
    """How a stopped test ended is of no interest: take its exception, so that nobody warns that it was not taken."""
    if not task.cancelled():
        task.exception()
