"""The first way of serving a line, kept for workflows that began with it: rounds, one after the other.

Each round merges what is queued into one candidate, tests it, and halves it when it is red. New runs plan while
tests run (workflows/line_queue.py); docs/history-changes.md says when this module goes.
"""

import asyncio
from collections.abc import Mapping

from temporalio import workflow

with workflow.unsafe.imports_passed_through():
    from activities.checks import Checks
    from activities.merges import Merges
    from activities.queue import Queue
    from protocol.ids import short
    from protocol.queue import (
        BuildCandidate,
        Candidate,
        CheckOutcome,
        CheckRequest,
        LandCandidate,
        LandingState,
        Member,
        Merged,
        QueueSnapshot,
        Returned,
    )
    from rules.halving import WIDEST, next_prefixes, verdict
    from workflows.line_life import LineLife, numbers
    from workflows.steps import RECORD, check_step, git_step
    from workflows.verification import new_check_id


class Rounds:
    """Serves a line in rounds."""

    def __init__(self, life: LineLife) -> None:
        self._life = life

    async def serve(self) -> None:
        """Land what is queued, for ever."""
        life = self._life
        while True:
            life.show("waiting for work")
            await workflow.wait_condition(lambda: life.woken)
            life.woken = False
            before = life.state.landed
            while await self._round():
                if workflow.info().is_continue_as_new_suggested():
                    life.go_on_in_a_new_run()
            if life.state.landed != before:
                await life.index()
            if workflow.info().is_continue_as_new_suggested():
                life.go_on_in_a_new_run()

    async def _round(self) -> bool:
        """One round; True when there may be more to do at once."""
        snapshot = await workflow.execute_local_activity_method(
            Queue.read,
            args=[self._life.state.project_id, self._life.state.line],
            summary="read the queue",
            **RECORD,
        )
        if snapshot.open_landing is not None:
            await self._life.after_landing(await self._life.finish_landing())
            return True
        if snapshot.paused is not None or snapshot.head is None or not snapshot.entries:
            return False
        self._life.update(rounds=self._life.state.rounds + 1)
        candidate = await self._build(snapshot)
        if not candidate.members:
            return await self._return_conflicting(snapshot, candidate)
        outcomes = await self._test(candidate, snapshot.slots)
        found = verdict(len(candidate.members), _good(outcomes))
        assert found is not None
        landed = not found.green or await self._land(candidate.prefix(found.green))
        if landed and found.blamed is not None:
            await self._blame(candidate.members[found.blamed - 1], outcomes[found.blamed])
        return True

    async def _test(self, candidate: Candidate, slots: int) -> dict[int, CheckOutcome]:
        """Test the whole chain, then prefixes of it side by side, until the verdict stands."""
        size = len(candidate.members)
        outcomes: dict[int, CheckOutcome] = {}
        while asked := next_prefixes(size, _good(outcomes), slots):
            self._life.show(_testing(candidate, asked))
            found = await asyncio.gather(*(self._check(candidate.prefix(count)) for count in asked))
            outcomes.update(zip(asked, found, strict=True))
        return outcomes

    async def _build(self, snapshot: QueueSnapshot) -> Candidate:
        entries = snapshot.entries[:WIDEST]
        self._life.show(f"merging {len(entries)} of {len(snapshot.entries)} queued")
        return await workflow.execute_activity_method(
            Merges.build,
            BuildCandidate(
                project_id=self._life.state.project_id,
                line=self._life.state.line,
                line_head=str(snapshot.head),
                entries=entries,
                at=int(workflow.now().timestamp()),
            ),
            **git_step(
                self._life.state.host,
                f"merge {numbers(e.number for e in entries)} onto {self._life.state.line}",
            ),
        )

    async def _check(self, candidate: Candidate) -> CheckOutcome:
        named = numbers(m.number for m in candidate.members)
        return await workflow.execute_activity_method(
            Checks.run,
            CheckRequest(
                check_id=new_check_id(),
                project_id=self._life.state.project_id,
                line=self._life.state.line,
                line_head=candidate.line_head,
                commit=candidate.commit,
                tree=candidate.tree,
                members=[
                    Member(intent_id=m.intent_id, number=m.number, head=m.head) for m in candidate.members
                ],
            ),
            **check_step(self._life.state.host, f"check {named}"),
        )

    async def _land(self, candidate: Candidate) -> bool:
        """True when it landed; else the queue looks again."""
        named = numbers(m.number for m in candidate.members)
        self._life.show(f"landing {named}")
        landed = await workflow.execute_activity_method(
            Merges.land,
            LandCandidate(
                landing_id=f"lnd_{workflow.uuid4().hex}",
                project_id=self._life.state.project_id,
                line=self._life.state.line,
                candidate=candidate,
            ),
            **git_step(self._life.state.host, f"land {named} on {self._life.state.line}"),
        )
        await self._life.after_landing(landed)
        return landed.state is LandingState.LANDED

    async def _return_conflicting(self, snapshot: QueueSnapshot, candidate: Candidate) -> bool:
        """No member merges. The first stands right on the line, so its verdict is final; the rest try again."""
        first = candidate.conflicting[0]
        head = next(e.head for e in snapshot.entries if e.intent_id == first.intent_id)
        returned = await workflow.execute_local_activity_method(
            Queue.return_conflicting,
            args=[self._life.state.project_id, first, head, candidate.line_head],
            summary=f"return #{first.number}: does not merge",
            **RECORD,
        )
        await self._life.wake(returned.wake_intents)
        return True

    async def _blame(self, alone: Merged, checked: CheckOutcome) -> None:
        """Red on exactly the line it would join: this intent goes back; the rest is tried together again."""
        member = Member(intent_id=alone.intent_id, number=alone.number, head=alone.head)
        returned: Returned = await workflow.execute_local_activity_method(
            Queue.return_failed,
            args=[self._life.state.project_id, member, checked, None],
            summary=f"return #{alone.number}: checks failed",
            **RECORD,
        )
        await self._life.wake(returned.wake_intents)


def _good(outcomes: Mapping[int, CheckOutcome]) -> dict[int, bool]:
    return {count: outcome.good for count, outcome in outcomes.items()}


def _testing(candidate: Candidate, asked: list[int]) -> str:
    size, line = len(candidate.members), short(candidate.line_head)
    if asked == [size]:
        return f"testing {numbers(m.number for m in candidate.members)} together on {line}"
    return f"looking for what fails: testing the first {', '.join(map(str, asked))} of {size} on {line}"
