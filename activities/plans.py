"""A new version of a plan, and all that follows from it."""

from collections.abc import Sequence

from activities.change import Change
from activities.declares import must_write_there, scope_places, set_places
from activities.foremerge.mirror import mirror
from activities.neighbours import settle
from protocol.commands import UpdatePlan
from protocol.events import EventType
from protocol.records import IntentRecords, IntentRow, PushedWork
from protocol.refusals import Refused, invalid_input, refused
from protocol.states import Risk, State
from rules.order import way
from rules.places import place_of
from rules.risk import asks_person, risk_of
from storage.sql import conflicts, intents

_CHANGEABLE = (State.PLAN_REVIEW, State.ACTIVE, State.HELD)


async def change_plan(change: Change, command: UpdatePlan, records: IntentRecords) -> None:
    """Write plan v(n+1), and decide anew what the plan decides."""
    row, given = records.intent, command.input
    if row.state not in _CHANGEABLE:
        raise refused(
            "wrong_state",
            f"The plan of #{row.number} cannot change now: its state is {row.state.text}.",
            f"Ask {row.person_name} to send it back, or call gitring_withdraw.",
        )
    if not given.plan.scope.change:
        raise invalid_input("plan.scope.change is empty.", "Name at least one place the work will change.")
    if given.depends_on is not None:
        await replace_dependencies(change, row, given.depends_on)
    version = row.plan_version + 1
    plan = intents.plan_row(row.id, version, given.plan, given.reason, change.now)
    await intents.add_plan(change.connection, plan)
    places = [place_of(item) for item in given.plan.scope.change]
    await must_write_there(change, places, row.person_id, by_agent=row.by_agent)
    settings = change.project.settings
    risk, reasons = risk_of(places, settings.max_places, settings.people_only, records.pushed)
    await intents.set_risk(change.connection, row.id, risk, reasons)
    await intents.set_plan_version(change.connection, row.id, version)
    if not command.keeps_issue:
        await intents.set_issue(change.connection, row.id, given.issue)
    row = row.model_copy(update={"plan_version": version, "risk": risk, "risk_reasons": reasons})
    change.emit(
        EventType.PLAN_CHANGED, "Intent", row.id, row.id, number=row.number, version=version, risk=risk
    )
    for request in records.requests:
        if request.kind == "plan":
            await change.close(request, f"plan v{version}")
    # What the code does to signatures is asked about at the merge; a plan is reviewed for where it goes.
    paths = PushedWork(paths=records.pushed.paths)
    planned, _ = risk_of(places, settings.max_places, settings.people_only, paths)
    row = await _review(change, row, planned)
    await set_places(change, row, "declared", scope_places(given.plan.scope))
    await settle(change, row)
    await mirror(change, row)


async def _review(change: Change, row: IntentRow, planned: Risk) -> IntentRow:
    """A risky version waits for a person again; a harmless one needs none any more."""
    asks = asks_person(change.project.settings.plan_review, planned)
    if asks and row.state is not State.PLAN_REVIEW:
        return await change.move(row, State.PLAN_REVIEW, why="risky_plan")
    if not asks and row.state is State.PLAN_REVIEW:
        return await change.move(row, State.ACTIVE, why="plan_needs_no_review")
    return row


async def replace_dependencies(change: Change, row: IntentRow, wanted: Sequence[str]) -> None:
    """Set what the intent goes after, unless that closes a circle (`dependency_cycle`)."""
    found = await intents.many(change.connection, wanted)
    graph = await conflicts.dependencies_of_line(change.connection, row.project_id, row.line)
    for intent_id in wanted:
        other = found.get(intent_id)
        if other is None or other.project_id != row.project_id or other.line != row.line:
            raise invalid_input(f"dependsOn names {intent_id}, which is no intent of this line.")
        if other.state is State.WITHDRAWN:
            raise invalid_input(f"dependsOn names #{other.number}, which is withdrawn.", "Leave it out.")
        circle = way(graph, intent_id, row.id)
        if circle:
            raise await _closes_a_circle(change, row, circle)
    await intents.replace_dependencies(change.connection, row.id, list(dict.fromkeys(wanted)))


async def _closes_a_circle(change: Change, row: IntentRow, circle: Sequence[str]) -> Refused:
    """Names the whole circle: `#1 cannot go after #3, which goes after #2, which goes after #1`."""
    known = await intents.many(change.connection, circle)
    if len(circle) == 1:
        said = f"#{row.number} cannot go after itself."
    else:
        after = ", which goes after ".join(f"#{known[intent_id].number}" for intent_id in circle)
        said = f"#{row.number} cannot go after {after}."
    return refused(
        "dependency_cycle", said, f"Leave #{known[circle[0]].number} out of dependsOn; nothing was changed."
    )
