"""Checks on the line plus one intent's work, before a person decides about its merge."""

import asyncio
from datetime import datetime

from temporalio import workflow

with workflow.unsafe.imports_passed_through():
    from activities.checks import Checks
    from activities.merges import Merges
    from activities.queue import Queue
    from protocol.commands import IntentSight, LineStart, Outcome
    from protocol.ids import short
    from protocol.queue import BuildCandidate, Candidate, CheckOutcome, CheckRequest, Member, Returned
    from workflows.steps import RECORD, check_step, git_step


def new_check_id() -> str:
    """A check's id, the same at each replay: prefix and the 26 digits of a ULID."""
    return f"chk_{ulid_text(int(workflow.now().timestamp() * 1000), workflow.random().getrandbits(80))}"


def ulid_text(milliseconds: int, randomness: int) -> str:
    """A ULID of its two parts, in Crockford's base 32."""
    number = (milliseconds << 80) | randomness
    return "".join("0123456789ABCDEFGHJKMNPQRSTVWXYZ"[(number >> shift) & 31] for shift in range(125, -1, -5))


class Verification:
    """One running verification at most; stopping it cancels the check, group and all."""

    def __init__(self) -> None:
        self._task: asyncio.Task[Outcome] | None = None

    @property
    def running(self) -> bool:
        """True from start until its result was taken."""
        return self._task is not None

    @property
    def finished(self) -> bool:
        """True when there is a result to take."""
        return self._task is not None and self._task.done()

    def start(self, sight: IntentSight) -> None:
        """Begin to verify the submitted head."""
        self._task = asyncio.create_task(verify(sight))

    async def result(self) -> Outcome:
        """Take the result of a finished verification."""
        task, self._task = self._task, None
        assert task is not None
        return await task

    async def stop(self) -> None:
        """Cancel what runs and wait until it is gone; the intent was withdrawn or sent back."""
        task, self._task = self._task, None
        if task is not None and not task.done():
            task.cancel()
            await asyncio.wait([task])


async def verify(sight: IntentSight) -> Outcome:
    """Merge the work onto the line, run the checks on that tree, and record what it means."""
    entry = await workflow.execute_local_activity_method(
        Queue.read_one, sight.intent_id, summary="read the submitted work", **RECORD
    )
    work = entry.entries[0]
    candidate = await workflow.execute_activity_method(
        Merges.build,
        BuildCandidate(
            project_id=sight.project_id,
            line=sight.line,
            line_head=str(entry.head),
            entries=entry.entries,
            at=int(workflow.now().timestamp()),
        ),
        **git_step(sight.host, f"merge #{sight.number} onto {sight.line} at {short(str(entry.head))}"),
    )
    if candidate.conflicting:
        found = await workflow.execute_local_activity_method(
            Queue.return_conflicting,
            args=[sight.project_id, candidate.conflicting[0], work.head, candidate.line_head],
            summary="return: does not merge",
            **RECORD,
        )
        return _wakes(found)
    member = Member(intent_id=sight.intent_id, number=sight.number, head=work.head)
    checked = await run_checks(sight, candidate, f"#{sight.number} at {short(work.head)}", entry.red_since)
    if not checked.good and workflow.patched("verification-asks-about-the-line"):
        # Red work is nobody's fault where the line itself is red; mostly its result is remembered.
        named = f"{sight.line} at {short(candidate.line_head)}"
        line = await run_checks(sight, candidate.prefix(0), named, entry.red_since)
        if not line.good:
            await workflow.execute_local_activity_method(
                Queue.line_failed,
                args=[sight.project_id, sight.line, candidate.line_head, line],
                summary=f"stand still: {sight.line} fails its checks",
                **RECORD,
            )
            return Outcome(wake_line=True)
    if checked.good:
        done = await workflow.execute_local_activity_method(
            Queue.passed, args=[sight.project_id, member], summary="ask a person", **RECORD
        )
    else:
        done = await workflow.execute_local_activity_method(
            Queue.return_failed,
            # All arguments, the last too: with fewer than it has, an activity gets none of their types.
            args=[sight.project_id, member, checked, None],
            summary="return: checks failed",
            **RECORD,
        )
    return _wakes(done)


async def run_checks(
    of: IntentSight | LineStart, candidate: Candidate, named: str, red_since: datetime | None
) -> CheckOutcome:
    """Run the checks on a candidate's last tree; without members, on the line itself."""
    return await workflow.execute_activity_method(
        Checks.run,
        CheckRequest(
            check_id=new_check_id(),
            project_id=of.project_id,
            line=of.line,
            line_head=candidate.line_head,
            commit=candidate.commit,
            tree=candidate.tree,
            members=[Member(intent_id=m.intent_id, number=m.number, head=m.head) for m in candidate.members],
            red_since=red_since,
        ),
        **check_step(of.host, f"check {named}"),
    )


def _wakes(found: Returned) -> Outcome:
    return Outcome(wake_intents=found.wake_intents, wake_line=found.wake_line)
