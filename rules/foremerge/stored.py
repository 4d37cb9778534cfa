"""Between the rows of this face and what its rules compare and its answers show."""

import json
from collections.abc import Iterable, Mapping, Sequence

from protocol.foremerge.conflicts import OpenConflicts
from protocol.foremerge.intents import Intent
from protocol.foremerge.records import AgentRow, Lookup, NewScope, ScopeRow, WorkRow
from protocol.foremerge.scopes import ScopeClaim
from rules.foremerge.alike import SCOPES_ALIKE, SUMMARIES_ALIKE, kept_under, sought_under
from rules.foremerge.refusing import forbidden, missing
from rules.foremerge.related import Neighbour
from rules.foremerge.subjects import Declared, Subject, declared, subject
from rules.places import Place, ancestors


def new_scope(one: Declared) -> NewScope:
    """A scope as it is kept."""
    return NewScope(
        one.claim.kind,
        one.claim.key,
        one.claim.operation,
        one.claim.inferred,
        one.precise,
        one.alias,
        one.key,
        kept_under(one.words, SCOPES_ALIKE),
        one.place.path if one.place else None,
        one.place.symbol if one.place else "",
    )


def scope_claim(row: ScopeRow) -> ScopeClaim:
    """A kept scope as answers show it."""
    return ScopeClaim(kind=row.kind, key=row.key, operation=row.operation, inferred=row.inferred)


def subject_of(work: WorkRow, scopes: Iterable[ScopeRow]) -> Subject:
    """A recorded intent made ready to compare."""
    found = [
        declared(
            scope_claim(row),
            Place(row.path, row.symbol) if row.path is not None else None,
            of_gitring=work.of_gitring,
        )
        for row in scopes
    ]
    return subject(work.id, work.summary, found)


def neighbours_of(
    works: Sequence[WorkRow],
    scopes: Mapping[str, Sequence[ScopeRow]],
    agents: Mapping[str, AgentRow],
) -> list[Neighbour]:
    """Other intents made ready to compare, in the order given."""
    return [
        Neighbour(
            subject_of(work, scopes.get(work.id, ())),
            work.agent_id,
            agents[work.agent_id].name,
            work.task,
            work.summary,
            work.status,
        )
        for work in works
    ]


def lookup_of(own: Subject) -> Lookup:
    """By what the neighbours of an intent are found."""
    paths = sorted({one.place.path for one in own.declared if one.place})
    likes = {key for one in own.declared for key in sought_under(one.words, SCOPES_ALIKE)}
    return Lookup(
        sorted({one.alias for one in own.declared}),
        sorted({one.key for one in own.declared}),
        sorted(likes),
        sought_under(own.words, SUMMARIES_ALIKE),
        paths,
        sorted({above for path in paths for above in ancestors(path)}),
    )


def shown_intent(
    work: WorkRow, scopes: Iterable[ScopeRow], open_conflicts: OpenConflicts | None = None
) -> Intent:
    """An intent as answers show it."""
    return Intent(
        id=work.id,
        agent_id=work.agent_id,
        task_id=work.task_id,
        task=work.task,
        summary=work.summary,
        rationale=work.rationale,
        scopes=[scope_claim(row) for row in scopes],
        depends_on=work.depends_on,
        metadata=json.loads(work.metadata),
        status=work.status,
        created_at=work.created_at,
        updated_at=work.updated_at,
        open_conflicts=open_conflicts,
    )


def must_know(agent: AgentRow | None, agent_id: str, project_id: str) -> AgentRow:
    """The agent, or NOT_FOUND when this project has none of that id."""
    if agent is None or agent.project_id != project_id:
        raise missing(f"agent {agent_id[:100]}", "Call register_agent once and use the id it answers.")
    return agent


def must_act(agent: AgentRow | None, agent_id: str, project_id: str, person_id: str) -> AgentRow:
    """The agent, when the caller's person registered it; NOT_FOUND or FORBIDDEN otherwise."""
    known = must_know(agent, agent_id, project_id)
    if known.of_gitring:
        raise forbidden(
            f"Agent {known.id} stands for a token that works with gitring's own tools.",
            "Act with an id that register_agent answered.",
        )
    if known.person_id != person_id:
        raise forbidden(
            f"Agent {known.id} was registered for another person.", "Register an agent of your own."
        )
    return known


def must_be_there(work: WorkRow | None, intent_id: str, project_id: str) -> WorkRow:
    """The intent, or NOT_FOUND when this project has none of that id."""
    if work is None or work.project_id != project_id:
        raise missing(f"intent {intent_id[:100]}", "Find it with query_work.")
    return work
