"""Declare: compare with every live intent, give a number, say who goes first; and plan changes."""

from collections.abc import Sequence

from activities.asks import must_be_open, take_up
from activities.change import Change
from activities.claims import reserve
from activities.foremerge.mirror import mirror
from activities.neighbours import settle
from protocol.commands import Declare
from protocol.events import EventType
from protocol.intents import DeclareInput
from protocol.records import ConflictRow, IntentRow, LineRow, PlanRow
from protocol.refusals import invalid_input, refused
from protocol.scopes import Scope
from protocol.states import State
from rules.folders import Writer, folder_refusal, writers_of
from rules.places import Place, ancestors, place_of
from rules.risk import asks_person, risk_of
from storage.sql import intents, people, places, projects


async def target_line(change: Change, target: str | None) -> LineRow:
    """The line that the work lands on (the default one without `target`), or `unknown_line`."""
    name = target or change.project.default_line
    line = await projects.line(change.connection, change.project.id, name)
    if line is None:
        raise refused(
            "unknown_line",
            f"There is no line {name} in {change.project.slug}.",
            "An owner creates it first.",
            400,
        )
    if line.head is None:
        raise refused(
            "unknown_line", f"The line {name} has no commit yet.", "An owner imports a repository.", 400
        )
    return line


async def dependencies(change: Change, given: DeclareInput, line: str) -> list[str]:
    """The intents to go after, checked: of this project and line, and not withdrawn."""
    found = await intents.many(change.connection, given.depends_on)
    for intent_id in given.depends_on:
        row = found.get(intent_id)
        if row is None or row.project_id != change.project.id or row.line != line:
            raise invalid_input(f"dependsOn names {intent_id}, which is no intent of this line.")
        if row.state is State.WITHDRAWN:
            raise invalid_input(f"dependsOn names #{row.number}, which is withdrawn.", "Leave it out.")
    return list(dict.fromkeys(given.depends_on))


def scope_places(scope: Scope) -> list[tuple[str, str, str, list[str]]]:
    """A scope as place rows: (role, path, symbol, ancestors)."""
    roles = (("change", scope.change), ("use", scope.use))
    return [
        (role, item.path, item.symbol or "", ancestors(item.path)) for role, items in roles for item in items
    ]


async def must_write_there(
    change: Change, changed: Sequence[Place], person_id: str, *, by_agent: bool
) -> None:
    """Refuse (`folder_write_refused`) a change that the project's folder rules keep from this writer."""
    project = change.project
    names = await people.names_of(change.connection, writers_of(project.settings))
    writer = Writer(person_id, by_agent, project.slug, project.owner_name, names)
    refusal = folder_refusal(changed, project.settings, writer)
    if refusal is not None:
        raise refusal


async def declare_row(change: Change, command: Declare) -> IntentRow:
    """The new intent's row, in the state its risk asks for; nothing is written yet."""
    given = command.input
    line = await target_line(change, given.target)
    if not given.plan.scope.change:
        raise invalid_input("plan.scope.change is empty.", "Name at least one place the work will change.")
    settings = change.project.settings
    changed = [place_of(item) for item in given.plan.scope.change]
    caller = command.caller
    await must_write_there(change, changed, caller.person_id, by_agent=not caller.is_person)
    risk, reasons = risk_of(changed, settings.max_places, settings.people_only)
    review = asks_person(settings.plan_review, risk)
    return IntentRow(
        id=command.intent_id,
        project_id=change.project.id,
        number=0,
        title=given.title,
        goal=given.goal,
        kind="change",
        landing="queue",
        state=State.PLAN_REVIEW if review else State.ACTIVE,
        line=line.name,
        base=str(line.head),
        head=None,
        submitted_head=None,
        merged_commit=None,
        plan_version=1,
        plan_approved=None,
        merge_approved=None,
        priority=given.priority,
        issue=given.issue,
        risk=risk,
        risk_reasons=reasons,
        person_id=command.caller.person_id,
        person_name=command.caller.person_name,
        token_id=command.caller.token_id,
        by_agent=not caller.is_person,
        agent_name=command.caller.token_name,
        session_name=given.session_name,
        created_at=change.now,
        state_since=change.now,
        queued_at=None,
    )


async def add_intent(change: Change, command: Declare) -> tuple[IntentRow, list[ConflictRow]]:
    """Write the intent, its plan and its places, and settle it with its neighbours."""
    await must_be_open(change, command)
    row = await declare_row(change, command)
    depends_on = await dependencies(change, command.input, row.line)
    row = row.model_copy(update={"number": await intents.next_number(change.connection, change.project.id)})
    plan: PlanRow = intents.first_plan(row.id, command.input, change.now)
    await intents.add(change.connection, row, plan, depends_on)
    await set_places(change, row, "declared", scope_places(plan.scope))
    change.emit(
        EventType.INTENT_DECLARED,
        "Intent",
        row.id,
        row.id,
        number=row.number,
        title=row.title,
        state=row.state,
        risk=row.risk,
        line=row.line,
    )
    await take_up(change, command, row)
    change.reserved = await reserve(change, row, command.input.claims)
    opened = await settle(change, row)
    await mirror(change, row)
    return row, opened


async def set_places(
    change: Change, row: IntentRow, source: str, rows: Sequence[tuple[str, str, str, list[str]]]
) -> None:
    """Replace the places of one source."""
    await places.replace(
        change.connection,
        intent_id=row.id,
        project_id=row.project_id,
        line=row.line,
        source=source,
        places=rows,
    )


MOST_PUSHED_PLACES = 2000


def pushed_places(found: Sequence[tuple[str, str]]) -> list[tuple[str, str, str, list[str]]]:
    """Pushed (path, symbol) pairs as place rows. A push of thousands of files counts as its folders, nearest first."""
    kept = sorted(set(found))
    while len(kept) > MOST_PUSHED_PLACES:
        above = sorted({(_folder(path), "") for path, _ in kept})
        if above == kept:
            break
        kept = above
    return [("change", path, symbol, ancestors(path)) for path, symbol in kept]


def _folder(path: str) -> str:
    found = ancestors(path)
    return found[1] if len(found) > 1 else path
