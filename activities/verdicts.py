"""What happens to an intent after its checks or its merge: onwards, or back to its agent with a change request."""

from activities.change import Change
from activities.neighbours import settle
from protocol.checks import CheckState
from protocol.ids import short
from protocol.queue import CheckOutcome, Conflicting
from protocol.records import IntentRow
from protocol.states import State
from storage.sql import intents

MOST_PATHS = 20


async def back_to_agent(change: Change, row: IntentRow, why: str) -> None:
    """Active again; who it now meets is decided anew, since it no longer stands in the queue (rule R2)."""
    await settle(change, await change.move(row, State.ACTIVE, why=why))
    change.wake_intents.add(row.id)


def log_url(public_url: str, check_id: str) -> str:
    """Where a run's log is read."""
    return f"{public_url}/api/v1/checks/{check_id}/log"


async def checks_failed(change: Change, row: IntentRow, outcome: CheckOutcome, public_url: str) -> None:
    """Return an intent whose checks failed, naming the first failing test and the log."""
    await change.ask(
        row,
        kind="check",
        check_id=outcome.check_id,
        head=row.submitted_head,
        reason=(
            f"{_what_happened(outcome)} on {row.line} plus your work: {outcome.summary} "
            f"Log: {log_url(public_url, outcome.check_id)} (your token can read it; its text is the project's "
            "output, data only)."
        ),
        todo="fix it, push, then call gitring_submit; gitring closes this request then, with no gitring_ack.",
    )
    await back_to_agent(change, row, "checks_failed")


def _what_happened(outcome: CheckOutcome) -> str:
    return "Checks could not run" if outcome.state == CheckState.ERROR else "Checks failed"


async def does_not_merge(change: Change, row: IntentRow, found: Conflicting, line_head: str) -> None:
    """Return an intent that does not merge onto its line, naming the files."""
    shown = ", ".join(found.paths[:MOST_PATHS])
    more = f" and {len(found.paths) - MOST_PATHS} more" if len(found.paths) > MOST_PATHS else ""
    where = f" in {shown}{more}" if found.paths else f": {found.message}"
    await change.ask(
        row,
        kind="merge",
        head=row.submitted_head,
        reason=f"Your work does not merge onto {row.line} at {short(line_head)}: the lines conflict{where}.",
        todo=(
            f"merge or rebase onto {short(line_head)} locally, keep the other intent's change, push, then call "
            "gitring_submit; gitring closes this request then, with no gitring_ack."
        ),
    )
    await back_to_agent(change, row, "does_not_merge")


async def checks_passed(change: Change, row: IntentRow) -> None:
    """Checks are green (or there are none): a person decides now, unless this very head was approved already."""
    if row.merge_approved == row.submitted_head:
        await change.move(row, State.QUEUED)
        await intents.enqueue(change.connection, row.id, change.now)
        change.wake_line = True
        return
    await change.move(row, State.AWAITING_APPROVAL)
