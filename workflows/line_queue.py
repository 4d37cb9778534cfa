"""Serve a line's queue: at each piece of news, read the record, plan, and do what the plan says.

News is a wake, a test that ended, or a search that ended. `rules/queue_plan.py` proposes; only this workflow gives
verdicts: what lands, who goes back, when the queue stands still.
"""

from temporalio import workflow

with workflow.unsafe.imports_passed_through():
    from activities.merges import Merges
    from activities.queue import Queue
    from protocol.queue import Candidate, CheckOutcome, LandCandidate, LandingState, QueueSnapshot
    from rules.queue_plan import Plan, narrower, plan, wider
    from workflows.line_chain import Chain
    from workflows.line_life import LineLife, numbers
    from workflows.line_suspects import Suspect, Suspects
    from workflows.line_tests import Tests
    from workflows.steps import RECORD, git_step


class LineQueue:
    """Serves one line for as long as its workflow runs."""

    def __init__(self, life: LineLife) -> None:
        self._life = life
        self._chain = Chain(life)
        self._tests = Tests(life)
        self._suspects = Suspects(life)
        self._known: dict[str, CheckOutcome] = {}
        # The line as it was when a candidate was last all green, with what landed since: where a clash is searched.
        self._landed_since: Candidate | None = None
        self._unindexed = False

    async def serve(self) -> None:
        """Land what is queued, for ever."""
        while True:
            self._life.woken = False
            if await self._step():
                continue
            if self._unindexed and not self._tests.trees:
                self._unindexed = False
                await self._life.index()
            if self._leaving and not self._tests.trees and not self._suspects.ids:
                self._life.go_on_in_a_new_run()
            await workflow.wait_condition(lambda: self._news or (self._leaving and not self._busy))

    @property
    def _news(self) -> bool:
        return self._life.woken or self._tests.finished or self._suspects.finished

    @property
    def _busy(self) -> bool:
        return bool(self._tests.trees or self._suspects.ids)

    @property
    def _leaving(self) -> bool:
        """A long history: what runs may end, nothing more begins, then a new run goes on."""
        return workflow.info().is_continue_as_new_suggested()

    async def _step(self) -> bool:
        """One step; True when the next can be taken at once."""
        snapshot = await workflow.execute_local_activity_method(
            Queue.read,
            args=[self._life.state.project_id, self._life.state.line],
            summary="read the queue",
            **RECORD,
        )
        if snapshot.open_landing is not None:
            await self._life.after_landing(await self._life.finish_landing())
            return True
        self._known.update(await self._tests.take())
        await self._suspects.settle({entry.intent_id: entry.head for entry in snapshot.entries})
        if snapshot.drained:
            await self._end_drain()
            return True
        entries = self._chain.eligible(snapshot, self._suspects.ids, self._life.state.window)
        urgent = bool(entries and entries[0].emergency)
        if snapshot.head is None or (snapshot.paused is not None and not urgent):
            return await self._stand_still(snapshot)
        if not snapshot.entries and not snapshot.untested:
            self._rest()
            return False
        candidate = await self._chain.build(snapshot, entries)
        if (hopeless := self._chain.hopeless) is not None:
            await self._return_conflicting(hopeless, candidate)
            return True
        if urgent and entries[0].emergency == "unchecked":
            return await self._land(candidate, unchecked=True)
        return await self._act(snapshot, candidate, urgent)

    async def _return_conflicting(self, intent_id: str, candidate: Candidate) -> None:
        """It stands right on the line and does not merge: final, whoever comes after it."""
        found = next(c for c in candidate.conflicting if c.intent_id == intent_id)
        returned = await workflow.execute_local_activity_method(
            Queue.return_conflicting,
            args=[self._life.state.project_id, found, self._chain.head_of(intent_id), candidate.line_head],
            summary=f"return #{found.number}: does not merge",
            **RECORD,
        )
        await self._life.wake(returned.wake_intents)

    async def _act(self, snapshot: QueueSnapshot, candidate: Candidate, urgent: bool) -> bool:
        trees = [candidate.prefix(n).tree for n in range(len(candidate.members) + 1)]
        self._tests.keep(trees)
        self._known = {tree: outcome for tree, outcome in self._known.items() if tree in trees}
        good = {n: self._known[tree].good for n, tree in enumerate(trees) if tree in self._known}
        running = [n for n, tree in enumerate(trees) if tree in self._tests.trees]
        if urgent:
            # An owner has it land now, on a line that may well be red: its own verdict is all that counts.
            good[0] = True
        elif snapshot.untested and good.get(0):
            await self._line_proven(candidate)
            return True
        todo = self._planned(snapshot, candidate, good, running)
        self._note_red(candidate, good)
        if todo.land:
            return await self._land(candidate.prefix(todo.land), whole=todo.land == len(candidate.members))
        if todo.line_failed:
            await self._line_failed(candidate, self._known[trees[0]])
            return True
        if todo.blame:
            await self._blame(snapshot, candidate, self._known[trees[1]])
            return True
        self._tests.stop({trees[n] for n in todo.stop} & set(self._tests.trees))
        if not self._leaving:
            for n in todo.start:
                self._tests.start(candidate.prefix(n), snapshot.red_since)
        self._show(candidate)
        return False

    def _planned(
        self, snapshot: QueueSnapshot, candidate: Candidate, good: dict[int, bool], running: list[int]
    ) -> Plan:
        size = len(candidate.members)
        todo = plan(size, good, running, snapshot.slots) if size else Plan()
        if not snapshot.untested or todo.land:
            return todo
        # An owner landed something without checks: the line is tested for itself, whatever is queued.
        if good.get(0) is False:
            return Plan(line_failed=True)
        if 0 not in good and 0 not in running and 0 not in todo.start:
            return todo._replace(start=(0, *todo.start))
        return todo

    def _note_red(self, candidate: Candidate, good: dict[int, bool]) -> None:
        """The first red result narrows the window, and marks the line from which a clash is searched."""
        if self._landed_since is None and False in good.values():
            self._landed_since = candidate.prefix(0)
            self._life.update(window=narrower(self._life.state.window))

    async def _land(self, candidate: Candidate, *, whole: bool = False, unchecked: bool = False) -> bool:
        """Land a candidate; if the record or the line moved meanwhile, the queue looks again."""
        if not candidate.members:
            return True
        state = self._life.state
        named = numbers(m.number for m in candidate.members)
        self._life.show(f"landing {named}")
        landed = await workflow.execute_activity_method(
            Merges.land,
            LandCandidate(
                landing_id=f"lnd_{workflow.uuid4().hex}",
                project_id=state.project_id,
                line=state.line,
                candidate=candidate,
                unchecked=unchecked,
            ),
            **git_step(state.host, f"land {named} on {state.line}"),
        )
        if landed.state is LandingState.LANDED:
            self._unindexed = True
            self._chain.landed(len(candidate.members))
            self._note_landed(candidate, whole)
        await self._life.after_landing(landed)
        return True

    def _note_landed(self, candidate: Candidate, whole: bool) -> None:
        if whole:
            self._landed_since = None
            self._life.update(window=wider(self._life.state.window))
        elif self._landed_since is not None:
            members = [*self._landed_since.members, *candidate.members]
            self._landed_since = self._landed_since.model_copy(update={"members": members})

    async def _blame(self, snapshot: QueueSnapshot, candidate: Candidate, outcome: CheckOutcome) -> None:
        alone = candidate.members[0]
        entry = next(e for e in snapshot.entries if e.intent_id == alone.intent_id)
        before = self._landed_since or candidate.prefix(0)
        self._suspects.begin(Suspect(entry, outcome, before, snapshot.red_since))

    async def _line_failed(self, candidate: Candidate, outcome: CheckOutcome) -> None:
        """The checks fail on the line itself: nobody is blamed, and the queue says so and stands still."""
        state = self._life.state
        self._tests.keep(())
        self._known.clear()
        await workflow.execute_local_activity_method(
            Queue.line_failed,
            args=[state.project_id, state.line, candidate.line_head, outcome],
            summary=f"stand still: {state.line} fails its checks",
            **RECORD,
        )

    async def _line_proven(self, candidate: Candidate) -> None:
        state = self._life.state
        await workflow.execute_local_activity_method(
            Queue.line_proven,
            args=[state.project_id, state.line, candidate.line_head],
            summary=f"{state.line} passes its checks",
            **RECORD,
        )

    async def _stand_still(self, snapshot: QueueSnapshot) -> bool:
        """Paused: results that come in are kept for later. Where the line failed, see whether it moved."""
        self._life.show(f"paused: {snapshot.paused}" if snapshot.paused else "the line has no commit yet")
        if not snapshot.line_failed:
            return False
        found = await workflow.execute_activity_method(
            Merges.adopt_line,
            args=[self._life.state.project_id, self._life.state.line],
            **git_step(self._life.state.host, f"see whether {self._life.state.line} moved"),
        )
        await self._life.wake(found.wake_intents)
        moved: bool = found.wake_line
        return moved

    async def _end_drain(self) -> None:
        await workflow.execute_local_activity_method(
            Queue.end_drain,
            args=[self._life.state.project_id, self._life.state.line],
            summary="drained: stand still",
            **RECORD,
        )

    def _rest(self) -> None:
        self._tests.keep(())
        self._known.clear()
        self._landed_since = None
        self._life.show("waiting for work")

    def _show(self, candidate: Candidate) -> None:
        size, running = len(candidate.members), len(self._tests.trees)
        named = numbers(m.number for m in candidate.members)
        if self._landed_since is not None and running:
            self._life.show(f"looking for what fails among {named}: {running} tests side by side")
        elif running:
            self._life.show(f"testing {named} in {running} test{'s' if running > 1 else ''}")
        else:
            self._life.show(f"{size} queued, none can be tested now" if size else "waiting for work")
