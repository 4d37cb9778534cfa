"""The local activities of an intent's commands: each one transaction, each idempotent by its command id."""

from temporalio import activity

from activities.answers import finish, records_of, sight_of
from activities.change import Change
from activities.decisions import decide_merge, decide_plan
from activities.declares import add_intent
from activities.endings import end_intents
from activities.exactly_once import once
from activities.foremerge.agreements import dismiss_of, withdraw_external
from activities.plans import change_plan
from activities.store import Store
from protocol.commands import (
    Ack,
    Command,
    Decide,
    Declare,
    IntentSight,
    Outcome,
    Submit,
    UpdatePlan,
    Withdraw,
)
from protocol.events import EventType
from protocol.ids import short
from protocol.projects import ProjectSettings
from protocol.records import IntentRecords
from protocol.refusals import not_found, people_only
from protocol.states import State
from rules.acks import applied_by, not_applied
from rules.approvals import said_of_approval, stands
from rules.detail import unaccepted_drift
from rules.folders import owner_approves
from rules.places import Place, place_of
from rules.risk import asks_person, mass_deletion
from rules.states import must_be_of_gitring, must_submit, must_withdraw
from storage.sql import intents, queue
from storage.sql.pool import transaction
from storage.sql.snapshot import read_intent


async def own_records(change: Change, command: Command) -> IntentRecords:
    """The intent's records; an intent of another project is not there."""
    records = await read_intent(change.connection, command.intent_id, with_queue=False)
    if records is None or records.intent.project_id != command.project_id:
        raise not_found(f"intent {command.intent_id}", "Call gitring_board to see the live intents.")
    return records


class Records:
    """Commands and looks of one intent against Postgres. Refusals are values: they are no failure to retry."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._pool = store.pool

    @activity.defn(name="admit")
    async def admit(self, command: Declare) -> Outcome:
        """Declare: number, places, conflicts and the order among them, in one transaction."""
        return await once(self._store, command, self._admit)

    async def _admit(self, change: Change, command: Declare) -> Outcome:
        await add_intent(change, command)
        return await finish(change, command, declared=True)

    @activity.defn(name="update_plan")
    async def update_plan(self, command: UpdatePlan) -> Outcome:
        """A new plan version: places, risk, conflicts and review are decided again."""
        return await once(self._store, command, self._update_plan)

    async def _update_plan(self, change: Change, command: UpdatePlan) -> Outcome:
        records = await own_records(change, command)
        must_be_of_gitring(records.intent)
        await change_plan(change, command, records)
        return await finish(change, command)

    @activity.defn(name="submit")
    async def submit(self, command: Submit) -> Outcome:
        """Submit: to the line's queue, or first to the checks when a person must decide after them."""
        return await once(self._store, command, self._submit)

    async def _submit(self, change: Change, command: Submit) -> Outcome:
        records = await own_records(change, command)
        row = records.intent
        must_be_of_gitring(row)
        head = must_submit(row, records.conflicts, records.requests, command.input.head_commit)
        await intents.set_submitted(change.connection, row.id, head, unaccepted_drift(records, head))
        for request in records.requests:
            if request.kind in ("check", "merge"):
                await change.close(request, f"submitted {short(head)}")
            elif not request.blocking and request.kind == "notice":
                await change.close(request, "seen")
        change.emit(EventType.INTENT_SUBMITTED, "Intent", row.id, row.id, number=row.number, head=head)
        await change.move(row, State.VERIFYING)
        patch = records.pushed.patch_id
        asks = _asks_person(records, change.project.settings) and not stands(row, head, patch)
        if not asks:
            await intents.enqueue(change.connection, row.id, change.now)
        said = said_of_approval(row, head, patch)
        return await finish(change, command, [said] if said else [], wake_line=not asks)

    @activity.defn(name="withdraw")
    async def withdraw(self, command: Withdraw) -> Outcome:
        """Withdraw: final; whoever waited for it goes on, in the same transaction."""
        return await once(self._store, command, self._withdraw)

    async def _withdraw(self, change: Change, command: Withdraw) -> Outcome:
        records = await own_records(change, command)
        row = records.intent
        must_withdraw(row, await queue.is_landing(change.connection, row.project_id, row.line, row.id))
        if row.landing == "external":
            await withdraw_external(change, row.id, command.input.reason)
            return await finish(change, command)
        moved = await change.move(row, State.WITHDRAWN, reason=command.input.reason)
        await end_intents(change, [moved.id])
        await dismiss_of(change, row.id, command.input.reason or "withdrawn")
        # What is tested with it is tested without it, and whoever waits in the queue for it waits no longer.
        waits = any(not follower.state.final for follower in records.followers)
        change.wake_line = waits or row.queued_at is not None
        return await finish(change, command)

    @activity.defn(name="ack")
    async def ack(self, command: Ack) -> Outcome:
        """Acknowledge a change request; it closes when the latest push came after it."""
        return await once(self._store, command, self._ack)

    async def _ack(self, change: Change, command: Ack) -> Outcome:
        records = await own_records(change, command)
        wanted = command.input.change_request_id
        request = next((r for r in records.requests if r.id == wanted), None)
        if request is None:
            raise not_found(
                f"open change request {wanted} on #{records.intent.number}", "Call gitring_status."
            )
        missing = not_applied(request, records)
        if missing is None:
            await change.close(request, applied_by(request, records.intent))
            said = [f"Change request {wanted} closed: {applied_by(request, records.intent)}."]
        else:
            said = [f"Change request {wanted} stays open: {missing}"]
        return await finish(change, command, said)

    @activity.defn(name="decide")
    async def decide(self, command: Decide) -> Outcome:
        """A person's decision on the plan or the merge."""
        return await once(self._store, command, self._decide)

    async def _decide(self, change: Change, command: Decide) -> Outcome:
        records = await own_records(change, command)
        if not command.caller.is_person:
            raise people_only(records.intent.person_name, records.intent.number)
        must_be_of_gitring(records.intent)
        decide = decide_plan if command.input.subject == "plan" else decide_merge
        said, wake_line = await decide(change, command, records)
        return await finish(change, command, said, wake_line=wake_line)

    @activity.defn(name="look")
    async def look(self, intent_id: str) -> IntentSight | None:
        """What the record says of an intent now; None when it was never declared."""
        async with transaction(self._pool) as connection:
            if await intents.get(connection, intent_id) is None:
                return None
            return sight_of(await records_of(connection, intent_id, with_queue=False))


def _asks_person(records: IntentRecords, settings: ProjectSettings) -> bool:
    """Whether the merge of what was pushed last needs a person."""
    declared = [place_of(item) for item in records.plan.scope.change]
    changed = [*declared, *map(Place, records.pushed_paths)]
    return (
        not settings.has_checks
        or asks_person(settings.merge_approval, records.intent.risk)
        or mass_deletion(declared, records.pushed) is not None
        or owner_approves(changed, settings) is not None
    )
