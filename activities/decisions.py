"""A person's decisions: approve or send back a plan or a merge, bound to what was seen."""

from activities.change import Change
from activities.neighbours import settle
from protocol.commands import Command, Decide
from protocol.events import EventType
from protocol.ids import new_id, short
from protocol.records import DecisionRow, IntentRecords, IntentRow
from protocol.refusals import Refused, refused
from protocol.states import State
from rules.folders import owner_approves
from rules.places import Place, place_of
from storage.sql import intents, projects, queue
from storage.sql.snapshot import patch_of


async def record_decision(
    change: Change, command: Command, row: IntentRow, kind: str, note: str | None, head: str | None = None
) -> None:
    """Record what a person decided of the intent as it stands now; `head` where it is not the submitted one."""
    decision = DecisionRow(
        id=new_id("dec"),
        kind=kind,
        person_id=command.caller.person_id,
        person_name=command.caller.person_name,
        plan_version=row.plan_version,
        head=head or row.submitted_head or row.head,
        note=note,
        created_at=change.now,
    )
    await intents.add_decision(change.connection, row.project_id, row.id, decision)
    change.emit(
        EventType.DECISION_RECORDED,
        "Decision",
        decision.id,
        row.id,
        kind=kind,
        person=decision.person_name,
        plan_version=row.plan_version,
        head=decision.head,
    )


def _must_be_seen(command: Decide, row: IntentRow) -> None:
    """Refuse a decision that was made about something else than what it would now be applied to."""
    version, head = command.input.plan_version, command.input.head_commit
    if version is not None and version != row.plan_version:
        raise refused(
            "wrong_state",
            f"You read plan v{version} of #{row.number}; its plan is v{row.plan_version} now.",
            "Read the new plan, then decide.",
        )
    if head is not None and head != row.submitted_head:
        now = f"{short(row.submitted_head)} is submitted" if row.submitted_head else "nothing is submitted"
        raise refused(
            "stale_head",
            f"You read {short(head)} of #{row.number}; {now} now.",
            "Read the new work, then decide.",
        )


def _not_waiting(row: IntentRow, what: str) -> Refused:
    return refused(
        "wrong_state",
        f"Intent #{row.number} waits for no decision on its {what}: its state is {row.state.text}.",
        "Read the intent again; someone may have decided already.",
    )


async def decide_plan(change: Change, command: Decide, records: IntentRecords) -> tuple[list[str], bool]:
    """Approve the plan's current version, or send it back with a note."""
    row, name = records.intent, command.caller.person_name
    if row.state is not State.PLAN_REVIEW:
        raise _not_waiting(row, "plan")
    _must_be_seen(command, row)
    if command.input.decision == "approve":
        await record_decision(change, command, row, "plan_approved", command.input.note)
        await intents.approve_plan(change.connection, row.id, row.plan_version)
        for request in records.requests:
            if request.kind == "plan":
                await change.close(request, f"{name} approved the plan")
        await settle(change, await change.move(row, State.ACTIVE))
        return [f"{name} approved plan v{row.plan_version} of #{row.number}."], False
    await record_decision(change, command, row, "plan_returned", command.input.note)
    await change.ask(
        row,
        from_kind="person",
        from_name=name,
        kind="plan",
        reason=f"{name} sent plan version {row.plan_version} back: {command.input.note or 'no note'}",
        todo=f"Send plan v{row.plan_version + 1} with gitring_update_plan. No push or ack is needed.",
    )
    return [f"{name} sent plan v{row.plan_version} of #{row.number} back."], False


async def _must_be_owner_where_asked(change: Change, command: Decide, records: IntentRecords) -> None:
    changed = [*map(place_of, records.plan.scope.change), *map(Place, records.pushed_paths)]
    folder = owner_approves(changed, change.project.settings)
    role = await projects.role_of(change.connection, change.project.id, command.caller.person_id)
    if folder is not None and role != "owner":
        raise refused(
            "people_only",
            f"An owner approves merges that change {folder}.",
            f"Ask {change.project.owner_name} to open intent #{records.intent.number} in gitring.",
            403,
        )


async def decide_merge(change: Change, command: Decide, records: IntentRecords) -> tuple[list[str], bool]:
    """Approve the submitted head for the line, or send it back to its agent."""
    row, name = records.intent, command.caller.person_name
    if command.input.decision == "approve":
        if row.state is not State.AWAITING_APPROVAL:
            raise _not_waiting(row, "merge")
        _must_be_seen(command, row)
        await _must_be_owner_where_asked(change, command, records)
        head = str(row.submitted_head)
        await record_decision(change, command, row, "merge_approved", command.input.note)
        patch = await patch_of(change.connection, row.id, head)
        await intents.approve_merge(change.connection, row, head, patch)
        await change.move(row, State.QUEUED)
        await intents.enqueue(change.connection, row.id, change.now)
        return [f"{name} approved the merge of #{row.number} at {short(head)}. State: Queued."], True
    if row.state not in (State.AWAITING_APPROVAL, State.QUEUED, State.VERIFYING):
        raise _not_waiting(row, "merge")
    _must_be_seen(command, row)
    if await queue.is_landing(change.connection, row.project_id, row.line, row.id):
        raise refused(
            "wrong_state",
            f"Intent #{row.number} is being landed at this moment.",
            "Revert it with a new intent if it must go.",
        )
    await record_decision(change, command, row, "merge_returned", command.input.note)
    await intents.end_approval(change.connection, row.id)
    await change.ask(
        row,
        from_kind="person",
        from_name=name,
        kind="review",
        reason=command.input.note or f"{name} sent the merge back without a note.",
        todo="change the code or the plan, push, then gitring_ack.",
    )
    await settle(change, await change.move(row, State.ACTIVE, why="sent_back"))
    return [f"{name} sent #{row.number} back."], row.queued_at is not None
