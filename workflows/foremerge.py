"""Where each operation of the Foremerge face is done: in the record alone, beside the repository, or as a check.

Git steps and checks are named by their activities' names, so that a workflow knows nothing of how they work.
"""

import asyncio
from collections.abc import Awaitable, Callable

from temporalio import workflow

with workflow.unsafe.imports_passed_through():
    from activities.foremerge.records import ForemergeRecords
    from protocol.commands import Outcome
    from protocol.foremerge.commands import ForemergeCommand, ForemergeOperation
    from protocol.foremerge.errors import ErrorCode, foremerge_refusal
    from workflows.steps import RECORD, check_step, git_step

_GIT = {
    ForemergeOperation.PUBLISH_CHANGESET: "foremerge_publish_changeset",
    ForemergeOperation.ACCEPT_CHANGESET: "foremerge_accept",
    ForemergeOperation.RECORD_COMMIT: "foremerge_record_commit",
}
_CHECK = "foremerge_validate"


def step_of(command: ForemergeCommand) -> Awaitable[Outcome]:
    """The one step of an operation; it does its own transaction."""
    words = command.operation.value.replace("_", " ")
    at = _GIT.get(command.operation)
    if at is not None:
        return workflow.execute_activity(
            at, command, result_type=Outcome, **git_step(command.host, f"Foremerge: {words}")
        )
    return workflow.execute_local_activity_method(
        ForemergeRecords.apply, command, summary=f"Foremerge: {words}", **RECORD
    )


async def validated(command: ForemergeCommand, is_over: Callable[[], bool]) -> Outcome:
    """Run a check on a ChangeSet for as long as the intent lives; STATE_RACE when it ends before the check does."""
    running: asyncio.Task[Outcome] = asyncio.ensure_future(
        workflow.execute_activity(
            _CHECK, command, result_type=Outcome, **check_step(command.host, "Foremerge: run a check")
        )
    )
    await workflow.wait_condition(lambda: running.done() or is_over())
    if running.done():
        return running.result()
    running.cancel()
    await workflow.wait([running])
    refused = foremerge_refusal(
        ErrorCode.STATE_RACE,
        "The intent ended while the check ran.",
        "Read it with get_intent; nothing of the run counts.",
    )
    return Outcome(refusal=refused.refusal)
