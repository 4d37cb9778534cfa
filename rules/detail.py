"""Build the answer about one intent from its records: pure, so that every face shows the same."""

from collections.abc import Sequence

from protocol.answers import (
    ChangeRequestView,
    CheckView,
    ConflictView,
    DecisionView,
    DoNotChange,
    GoesAfter,
    IntentDetail,
    IntentView,
    LineBase,
    PlanView,
)
from protocol.records import CheckRow, ConflictRow, IntentRecords, RequestRow
from protocol.states import State, Verdict
from rules.conflict_texts import conflict_text
from rules.folders import Writer, closed_places
from rules.git_commands import GitAddress
from rules.next_step import next_step
from rules.places import Place, covers, meet, parse_place, place_of
from rules.queue_eta import queue_place
from rules.states import holders
from rules.waiting import waiting_for


def intent_view(records: IntentRecords) -> IntentView:
    """The intent with its current plan."""
    row, plan = records.intent, records.plan
    return IntentView(
        **row.model_dump(include=IntentView.model_fields.keys() - {"plan", "depends_on", "dependents"}),
        project=records.project.slug,
        plan=PlanView(**plan.model_dump(include={"version", "summary", "steps", "checks"}), scope=plan.scope),
        depends_on=goes_after(records),
        dependents=dependents(records),
        acts_for=row.person_name,
        agent=row.agent_name,
    )


def goes_after(records: IntentRecords) -> list[GoesAfter]:
    """The live intents this one goes after: those it declared, then those whose change it uses (rule R1a)."""
    declared = [
        GoesAfter(id=n.id, number=n.number, why="declared")
        for n in records.goes_after
        if not n.state.final or records.intent.state.final
    ]
    known = {one.id for one in declared}
    uses = [
        GoesAfter(id=c.first_id, number=c.first_number, why="uses", path=_used_path(records, c))
        for c in records.conflicts
        if c.second_id == records.intent.id and c.depends == [c.second_id] and c.first_id not in known
    ]
    return [*declared, *uses]


def _used_path(records: IntentRecords, row: ConflictRow) -> str | None:
    """The path by which the plan uses what the other changes; a pair that meets elsewhere too names only that."""
    if row.range != 1:
        return None
    used = [place_of(item) for item in records.plan.scope.use]
    met = map(parse_place, row.places)
    return next((place.path for place in met if any(meet(place, use) for use in used)), None)


def dependents(records: IntentRecords) -> list[int]:
    """The numbers of the live intents that go after this one, declared or by what they use."""
    declared = {n.number for n in records.followers if not n.state.final}
    uses = {
        c.second_number
        for c in records.conflicts
        if c.first_id == records.intent.id and c.depends == [c.second_id]
    }
    return sorted(declared | uses)


def conflict_view(row: ConflictRow) -> ConflictView:
    """One conflict with the sentence about it."""
    return ConflictView(
        id=row.id,
        intents=sorted((row.first_number, row.second_number)),
        first=row.first_number,
        second=row.second_number,
        range=row.range,
        rule=row.rule,
        verdict=row.verdict,
        places=row.places,
        yielded=row.places if row.verdict is Verdict.NARROW else [],
        state=row.state,
        text=conflict_text(row),
    )


def request_view(row: RequestRow) -> ChangeRequestView:
    """One change request as the block prints it."""
    return ChangeRequestView(
        sender="gitring" if row.from_kind == "gitring" else row.from_name,
        do=row.todo,
        **row.model_dump(
            include={"id", "from_kind", "kind", "conflict_id", "place", "reason", "blocking", "created_at"}
        ),
    )


def check_view(row: CheckRow, public_url: str) -> CheckView:
    """One check run, with the address of its log."""
    return CheckView(
        commit=row.commit_id,
        log=f"{public_url}/api/v1/checks/{row.id}/log",
        **row.model_dump(include=CheckView.model_fields.keys() - {"commit", "log"}),
    )


def drift(records: IntentRecords) -> list[str]:
    """Pushed paths that no declared change place covers."""
    declared = [place_of(item).file for item in records.plan.scope.change]
    return [
        path for path in records.pushed_paths if not any(covers(place, Place(path)) for place in declared)
    ]


def unaccepted_drift(records: IntentRecords, head: str) -> list[str]:
    """What `head` changes outside the plan and no person accepted."""
    if any(d.kind == "drift_accepted" and d.head == head for d in records.decisions):
        return []
    return drift(records)


def not_yet_changed(records: IntentRecords) -> list[str]:
    """Declared change items that no push has touched yet."""
    pushed = [Place(path) for path in records.pushed_paths]
    items = [place_of(item) for item in records.plan.scope.change]
    return [item.text for item in items if not any(covers(item.file, path) for path in pushed)]


def do_not_change(records: IntentRecords) -> list[DoNotChange]:
    """What gitring refuses this intent: what it holds back or yields, and what folder rules keep from it."""
    row, project = records.intent, records.project
    writer = Writer(row.person_id, row.by_agent, project.slug, project.owner_name, records.people)
    closed = [DoNotChange(place=place, why=why) for place, why in closed_places(project.settings, writer)]
    kept = [
        DoNotChange(place=place, why=conflict_text(c), keeper=c.first_number)
        for c in records.conflicts
        if c.second_id == row.id and c.verdict in (Verdict.HOLD, Verdict.NARROW)
        for place in c.places
    ]
    return [*kept, *closed]


def line_base(records: IntentRecords) -> LineBase:
    """Whether the line moved on from the commit that the work stands on, and what of it landed near."""
    row = records.intent
    status = "current" if row.base == records.line_head else "behind"
    near = records.landed_near if status == "behind" else []
    return LineBase(status=status, line=row.line, head=records.line_head, near=near)


def intent_detail(records: IntentRecords, address: GitAddress, said: Sequence[str] = ()) -> IntentDetail:
    """The whole answer. `said` holds the lines that belong to this one call (`#49 declared.`)."""
    row = records.intent
    live = not row.state.final
    return IntentDetail(
        intent=intent_view(records),
        conflicts=[conflict_view(c) for c in records.conflicts],
        change_requests=[request_view(r) for r in records.requests],
        base=line_base(records) if live else None,
        drift=drift(records),
        checks=[check_view(c, address.public_url) for c in records.checks],
        decisions=[
            DecisionView(
                person=d.person_name,
                **d.model_dump(include={"kind", "plan_version", "head", "note", "created_at"}),
            )
            for d in records.decisions
        ],
        not_yet_changed=not_yet_changed(records) if live else [],
        as_of=row.head,
        do_not_change=do_not_change(records) if live else [],
        checks_run=records.project.settings.has_checks,
        waiting_for=waiting_for(row, records.requests),
        next=next_step(records, address),
        after_seq=records.after_seq,
        said=list(said),
        queue=queue_place(records),
    )


def held_by(records: IntentRecords) -> list[int]:
    """The numbers this intent waits on while it is held."""
    return holders(records.intent, records.conflicts) if records.intent.state is State.HELD else []
