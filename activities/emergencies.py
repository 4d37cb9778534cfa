"""An emergency landing: an owner has one intent land before all others, with its checks or without."""

from activities.change import Change
from activities.decisions import record_decision
from activities.neighbours import settle
from protocol.commands import LandNow
from protocol.ids import short
from protocol.records import IntentRecords
from protocol.refusals import Refused, refused
from protocol.states import State
from rules.detail import unaccepted_drift
from rules.states import must_be_of_gitring
from storage.sql import intents, projects, queue


async def land_now(change: Change, command: LandNow, records: IntentRecords) -> str:
    """Put the intent before all others of its line; returns what was done, as one sentence.

    Refused (403) for anybody but an owner, and (409) for what has nothing pushed or is being landed already.
    Its open change requests stay open: they are what an owner overrides, and the record shows them.
    """
    row, given = records.intent, command.input
    must_be_of_gitring(row)
    role = await projects.role_of(change.connection, row.project_id, command.caller.person_id)
    if role != "owner":
        raise refused(
            "people_only",
            f"Only an owner of {records.project.slug} lands an intent before all others.",
            f"Ask {records.project.owner_name}.",
            403,
        )
    if row.head is None:
        raise refused(
            "nothing_pushed",
            f"Nothing was pushed for {row.label}, so nothing can land.",
            f"Push to refs/intents/{row.id} first.",
        )
    if await queue.is_landing(change.connection, row.project_id, row.line, row.id):
        raise _landing_already(row.label)
    head = (row.submitted_head if row.queued_at is not None else None) or row.head
    await intents.set_submitted(change.connection, row.id, head, unaccepted_drift(records, head))
    row = row.model_copy(update={"submitted_head": head})
    await record_decision(change, command, row, f"emergency_{_HOW[given.checks]}", given.reason)
    moved = await change.move(row, State.QUEUED, why="emergency", reason=given.reason)
    if row.queued_at is None:
        await intents.enqueue(change.connection, row.id, change.now)
    await intents.set_emergency(change.connection, row.id, _HOW[given.checks])
    await settle(change, moved)
    how = "after its checks" if given.checks == "run" else "without checks; the line is checked afterwards"
    return f"{command.caller.person_name} has {row.label} at {short(head)} land before all others, {how}."


_HOW = {"run": "checked", "skip": "unchecked"}


def _landing_already(label: str) -> Refused:
    return refused(
        "wrong_state",
        f"Intent {label} is being landed at this moment.",
        "Look again: it is merged in a moment.",
    )
