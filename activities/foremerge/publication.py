"""Publish: an intent of this face becomes an intent of the record, compared with all active work."""

import json

from activities.change import Change
from activities.declares import set_places, target_line
from activities.foremerge.detection import compared_with, keep_findings, tell_gitring
from activities.foremerge.frame import actor_of, finish_foremerge
from activities.neighbours import settle
from protocol.commands import Outcome
from protocol.events import EventType
from protocol.foremerge.commands import ForemergeCommand
from protocol.foremerge.intents import PublishedIntent, PublishIntentInput
from protocol.foremerge.records import AgentRow, NewWork
from protocol.foremerge.words import IntentStatus
from protocol.ids import new_id
from protocol.records import IntentRow, LineRow, PlanRow
from protocol.scopes import Scope, ScopeItem
from protocol.states import Priority, Risk
from rules.foremerge.advice import publish_warnings
from rules.foremerge.alike import SUMMARIES_ALIKE, kept_under
from rules.foremerge.faces import declared_by_foremerge, places_of, state_of
from rules.foremerge.likeness import words
from rules.foremerge.prose import inferred
from rules.foremerge.publication import Publication, checked_intent
from rules.foremerge.related import ASSESS_NEXT, in_order
from rules.foremerge.scopes import fold_declared, scope_of
from rules.foremerge.stored import new_scope, shown_intent
from rules.foremerge.subjects import subject
from rules.places import ancestors
from storage.sql import intents
from storage.sql.foremerge import agents, work

_MOST_TITLE = 300
_MOST_PLACES = 500
_MOST_STEPS = 100
_MOST_STEP = 1_000


def read_publication(command: ForemergeCommand, given: PublishIntentInput) -> Publication:
    """The checked intent; scopes that came without an operation take the one that the summary seems to mean."""
    publication = checked_intent(given)
    read = [inferred(scope_of(one.kind, one.key), publication.summary) for one in command.undeclared]
    return publication._replace(scopes=fold_declared([*publication.scopes, *read]))


async def publish(change: Change, command: ForemergeCommand, given: PublishIntentInput) -> Outcome:
    """`publish_intent`."""
    publication = read_publication(command, given)
    agent = await actor_of(change, command, given.agent_id)
    row = await _add_row(change, command, publication, agent)
    await _add_work(change, row, publication, given, agent)
    own = subject(row.id, publication.summary, declared_by_foremerge(publication.scopes))
    recorded = await work.get(change.connection, row.id)
    if recorded is None:
        raise LookupError(f"intent {row.id} was not recorded")
    scopes = (await work.scopes_of(change.connection, [row.id]))[row.id]
    intent = shown_intent(recorded, scopes)
    change.emit(
        EventType.INTENT_PUBLISHED,
        "Intent",
        row.id,
        row.id,
        number=row.number,
        **intent.model_dump(mode="json"),
    )
    pairs = await compared_with(change, own, only_external=False)
    await tell_gitring(change, recorded, pairs)
    conflicts = await keep_findings(change, row.id, [found for pair in pairs for found in pair.findings])
    await settle(change, row)
    answer = PublishedIntent(
        intent=intent,
        conflicts=conflicts,
        related_work=in_order(pairs),
        assessment_required=bool(pairs),
        next=ASSESS_NEXT if pairs else None,
        warnings=publish_warnings(publication.scopes),
    )
    return await finish_foremerge(change, command, answer)


async def _add_row(
    change: Change, command: ForemergeCommand, publication: Publication, agent: AgentRow
) -> IntentRow:
    line = await target_line(change, None)
    number = await intents.next_number(change.connection, change.project.id)
    row = _row(change, command, publication, agent, line, number)
    places = places_of(publication.scopes)[:_MOST_PLACES]
    plan = PlanRow(
        intent_id=row.id,
        version=1,
        summary=publication.summary,
        # Of its scopes only files are places: so the rest is seen on pages and by gitring's agents as well.
        steps=[f"{one.operation} {one.text}"[:_MOST_STEP] for one in publication.scopes[:_MOST_STEPS]],
        checks=[],
        scope=Scope(change=[ScopeItem(path=place.path) for place in places]),
        reason=None,
        created_at=change.now,
    )
    await intents.add(change.connection, row, plan, [])
    rows = [("change", place.path, "", ancestors(place.path)) for place in places]
    await set_places(change, row, "declared", rows)
    return row


def _row(
    change: Change,
    command: ForemergeCommand,
    publication: Publication,
    agent: AgentRow,
    line: LineRow,
    number: int,
) -> IntentRow:
    caller = command.caller
    return IntentRow(
        id=command.intent_id,
        project_id=change.project.id,
        number=number,
        title=" ".join(publication.summary.split())[:_MOST_TITLE],
        goal=publication.task,
        kind="change",
        landing="external",
        state=state_of(IntentStatus.INTENT),
        line=line.name,
        base=str(line.head),
        head=None,
        submitted_head=None,
        merged_commit=None,
        plan_version=1,
        plan_approved=None,
        merge_approved=None,
        priority=Priority.NORMAL,
        issue=None,
        risk=Risk.LOW,
        risk_reasons=[],
        person_id=caller.person_id,
        person_name=caller.person_name,
        token_id=caller.token_id,
        by_agent=not caller.is_person,
        agent_name=agent.name,
        session_name=None,
        created_at=change.now,
        state_since=change.now,
        queued_at=None,
    )


async def _add_work(
    change: Change,
    row: IntentRow,
    publication: Publication,
    given: PublishIntentInput,
    agent: AgentRow,
) -> None:
    task_id = await agents.task(
        change.connection,
        task_id=new_id("tsk"),
        project_id=change.project.id,
        key=publication.task_key,
        title=publication.task,
        agent_id=agent.id,
        now=change.now,
    )
    declared = declared_by_foremerge(publication.scopes)
    new = NewWork(
        intent_id=row.id,
        project_id=change.project.id,
        agent_id=agent.id,
        task_id=task_id,
        summary=publication.summary,
        rationale=given.rationale,
        depends_on=list(dict.fromkeys(given.depends_on)),
        metadata=json.dumps(given.metadata, ensure_ascii=False, separators=(",", ":")),
        status=IntentStatus.INTENT,
        summary_likes=kept_under(words(publication.summary), SUMMARIES_ALIKE),
        live=True,
    )
    await work.add(change.connection, new, [new_scope(one) for one in declared], change.now)
