"""The local activity of this face's commands: each one transaction, once per command id; a refusal is a value."""

from temporalio import activity

from activities.change import Change
from activities.exactly_once import once
from activities.foremerge.agreements import adopt, discard
from activities.foremerge.claims import claim
from activities.foremerge.frame import finish_foremerge, open_conflicts_of, owned_work, transitioned
from activities.foremerge.publication import publish
from activities.foremerge.releases import release
from activities.store import Store
from protocol.commands import Outcome
from protocol.foremerge.claims import ClaimWorkInput, ReleaseClaimsInput
from protocol.foremerge.commands import ForemergeCommand
from protocol.foremerge.intents import AdoptWorkInput, DiscardWorkInput, PublishIntentInput, StartWorkInput
from protocol.foremerge.words import IntentStatus
from rules.foremerge.lifecycle import Step, must_allow
from rules.foremerge.stored import shown_intent
from storage.sql.foremerge import work


class ForemergeRecords:
    """Commands of this face that need nothing but the record."""

    def __init__(self, store: Store) -> None:
        self._store = store

    @activity.defn(name="foremerge_record")
    async def apply(self, command: ForemergeCommand) -> Outcome:
        """Do the command's operation, or give back what it answered before."""
        return await once(self._store, command, _apply)


async def _apply(change: Change, command: ForemergeCommand) -> Outcome:
    match command.input():
        case PublishIntentInput() as given:
            return await publish(change, command, given)
        case ClaimWorkInput() as given:
            return await claim(change, command, given)
        case ReleaseClaimsInput() as given:
            return await release(change, command, given)
        case DiscardWorkInput() as given:
            return await discard(change, command, given)
        case AdoptWorkInput() as given:
            return await adopt(change, command, given)
        case StartWorkInput() as given:
            return await _start(change, command, given)
        case _:
            raise LookupError(f"{command.operation} is no command of the record alone")


async def _start(change: Change, command: ForemergeCommand, given: StartWorkInput) -> Outcome:
    """`start_work`; the answer counts what is unresolved."""
    found = await owned_work(change, command, given.agent_id)
    must_allow(Step.START, found.id, found.status)
    moved = await transitioned(change, found, IntentStatus.IN_PROGRESS)
    scopes = await work.scopes_of(change.connection, [found.id])
    seen = await open_conflicts_of(change, found.id)
    return await finish_foremerge(change, command, shown_intent(moved, scopes[found.id], seen))
