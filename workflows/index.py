"""Keep a line's import edges up to date, in the background: woken after landings, gone when there is nothing to do."""

from temporalio import workflow

with workflow.unsafe.imports_passed_through():
    from activities.queue import Queue
    from activities.symbols import Symbols
    from protocol.commands import LineStart
    from protocol.ids import short
    from workflows.details import LINE, PROJECT
    from workflows.steps import RECORD, index_step


@workflow.defn
class IndexWorkflow:
    """One indexing of one line, id `index-<prj_…>-<line>`."""

    @workflow.init
    def __init__(self, start: LineStart) -> None:
        self._woken = True

    @workflow.run
    async def run(self, start: LineStart) -> None:
        """Index the line's head; once more when it moved meanwhile."""
        workflow.upsert_search_attributes([PROJECT.value_set(start.project_id), LINE.value_set(start.line)])
        while self._woken:
            self._woken = False
            snapshot = await workflow.execute_local_activity_method(
                Queue.read, args=[start.project_id, start.line], summary="read the line's head", **RECORD
            )
            if snapshot.head is not None:
                await workflow.execute_activity_method(
                    Symbols.index_line,
                    args=[start.project_id, start.line, snapshot.head],
                    **index_step(start.host, f"index {start.line} at {short(snapshot.head)}"),
                )

    @workflow.signal(description="The line moved: index it again")
    def wake(self) -> None:
        """Something landed."""
        self._woken = True
