"""What the two ways of serving a line share: the small state, the wake, and what an operator is shown."""

from collections.abc import Iterable

from temporalio import workflow

with workflow.unsafe.imports_passed_through():
    from activities.merges import Merges
    from activities.wakes import Wakes
    from protocol.commands import LineStart
    from protocol.queue import Landed, LandingState
    from workflows.details import plain
    from workflows.steps import git_step, wake_step


class LineLife:
    """The state of one line's workflow. `state` alone crosses continue-as-new."""

    def __init__(self, start: LineStart) -> None:
        self.state = start
        self.woken = True
        self.doing = "waiting for work"

    def update(self, **fields: int) -> None:
        """Change the small state."""
        self.state = self.state.model_copy(update=fields)

    def show(self, doing: str) -> None:
        """Tell an operator what the queue is doing."""
        self.doing = doing
        state = self.state
        workflow.set_current_details(
            f"Line: `{plain(state.line)}`\n\nNow: {plain(doing, 300)}\n\n"
            f"Landed by this queue: {state.landed}, rounds: {state.rounds}"
        )

    def go_on_in_a_new_run(self) -> None:
        """Continue as new. Signals that come between the two runs are the server's to carry over."""
        workflow.continue_as_new(self.state)

    async def finish_landing(self) -> Landed:
        """Carry a landing that was cut short to its end."""
        self.show("finishing a landing that was cut short")
        return await workflow.execute_activity_method(
            Merges.finish_landing,
            args=[self.state.project_id, self.state.line],
            **git_step(self.state.host, f"finish the landing on {self.state.line}"),
        )

    async def after_landing(self, landed: Landed) -> None:
        """Count what landed, and wake whom it concerns."""
        if landed.state is LandingState.LANDED:
            self.update(landed=self.state.landed + len(landed.merged))
        await self.wake(landed.wake_intents)

    async def wake(self, intent_ids: list[str]) -> None:
        """Tell intents' workflows to look at the record."""
        if intent_ids:
            await workflow.execute_activity_method(
                Wakes.wake_intents, intent_ids, **wake_step(f"wake {len(intent_ids)} intents")
            )

    async def index(self) -> None:
        """The queue has come to rest: what landed is indexed, in the background."""
        line = LineStart(project_id=self.state.project_id, line=self.state.line, host=self.state.host)
        await workflow.execute_activity_method(Wakes.wake_index, line, **wake_step("have the line indexed"))


def numbers(found: Iterable[int]) -> str:
    """`#1, #2, #3 and 17 more` for summaries, which hold 400 bytes."""
    marks = [f"#{number}" for number in found]
    return ", ".join(marks[:12]) + (f" and {len(marks) - 12} more" if len(marks) > 12 else "")
