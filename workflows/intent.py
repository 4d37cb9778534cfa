"""The life of one intent: declare, hold, verify, merge. The record decides; the workflow says when to look.

Commands come as updates, because the caller needs an answer or a refusal; news comes as a signal without
data, because the record has it. The one state that matters is what the record said last (`IntentSight`).
"""

import asyncio
from collections.abc import Awaitable

from temporalio import workflow

with workflow.unsafe.imports_passed_through():
    from activities.pushes import Pushes
    from activities.records import Records
    from activities.reviews import Reviews
    from activities.wakes import Wakes
    from protocol.commands import (
        AcceptDrift,
        Ack,
        Comment,
        Decide,
        Declare,
        IntentSight,
        IntentStart,
        LandNow,
        LineStart,
        Outcome,
        Pushed,
        Settle,
        Submit,
        Suggest,
        UpdatePlan,
        Withdraw,
    )
    from protocol.foremerge.commands import ForemergeCommand, ForemergeOperation
    from protocol.ids import short
    from protocol.states import State
    from workflows.details import plain, show_intent
    from workflows.foremerge import step_of, validated
    from workflows.refusals import as_error
    from workflows.steps import LOCAL_WAKE, RECORD, git_step, wake_step
    from workflows.verification import Verification


@workflow.defn
class IntentWorkflow:
    """One durable workflow an intent, id `intent-<int_…>`."""

    @workflow.init
    def __init__(self, start: IntentStart) -> None:
        self._start = start
        self._sight: IntentSight | None = start.sight
        self._news = start.resumed
        self._refused = False
        self._push_unrecorded = start.resumed
        self._wake_intents: set[str] = set()
        # A run that goes on cannot know whether the wake before it was sent, so it sends one.
        self._wake_line = start.sight is not None and start.sight.in_queue
        self._one_at_a_time = asyncio.Lock()
        self._verification = Verification()

    @workflow.run
    async def run(self, start: IntentStart) -> str:
        """Work until the intent is final; returns its last state."""
        while not self._over:
            await workflow.wait_condition(self._has_work)
            await self._work()
            if workflow.info().is_continue_as_new_suggested() and not self._verification.running:
                await self._go_on_in_a_new_run()
        await self._verification.stop()
        await workflow.wait_condition(workflow.all_handlers_finished)
        await self._send_wakes()
        return self._sight.state.value if self._sight else "refused"

    @property
    def _over(self) -> bool:
        return self._refused if self._sight is None else self._sight.state.final

    @property
    def _to_verify(self) -> bool:
        """Checks before a person decides; an intent in the queue is verified by the candidate that lands it.

        Where the line fails its own checks nobody is checked: the record says when that is over.
        """
        sight = self._sight
        return (
            sight is not None
            and sight.state is State.VERIFYING
            and not sight.in_queue
            and not sight.line_failed
        )

    def _has_work(self) -> bool:
        return (
            self._over
            or self._news
            or self._push_unrecorded
            or bool(self._wake_intents)
            or self._wake_line
            or self._verification.finished
            or self._to_verify != self._verification.running
            or workflow.info().is_continue_as_new_suggested()
        )

    async def _work(self) -> None:
        if self._push_unrecorded:
            self._push_unrecorded = False
            await self._catch_up(self._start.project_id)
            self._news = True
        if self._news:
            self._news = False
            await self._look()
        await self._send_wakes()
        if self._verification.finished:
            self._note_wakes(await self._verification.result())
            await self._look()
        if self._to_verify and not self._verification.running and self._sight is not None:
            self._verification.start(self._sight)
        elif not self._to_verify and self._verification.running:
            await self._verification.stop()

    async def _look(self) -> None:
        async with self._one_at_a_time:
            sight = await workflow.execute_local_activity_method(
                Records.look, self._start.intent_id, summary="look at the record", **RECORD
            )
            if sight is None:
                self._refused = True
            else:
                self._see(sight)

    def _see(self, sight: IntentSight) -> None:
        """Take over what the record said; a queued intent makes sure that its line is awake."""
        if sight.in_queue and not (self._sight and self._sight.in_queue):
            self._wake_line = True
        self._sight = sight
        show_intent(sight)

    def _note_wakes(self, outcome: Outcome) -> None:
        self._wake_intents.update(outcome.wake_intents)
        self._wake_line = self._wake_line or outcome.wake_line

    async def _send_wakes(self) -> None:
        if not self._wake_intents and not (self._wake_line and self._sight is not None):
            return
        # An activity of its own for a signal costs three events and a workflow task of each intent.
        local = workflow.patched("intent-wakes-locally")
        if self._wake_intents:
            intents, self._wake_intents = sorted(self._wake_intents), set()
            await _wake_intents(intents, local=local)
        if self._wake_line and self._sight is not None:
            self._wake_line = False
            line = LineStart(project_id=self._sight.project_id, line=self._sight.line, host=self._sight.host)
            await _wake_line(line, local=local)

    async def _go_on_in_a_new_run(self) -> None:
        await workflow.wait_condition(workflow.all_handlers_finished)
        await self._send_wakes()
        if not self._over:
            workflow.continue_as_new(self._start.model_copy(update={"sight": self._sight, "resumed": True}))

    async def _command(self, step: Awaitable[Outcome]) -> dict[str, object]:
        """One command: the record's transaction, then what it means for this workflow."""
        async with self._one_at_a_time:
            outcome = await step
            if outcome.refusal is not None:
                raise as_error(outcome.refusal)
            self._note_wakes(outcome)
            if outcome.sight is not None:
                self._see(outcome.sight)
            return outcome.answer or {}

    @workflow.update(description="Declare the intent: number, places, conflicts, order")
    async def declare(self, command: Declare) -> dict[str, object]:
        """Declare. A refused declare ends the workflow: there is no such intent."""
        try:
            answer = await self._command(
                workflow.execute_local_activity_method(Records.admit, command, summary="admit", **RECORD)
            )
        except BaseException:
            self._refused = self._sight is None
            raise
        workflow.upsert_memo({"number": self._sight.number if self._sight else 0})
        return answer

    @workflow.update(description="Change the plan")
    async def update_plan(self, command: UpdatePlan) -> dict[str, object]:
        """Change the plan, and with it whom the intent meets."""
        return await self._command(
            workflow.execute_local_activity_method(
                Records.update_plan, command, summary="change the plan", **RECORD
            )
        )

    @workflow.update(description="Submit the latest push for the line")
    async def submit(self, command: Submit) -> dict[str, object]:
        """Submit, after making sure that the record knows where the intent's ref stands."""
        if command.may_be_behind:
            await self._catch_up(command.project_id)
        return await self._command(
            workflow.execute_local_activity_method(Records.submit, command, summary="submit", **RECORD)
        )

    async def _catch_up(self, project_id: str) -> None:
        outcome = await workflow.execute_activity_method(
            Pushes.catch_up,
            args=[project_id, self._start.intent_id],
            **git_step(self._start.host, "compare the intent's ref with the record"),
        )
        if outcome is not None:
            self._note_wakes(outcome)

    @workflow.update(description="Withdraw for good")
    async def withdraw(self, command: Withdraw) -> dict[str, object]:
        """Withdraw; a check that runs for the intent is cancelled."""
        return await self._command(
            workflow.execute_local_activity_method(Records.withdraw, command, summary="withdraw", **RECORD)
        )

    @workflow.update(description="Acknowledge a change request")
    async def ack(self, command: Ack) -> dict[str, object]:
        """Acknowledge a change request."""
        return await self._command(
            workflow.execute_local_activity_method(Records.ack, command, summary="acknowledge", **RECORD)
        )

    @workflow.update(description="A person's decision on the plan or the merge")
    async def decide(self, command: Decide) -> dict[str, object]:
        """Approve or send back."""
        return await self._command(
            workflow.execute_local_activity_method(Records.decide, command, summary="decide", **RECORD)
        )

    @workflow.update(description="A person asks for a change, on lines or on the whole")
    async def comment(self, command: Comment) -> dict[str, object]:
        """Comment."""
        return await self._command(
            workflow.execute_local_activity_method(Reviews.comment, command, summary="comment", **RECORD)
        )

    @workflow.update(description="Another agent suggests something")
    async def suggest(self, command: Suggest) -> dict[str, object]:
        """Suggest."""
        return await self._command(
            workflow.execute_local_activity_method(Reviews.suggest, command, summary="suggest", **RECORD)
        )

    @workflow.update(description="A person says who goes first in a conflict")
    async def settle_conflict(self, command: Settle) -> dict[str, object]:
        """Settle a conflict."""
        return await self._command(
            workflow.execute_local_activity_method(Reviews.settle, command, summary="settle", **RECORD)
        )

    @workflow.update(description="A person accepts what lies outside the plan")
    async def accept_drift(self, command: AcceptDrift) -> dict[str, object]:
        """Accept drift."""
        return await self._command(
            workflow.execute_local_activity_method(
                Reviews.accept_drift, command, summary="accept drift", **RECORD
            )
        )

    @workflow.update(description="An owner has it land before all others")
    async def land_now(self, command: LandNow) -> dict[str, object]:
        """Emergency landing, of what the record knows to be pushed."""
        return await self._command(
            workflow.execute_local_activity_method(
                Reviews.land_now, command, summary="land before all others", **RECORD
            )
        )

    @workflow.update(description="One operation of the Foremerge face")
    async def foremerge(self, command: ForemergeCommand) -> dict[str, object]:
        """What another face does to its intent. A refused publication ends the workflow: there is no such intent.

        A check runs beside everything else: the ChangeSet it is of may be revised meanwhile.
        """
        if command.operation is ForemergeOperation.RUN_VERIFICATION:
            outcome = await validated(command, lambda: self._over)
            return await self._command(_known(outcome))
        try:
            answer = await self._command(step_of(command))
        except BaseException:
            self._refused = self._sight is None
            raise
        if command.operation is ForemergeOperation.PUBLISH_INTENT:
            workflow.upsert_memo({"number": self._sight.number if self._sight else 0})
        return answer

    @workflow.update(description="The intent's ref moved")
    async def pushed(self, push: Pushed) -> dict[str, object]:
        """Record a push; the pusher's git ends only after this, so a push that it saw succeed is known."""
        return await self._command(
            workflow.execute_activity_method(
                Pushes.record, push, **git_step(self._start.host, f"record the push of {short(push.new)}")
            )
        )

    @workflow.signal(description="The intent's ref moved and no push was recorded: compare the two")
    def push_unrecorded(self) -> None:
        """A gateway died between the ref and the record."""
        self._push_unrecorded = True

    @workflow.signal(description="Something happened to this intent: look at the record")
    def news(self) -> None:
        """Released, returned, landed, approved elsewhere: the record says which."""
        self._news = True


async def _wake_intents(intents: list[str], *, local: bool) -> None:
    summary = f"wake {len(intents)} intents"
    if local:
        await workflow.execute_local_activity_method(
            Wakes.wake_intents, intents, summary=summary, **LOCAL_WAKE
        )
    else:
        await workflow.execute_activity_method(Wakes.wake_intents, intents, **wake_step(summary))


async def _wake_line(line: LineStart, *, local: bool) -> None:
    summary = f"wake the queue of {plain(line.line, 60)}"
    if local:
        await workflow.execute_local_activity_method(Wakes.wake_line, line, summary=summary, **LOCAL_WAKE)
    else:
        await workflow.execute_activity_method(Wakes.wake_line, line, **wake_step(summary))


async def _known(outcome: Outcome) -> Outcome:
    return outcome
