"""The merge queue of one line. It is woken, not fed: the queue is rows, and a wake says "look again".

Each round reads one snapshot, merges what is queued into one candidate on the line's head, tests that tree,
and lands it whole. When it is red, prefixes of it are tested side by side until the one that fails is known:
what stands before it lands, and it alone goes back.
"""

import asyncio
from collections.abc import Iterable, Mapping

from temporalio import workflow

with workflow.unsafe.imports_passed_through():
    from activities.checks import Checks
    from activities.merges import Merges
    from activities.queue import Queue
    from activities.wakes import Wakes
    from protocol.commands import LineStart
    from protocol.ids import short
    from protocol.queue import (
        BuildCandidate,
        Candidate,
        CheckOutcome,
        CheckRequest,
        LandCandidate,
        Landed,
        LandingState,
        Member,
        Merged,
        QueueSnapshot,
        Returned,
    )
    from rules.halving import WIDEST, next_prefixes, verdict
    from workflows.details import LINE, PROJECT, plain
    from workflows.steps import RECORD, check_step, git_step, wake_step
    from workflows.verification import new_check_id


@workflow.defn
class LineWorkflow:
    """One durable workflow a line, id `line-<prj_…>-<line>`."""

    @workflow.init
    def __init__(self, start: LineStart) -> None:
        self._state = start
        self._woken = True
        self._doing = "waiting for work"

    @workflow.run
    async def run(self, start: LineStart) -> None:
        """Land what is queued, for ever; a long life goes on in new runs with the same small state."""
        workflow.upsert_search_attributes([PROJECT.value_set(start.project_id), LINE.value_set(start.line)])
        while True:
            self._show("waiting for work")
            await workflow.wait_condition(lambda: self._woken)
            self._woken = False
            before = self._state.landed
            while await self._round():
                if workflow.info().is_continue_as_new_suggested():
                    self._go_on_in_a_new_run()
            if self._state.landed != before:
                await self._index()
            if workflow.info().is_continue_as_new_suggested():
                self._go_on_in_a_new_run()

    @workflow.signal(description="The queue changed: look at the record")
    def wake(self) -> None:
        """Something was queued, resumed or freed."""
        self._woken = True

    @workflow.query(description="What the queue is doing now")
    def doing(self) -> str:
        """One line for an operator."""
        return self._doing

    def _go_on_in_a_new_run(self) -> None:
        # Signals that come between the two runs are the server's to carry over; the new run looks anyway.
        workflow.continue_as_new(self._state)

    def _show(self, doing: str) -> None:
        self._doing = doing
        state = self._state
        workflow.set_current_details(
            f"Line: `{plain(state.line)}`\n\nNow: {plain(doing, 300)}\n\n"
            f"Landed by this queue: {state.landed}, rounds: {state.rounds}"
        )

    async def _round(self) -> bool:
        """One round; True when there may be more to do at once."""
        snapshot = await workflow.execute_local_activity_method(
            Queue.read, args=[self._state.project_id, self._state.line], summary="read the queue", **RECORD
        )
        if snapshot.open_landing is not None:
            await self._after_landing(await self._finish_landing())
            return True
        if snapshot.paused is not None or snapshot.head is None or not snapshot.entries:
            return False
        self._state = self._state.model_copy(update={"rounds": self._state.rounds + 1})
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
            self._show(_testing(candidate, asked))
            found = await asyncio.gather(*(self._check(candidate.prefix(count)) for count in asked))
            outcomes.update(zip(asked, found, strict=True))
        return outcomes

    async def _build(self, snapshot: QueueSnapshot) -> Candidate:
        entries = snapshot.entries[:WIDEST]
        self._show(f"merging {len(entries)} of {len(snapshot.entries)} queued")
        return await workflow.execute_activity_method(
            Merges.build,
            BuildCandidate(
                project_id=self._state.project_id,
                line=self._state.line,
                line_head=str(snapshot.head),
                entries=entries,
                at=int(workflow.now().timestamp()),
            ),
            **git_step(
                self._state.host, f"merge {_numbers(e.number for e in entries)} onto {self._state.line}"
            ),
        )

    async def _check(self, candidate: Candidate) -> CheckOutcome:
        named = _numbers(m.number for m in candidate.members)
        return await workflow.execute_activity_method(
            Checks.run,
            CheckRequest(
                check_id=new_check_id(),
                project_id=self._state.project_id,
                line=self._state.line,
                line_head=candidate.line_head,
                commit=candidate.commit,
                tree=candidate.tree,
                members=[
                    Member(intent_id=m.intent_id, number=m.number, head=m.head) for m in candidate.members
                ],
            ),
            **check_step(self._state.host, f"check {named}"),
        )

    async def _land(self, candidate: Candidate) -> bool:
        """True when it landed; else the queue looks again."""
        named = _numbers(m.number for m in candidate.members)
        self._show(f"landing {named}")
        landed = await workflow.execute_activity_method(
            Merges.land,
            LandCandidate(
                landing_id=f"lnd_{workflow.uuid4().hex}",
                project_id=self._state.project_id,
                line=self._state.line,
                candidate=candidate,
            ),
            **git_step(self._state.host, f"land {named} on {self._state.line}"),
        )
        await self._after_landing(landed)
        return landed.state is LandingState.LANDED

    async def _finish_landing(self) -> Landed:
        self._show("finishing a landing that was cut short")
        return await workflow.execute_activity_method(
            Merges.finish_landing,
            args=[self._state.project_id, self._state.line],
            **git_step(self._state.host, f"finish the landing on {self._state.line}"),
        )

    async def _after_landing(self, landed: Landed) -> None:
        if landed.state is LandingState.LANDED:
            self._state = self._state.model_copy(update={"landed": self._state.landed + len(landed.merged)})
        await self._wake(landed.wake_intents)

    async def _return_conflicting(self, snapshot: QueueSnapshot, candidate: Candidate) -> bool:
        """No member merges. The first stands right on the line, so its verdict is final; the rest try again."""
        first = candidate.conflicting[0]
        head = next(e.head for e in snapshot.entries if e.intent_id == first.intent_id)
        returned = await workflow.execute_local_activity_method(
            Queue.return_conflicting,
            args=[self._state.project_id, first, head, candidate.line_head],
            summary=f"return #{first.number}: does not merge",
            **RECORD,
        )
        await self._wake(returned.wake_intents)
        return True

    async def _blame(self, alone: Merged, checked: CheckOutcome) -> None:
        """Red on exactly the line it would join: this intent goes back; the rest is tried together again."""
        member = Member(intent_id=alone.intent_id, number=alone.number, head=alone.head)
        returned: Returned = await workflow.execute_local_activity_method(
            Queue.return_failed,
            args=[self._state.project_id, member, checked],
            summary=f"return #{alone.number}: checks failed",
            **RECORD,
        )
        await self._wake(returned.wake_intents)

    async def _index(self) -> None:
        """The queue has come to rest: what landed is indexed, in the background."""
        line = LineStart(project_id=self._state.project_id, line=self._state.line, host=self._state.host)
        await workflow.execute_activity_method(Wakes.wake_index, line, **wake_step("have the line indexed"))

    async def _wake(self, intent_ids: list[str]) -> None:
        if intent_ids:
            await workflow.execute_activity_method(
                Wakes.wake_intents, intent_ids, **wake_step(f"wake {len(intent_ids)} intents")
            )


def _good(outcomes: Mapping[int, CheckOutcome]) -> dict[int, bool]:
    return {count: outcome.good for count, outcome in outcomes.items()}


def _testing(candidate: Candidate, asked: list[int]) -> str:
    size, line = len(candidate.members), short(candidate.line_head)
    if asked == [size]:
        return f"testing {_numbers(m.number for m in candidate.members)} together on {line}"
    return f"looking for what fails: testing the first {', '.join(map(str, asked))} of {size} on {line}"


def _numbers(found: Iterable[int]) -> str:
    """`#1, #2, #3 and 17 more` for summaries, which hold 400 bytes."""
    marks = [f"#{number}" for number in found]
    return ", ".join(marks[:12]) + (f" and {len(marks) - 12} more" if len(marks) > 12 else "")
