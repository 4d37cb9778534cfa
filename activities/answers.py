"""The answer of a write, read in the write's own transaction and saved with it; and the workflow's sight of it."""

import re
from collections.abc import Sequence
from typing import Any

import asyncpg

from activities.change import Change
from protocol.answers import DeclareResult, IntentDetail, PushAddress
from protocol.commands import Command, IntentSight, Outcome
from protocol.records import IntentRecords
from rules.detail import intent_detail
from rules.git_commands import GitAddress, intent_ref
from rules.next_step import next_step
from rules.states import holders
from rules.waiting import waiting_for
from storage.sql import commands
from storage.sql.snapshot import read_intent


def address_of(command: Command) -> GitAddress:
    """Where this caller's git commands go."""
    return GitAddress(command.public_url, command.project_id, command.caller.credential_helper)


def declare_result(detail: IntentDetail, address: GitAddress, reserved: Sequence[str] = ()) -> DeclareResult:
    """The detail with the push address and what the intent reserved beside it."""
    ref = intent_ref(detail.intent.id)
    push = PushAddress(url=address.remote, ref=ref, command=address.push(ref))
    claims = [{"reserved": text} for text in reserved]
    return DeclareResult(**{**dict(detail), "claims": claims}, push=push, reserved=list(reserved))


def sight_of(records: IntentRecords) -> IntentSight:
    """What the intent's workflow sees of the record."""
    row = records.intent
    newest = records.checks[0] if records.checks else None
    plain = GitAddress("", row.project_id, helper=True)
    return IntentSight(
        intent_id=row.id,
        project_id=row.project_id,
        host=records.project.host,
        number=row.number,
        title=row.title,
        state=row.state,
        line=row.line,
        head=row.head,
        submitted_head=row.submitted_head,
        in_queue=row.queued_at is not None,
        line_failed=records.line_stopped == "line",
        waits_for=waiting_for(row, records.requests),
        # An operator reads it: without the commands that an agent would run.
        next=re.split(r" with `| push from", next_step(records, plain), maxsplit=1)[0][:300],
        holds=holders(row, records.conflicts),
        last_check=f"{newest.state}: {newest.summary}"[:300] if newest else None,
    )


async def records_of(
    connection: asyncpg.Connection, intent_id: str, *, with_queue: bool = True
) -> IntentRecords:
    """The records of an intent that must be there."""
    records = await read_intent(connection, intent_id, with_queue=with_queue)
    if records is None:
        raise LookupError(f"intent {intent_id} is not in the record")
    return records


async def finish(
    change: Change,
    command: Command,
    said: Sequence[str] = (),
    *,
    declared: bool = False,
    wake_line: bool = False,
) -> Outcome:
    """Write the events, build the answer they lead to, and save it under the command's id."""
    await change.flush()
    records = await records_of(change.connection, command.intent_id)
    address = address_of(command)
    detail = intent_detail(records, address, said)
    shown = declare_result(detail, address, change.reserved) if declared else detail
    answer: dict[str, Any] = shown.model_dump(mode="json", by_alias=True)
    change.wake_intents.discard(command.intent_id)
    outcome = Outcome(
        answer=answer,
        sight=sight_of(records),
        wake_intents=sorted(change.wake_intents),
        wake_line=wake_line or change.wake_line,
    )
    saved = outcome.model_dump(mode="json")
    await commands.save_answer(change.connection, command.command_id, command.project_id, saved, change.now)
    return outcome


async def finished_before(change: Change, command: Command) -> Outcome | None:
    """The outcome of an earlier run of this same command, if one committed."""
    saved = await commands.answer_of(change.connection, command.command_id)
    return Outcome(**saved) if saved else None
