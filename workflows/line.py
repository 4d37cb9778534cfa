"""The merge queue of one line. It is woken, not fed: the queue is rows, and a wake says "look again"."""

from temporalio import workflow

with workflow.unsafe.imports_passed_through():
    from protocol.commands import LineStart
    from workflows.details import LINE, PROJECT
    from workflows.line_life import LineLife
    from workflows.line_queue import LineQueue
    from workflows.line_rounds import Rounds


@workflow.defn
class LineWorkflow:
    """One durable workflow a line, id `line-<prj_…>-<line>`."""

    @workflow.init
    def __init__(self, start: LineStart) -> None:
        self._life = LineLife(start)

    @workflow.run
    async def run(self, start: LineStart) -> None:
        """Land what is queued, for ever; a long life goes on in new runs with the same small state."""
        workflow.upsert_search_attributes([PROJECT.value_set(start.project_id), LINE.value_set(start.line)])
        if workflow.patched("line-plans-while-tests-run"):
            await LineQueue(self._life).serve()
        else:
            await Rounds(self._life).serve()

    @workflow.signal(description="The queue changed: look at the record")
    def wake(self) -> None:
        """Something was queued, withdrawn, resumed or freed."""
        self._life.woken = True

    @workflow.query(description="What the queue is doing now")
    def doing(self) -> str:
        """One line for an operator."""
        return self._life.doing
