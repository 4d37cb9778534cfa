"""What every write of this face does: who acts, which intent, how its status moves, how it answers."""

from typing import Any

from pydantic import BaseModel

from activities.answers import records_of, sight_of
from activities.change import Change
from activities.endings import end_intents
from protocol.commands import Command, Outcome
from protocol.events import EventType
from protocol.foremerge.conflicts import OpenConflicts
from protocol.foremerge.records import AgentRow, WorkRow
from protocol.foremerge.words import IntentStatus
from protocol.records import IntentRow
from rules.foremerge.faces import state_of
from rules.foremerge.lifecycle import must_own
from rules.foremerge.refusing import lost_race
from rules.foremerge.stored import must_act, must_be_there
from storage.sql import commands, events, intents
from storage.sql.foremerge import agents, claims, conflicts, work


async def actor_of(change: Change, command: Command, agent_id: str) -> AgentRow:
    """The agent that acts, who must be of the caller's person; its call is noted, and events are in its name."""
    found = await agents.get(change.connection, agent_id)
    row = must_act(found, agent_id, change.project.id, command.caller.person_id)
    await agents.seen(change.connection, row.id, change.now)
    change.actor = row.id
    return row


async def work_of(change: Change, intent_id: str) -> WorkRow:
    """An intent of the project, as it stands."""
    return must_be_there(await work.get(change.connection, intent_id), intent_id, change.project.id)


async def owned_work(change: Change, command: Command, agent_id: str) -> WorkRow:
    """The command's intent, when the agent owns it."""
    await actor_of(change, command, agent_id)
    found = await work_of(change, command.intent_id)
    must_own(found.id, found.agent_id, agent_id)
    return found


async def set_status(change: Change, found: WorkRow, status: IntentStatus, **why: Any) -> WorkRow:
    """Move an intent of this face, and with it gitring's state; no event of this face. STATE_RACE when overtaken."""
    if not await work.move(change.connection, found.id, found.status, status, found.version, change.now):
        raise lost_race(f"Intent {found.id} was changed by somebody else at this moment.")
    row = await _row_of(change, found.id)
    if row.state is not state_of(status):
        await change.move(row, state_of(status), **why)
    return found.model_copy(
        update={
            "status": status,
            "live": status.active,
            "version": found.version + 1,
            "updated_at": change.now,
        }
    )


async def transitioned(change: Change, found: WorkRow, status: IntentStatus) -> WorkRow:
    """Move an intent forward in its life, with the event of that."""
    change.emit(
        EventType.LIFECYCLE_TRANSITIONED,
        "Intent",
        found.id,
        found.id,
        **{"from": found.status.value},
        to=status.value,
    )
    return await set_status(change, found, status)


async def committed(change: Change, found: WorkRow, commit: str) -> WorkRow:
    """The work has landed: COMMITTED, its claims end, and whoever waited for it goes on."""
    moved = await set_status(change, found, IntentStatus.COMMITTED, commit=commit)
    await intents.set_merged(change.connection, {found.id: commit}, change.now)
    await ended(change, found.id)
    return moved


async def ended(change: Change, intent_id: str) -> None:
    """After an intent became final: its claims end, gitring's conflicts with it too, and who waited is woken."""
    await claims.release(change.connection, intent_id, change.now)
    await end_intents(change, [intent_id])
    followers = await intents.followers(change.connection, intent_id)
    change.wake_line = change.wake_line or any(not one.state.final for one in followers)


async def _row_of(change: Change, intent_id: str) -> IntentRow:
    row = await intents.get(change.connection, intent_id)
    if row is None:
        raise LookupError(f"intent {intent_id} is not in the record")
    return row


async def open_conflicts_of(change: Change, intent_id: str) -> OpenConflicts:
    """The conflicts of an intent that nobody settled, as of this write's own last event."""
    await change.flush()
    found = await conflicts.of_intents(change.connection, [intent_id])
    return OpenConflicts(
        count=len(found),
        ids=[one.conflict.id for one in found],
        as_of_event=await events.last_seq(change.connection, change.project.id),
    )


async def finish_foremerge(change: Change, command: Command, answer: BaseModel) -> Outcome:
    """Write the events, and save the answer under the command's id, in the transaction of the write."""
    await change.flush()
    records = await records_of(change.connection, command.intent_id)
    change.wake_intents.discard(command.intent_id)
    outcome = Outcome(
        answer=answer.model_dump(mode="json", by_alias=True),
        sight=sight_of(records),
        wake_intents=sorted(change.wake_intents),
        wake_line=change.wake_line,
    )
    saved = outcome.model_dump(mode="json")
    await commands.save_answer(change.connection, command.command_id, command.project_id, saved, change.now)
    return outcome
