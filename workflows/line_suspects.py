"""Before an intent goes back for a red check: does it fail by itself, or only together with another?

It failed right on the line. Others of its candidate may have landed a moment before, so its work is tested without
them: red again, and it fails by itself; green, and the one that it clashes with is searched among them, by halves.
This runs beside the queue, which goes on without the suspect.
"""

import asyncio
from collections.abc import Mapping
from datetime import datetime
from typing import NamedTuple

from temporalio import workflow

with workflow.unsafe.imports_passed_through():
    from activities.merges import Merges
    from activities.queue import Queue
    from protocol.queue import BuildCandidate, Candidate, CheckOutcome, Member, Merged, QueueEntry
    from workflows.line_life import LineLife
    from workflows.line_tests import check
    from workflows.steps import RECORD, git_step


class Suspect(NamedTuple):
    """An intent that is red on a good line; `before` are those that landed before it since the chain was green."""

    entry: QueueEntry
    outcome: CheckOutcome
    before: Candidate
    red_since: datetime | None


class Suspects:
    """The intents under suspicion, each with its search."""

    def __init__(self, life: LineLife) -> None:
        self._life = life
        self._searches: dict[str, tuple[str, asyncio.Task[None]]] = {}

    @property
    def finished(self) -> bool:
        """True when a search has ended."""
        return any(task.done() for _, task in self._searches.values())

    @property
    def ids(self) -> frozenset[str]:
        """Who is under suspicion."""
        return frozenset(self._searches)

    def begin(self, suspect: Suspect) -> None:
        """Search for the cause, then give the intent back."""
        task = asyncio.create_task(self._give_back(suspect))
        self._searches[suspect.entry.intent_id] = (suspect.entry.head, task)

    async def settle(self, queued: Mapping[str, str]) -> None:
        """Forget the searches that ended, and stop those whose intent left the queue (`queued`: head by intent)."""
        for intent_id, (head, task) in list(self._searches.items()):
            if task.done():
                await task
            elif queued.get(intent_id) == head:
                continue
            else:
                task.cancel()
            del self._searches[intent_id]

    async def _give_back(self, suspect: Suspect) -> None:
        partner = await self._partner(suspect)
        entry = suspect.entry
        returned = await workflow.execute_local_activity_method(
            Queue.return_failed,
            args=[
                self._life.state.project_id,
                Member(intent_id=entry.intent_id, number=entry.number, head=entry.head),
                suspect.outcome,
                partner.number if partner else None,
            ],
            summary=f"return #{entry.number}: checks failed",
            **RECORD,
        )
        await self._life.wake(returned.wake_intents)

    async def _partner(self, suspect: Suspect) -> Merged | None:
        """Who, of those before it, makes it fail; None when it fails by itself."""
        before = suspect.before.members
        good, bad = -1, len(before)
        while bad - good > 1:
            # The first question, without anybody before it, mostly is the last one.
            count = 0 if good < 0 else (good + bad) // 2
            red = await self._fails(suspect, count)
            if red is None:
                return None
            if red:
                bad = count
            else:
                good = count
        return before[bad - 1] if bad else None

    async def _fails(self, suspect: Suspect, count: int) -> bool | None:
        """Is its work red behind the first `count` of those before it? None when it does not merge there."""
        behind = suspect.before.prefix(count)
        state = self._life.state
        candidate = await workflow.execute_activity_method(
            Merges.build,
            BuildCandidate(
                project_id=state.project_id,
                line=state.line,
                line_head=behind.commit,
                entries=[suspect.entry],
                at=suspect.entry.at,
            ),
            **git_step(state.host, f"merge #{suspect.entry.number} behind {count} others"),
        )
        if not candidate.members:
            return None
        return not (await check(self._life, candidate, suspect.red_since)).good
