"""Intents, their plans, dependencies and pushes."""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import NamedTuple

import asyncpg

from protocol.intents import DeclareInput, Plan
from protocol.records import DecisionRow, IntentRow, Neighbour, PlanRow, PushedWork
from protocol.states import Risk, State

# An intent that was given back and is mended within this time stands where it stood.
PLACE_KEPT = timedelta(minutes=30)

_INTENT = """
    SELECT intent.id, project_id, number, title, goal, intent.kind, landing, state, line, base, head, submitted_head,
           merged_commit, plan_version, plan_approved, merge_approved, priority, issue, risk, risk_reasons,
           intent.person_id, person.name AS person_name, token_id, token.kind <> 'person' AS by_agent, agent_name,
           session_name, intent.created_at,
           state_since, queued_at, emergency, approved_patch, approved_plan, declared_base,
           outside
    FROM intent JOIN person ON person.id = intent.person_id JOIN token ON token.id = token_id
"""


async def next_number(connection: asyncpg.Connection, project_id: str) -> int:
    """The project's next intent number; the caller holds the project lock."""
    number: int = await connection.fetchval(
        "UPDATE project_counter SET intent_count = intent_count + 1 WHERE project_id = $1 RETURNING intent_count",
        project_id,
    )
    return number


async def add(
    connection: asyncpg.Connection, row: IntentRow, plan: PlanRow, depends_on: Sequence[str]
) -> None:
    """Record a new intent with its first plan."""
    await connection.execute(
        "INSERT INTO intent (id, project_id, number, title, goal, kind, landing, state, line, base, plan_version, "
        "priority, issue, risk, risk_reasons, person_id, token_id, agent_name, session_name, created_at, state_since, "
        "declared_base) "
        "VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $20, $10)",
        row.id,
        row.project_id,
        row.number,
        row.title,
        row.goal,
        row.kind,
        row.landing,
        row.state,
        row.line,
        row.base,
        row.plan_version,
        row.priority,
        row.issue,
        row.risk,
        row.risk_reasons,
        row.person_id,
        row.token_id,
        row.agent_name,
        row.session_name,
        row.created_at,
    )
    await add_plan(connection, plan)
    if depends_on:
        await connection.executemany(
            "INSERT INTO depends_on (intent_id, on_id) VALUES ($1, $2)",
            [(row.id, on_id) for on_id in depends_on],
        )


def first_plan(intent_id: str, given: DeclareInput, now: datetime) -> PlanRow:
    """The plan row of a declare."""
    return plan_row(intent_id, 1, given.plan, None, now)


def plan_row(intent_id: str, version: int, plan: Plan, reason: str | None, now: datetime) -> PlanRow:
    """A plan as its row."""
    return PlanRow(
        intent_id=intent_id,
        version=version,
        summary=plan.summary,
        steps=plan.steps,
        checks=plan.checks,
        scope=plan.scope,
        reason=reason,
        created_at=now,
    )


async def add_plan(connection: asyncpg.Connection, plan: PlanRow) -> None:
    """Record one version of a plan."""
    await connection.execute(
        "INSERT INTO plan (intent_id, version, summary, steps, checks, scope, reason, created_at) "
        "VALUES ($1, $2, $3, $4, $5, $6, $7, $8)",
        plan.intent_id,
        plan.version,
        plan.summary,
        plan.steps,
        plan.checks,
        plan.scope.model_dump(mode="json", exclude_none=True),
        plan.reason,
        plan.created_at,
    )


async def get(connection: asyncpg.Connection, intent_id: str) -> IntentRow | None:
    """One intent."""
    row = await connection.fetchrow(f"{_INTENT} WHERE intent.id = $1", intent_id)
    return IntentRow(**dict(row)) if row else None


async def many(connection: asyncpg.Connection, intent_ids: Sequence[str]) -> dict[str, IntentRow]:
    """Several intents by id."""
    rows = await connection.fetch(f"{_INTENT} WHERE intent.id = ANY($1)", list(intent_ids))
    return {row["id"]: IntentRow(**dict(row)) for row in rows}


async def by_number(connection: asyncpg.Connection, project_id: str, number: int) -> IntentRow | None:
    """One intent of a project by its number."""
    row = await connection.fetchrow(f"{_INTENT} WHERE project_id = $1 AND number = $2", project_id, number)
    return IntentRow(**dict(row)) if row else None


async def live(connection: asyncpg.Connection, project_id: str, after: int, limit: int) -> list[IntentRow]:
    """Live intents with a number above `after`, lowest first."""
    rows = await connection.fetch(
        f"{_INTENT} WHERE project_id = $1 AND state NOT IN ('merged', 'withdrawn') AND number > $2 "
        "ORDER BY number LIMIT $3",
        project_id,
        after,
        limit,
    )
    return [IntentRow(**dict(row)) for row in rows]


async def listed(
    connection: asyncpg.Connection, project_id: str, states: Sequence[State] | None, limit: int
) -> list[IntentRow]:
    """Intents of a project, newest first; with `states`, only those in them."""
    rows = await connection.fetch(
        f"{_INTENT} WHERE project_id = $1 AND ($2::text[] IS NULL OR state = ANY($2)) ORDER BY number DESC LIMIT $3",
        project_id,
        None if states is None else list(states),
        limit,
    )
    return [IntentRow(**dict(row)) for row in rows]


class LiveIntent(NamedTuple):
    """A live intent as the sweep compares it with its workflow."""

    intent_id: str
    project_id: str
    host: str
    state: str


async def live_everywhere(connection: asyncpg.Connection) -> list[LiveIntent]:
    """Every live intent, for the sweep."""
    rows = await connection.fetch(
        "SELECT intent.id AS intent_id, project_id, host, state FROM intent JOIN project ON project.id = project_id "
        "WHERE state NOT IN ('merged', 'withdrawn') ORDER BY intent.created_at"
    )
    return [LiveIntent(**dict(row)) for row in rows]


async def set_state(connection: asyncpg.Connection, intent_id: str, state: State, now: datetime) -> None:
    """Move an intent to `state`. Leaving the queue's states clears its place in the queue, and notes it for a while."""
    await connection.execute(
        "UPDATE intent SET state = $2, state_since = $3, "
        "queued_at = CASE WHEN $2 IN ('verifying', 'queued') THEN queued_at END, "
        "emergency = CASE WHEN $2 IN ('verifying', 'queued') THEN emergency END, "
        "place_kept = CASE WHEN $2 = 'active' AND queued_at IS NOT NULL THEN queued_at ELSE place_kept END, "
        "place_kept_until = CASE WHEN $2 = 'active' AND queued_at IS NOT NULL THEN $4 ELSE place_kept_until END "
        "WHERE id = $1",
        intent_id,
        state,
        now,
        now + PLACE_KEPT,
    )


async def enqueue(connection: asyncpg.Connection, intent_id: str, now: datetime) -> None:
    """Give an intent its place in its line's queue: at the end, or where it stood when it was given back."""
    await connection.execute(
        "UPDATE intent SET queued_at = CASE WHEN place_kept_until > $2 THEN place_kept ELSE $2 END WHERE id = $1",
        intent_id,
        now,
    )


async def set_emergency(connection: asyncpg.Connection, intent_id: str, how: str) -> None:
    """An owner lands it before all others, `checked` or `unchecked`."""
    await connection.execute("UPDATE intent SET emergency = $2 WHERE id = $1", intent_id, how)


async def set_submitted(
    connection: asyncpg.Connection, intent_id: str, head: str, outside: Sequence[str]
) -> None:
    """Pin the head that was submitted, and what it changes outside the plan that nobody accepted."""
    await connection.execute(
        "UPDATE intent SET submitted_head = $2, outside = $3 WHERE id = $1", intent_id, head, list(outside)
    )


async def end_approval(connection: asyncpg.Connection, intent_id: str) -> None:
    """A person sent the merge back: nothing of it is approved any more."""
    await connection.execute("UPDATE intent SET merge_approved = NULL WHERE id = $1", intent_id)


async def accept_outside(connection: asyncpg.Connection, intent_id: str) -> None:
    """A person accepted what the submitted head changes outside the plan."""
    await connection.execute("UPDATE intent SET outside = '{}' WHERE id = $1", intent_id)


async def approve_merge(connection: asyncpg.Connection, row: IntentRow, head: str, patch: str | None) -> None:
    """Record the head that a person approved for the line, what it does, and the plan that stood beside it."""
    await connection.execute(
        "UPDATE intent SET merge_approved = $2, approved_patch = $3, approved_plan = $4 WHERE id = $1",
        row.id,
        head,
        patch,
        row.plan_version,
    )


async def set_merged(connection: asyncpg.Connection, commits: Mapping[str, str], now: datetime) -> None:
    """Make intents merged, each by its merge commit; they leave the queue."""
    await connection.execute(
        "UPDATE intent SET state = 'merged', state_since = $3, merged_commit = landed.commit, queued_at = NULL, "
        "emergency = NULL FROM unnest($1::text[], $2::text[]) AS landed (id, commit) WHERE intent.id = landed.id",
        list(commits.keys()),
        list(commits.values()),
        now,
    )


async def approve_plan(connection: asyncpg.Connection, intent_id: str, version: int) -> None:
    """Record the plan version that a person approved."""
    await connection.execute("UPDATE intent SET plan_approved = $2 WHERE id = $1", intent_id, version)


async def add_push(
    connection: asyncpg.Connection,
    *,
    push_id: str,
    row: IntentRow,
    old: str,
    new: str,
    token_id: str,
    work: PushedWork,
    base: str,
    now: datetime,
) -> None:
    """Record a push and make it the intent's head; `base` is the commit of the line that it stands on."""
    await connection.execute(
        "INSERT INTO push (id, project_id, intent_id, old_head, new_head, token_id, paths, created_at, patch_id, "
        "deleted, signatures) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)",
        push_id,
        row.project_id,
        row.id,
        old,
        new,
        token_id,
        work.paths,
        now,
        work.patch_id,
        work.deleted,
        work.signatures,
    )
    await connection.execute("UPDATE intent SET head = $2, base = $3 WHERE id = $1", row.id, new, base)


async def goes_after(connection: asyncpg.Connection, intent_id: str) -> list[Neighbour]:
    """What an intent declared to go after."""
    rows = await connection.fetch(
        "SELECT id, number, state FROM depends_on JOIN intent ON id = on_id WHERE intent_id = $1 ORDER BY number",
        intent_id,
    )
    return [Neighbour(**dict(row)) for row in rows]


async def followers(connection: asyncpg.Connection, intent_id: str) -> list[Neighbour]:
    """What declared to go after an intent."""
    rows = await connection.fetch(
        "SELECT id, number, state FROM depends_on JOIN intent ON id = intent_id WHERE on_id = $1 ORDER BY number",
        intent_id,
    )
    return [Neighbour(**dict(row)) for row in rows]


async def add_decision(
    connection: asyncpg.Connection, project_id: str, intent_id: str, decision: DecisionRow
) -> None:
    """Record what a person decided."""
    await connection.execute(
        "INSERT INTO decision (id, project_id, intent_id, kind, person_id, plan_version, head, note, created_at) "
        "VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)",
        decision.id,
        project_id,
        intent_id,
        decision.kind,
        decision.person_id,
        decision.plan_version,
        decision.head,
        decision.note,
        decision.created_at,
    )


async def set_risk(
    connection: asyncpg.Connection, intent_id: str, risk: Risk, reasons: Sequence[str]
) -> None:
    """Record an intent's risk, and why."""
    await connection.execute(
        "UPDATE intent SET risk = $2, risk_reasons = $3 WHERE id = $1", intent_id, risk, list(reasons)
    )


async def set_plan_version(connection: asyncpg.Connection, intent_id: str, version: int) -> None:
    """Make a plan version the current one."""
    await connection.execute("UPDATE intent SET plan_version = $2 WHERE id = $1", intent_id, version)


async def set_issue(connection: asyncpg.Connection, intent_id: str, issue: str | None) -> None:
    """Replace the issue that an intent serves."""
    await connection.execute("UPDATE intent SET issue = $2 WHERE id = $1", intent_id, issue)


async def replace_dependencies(
    connection: asyncpg.Connection, intent_id: str, depends_on: Sequence[str]
) -> None:
    """Replace what an intent goes after."""
    await connection.execute("DELETE FROM depends_on WHERE intent_id = $1", intent_id)
    await connection.executemany(
        "INSERT INTO depends_on (intent_id, on_id) VALUES ($1, $2)",
        [(intent_id, on_id) for on_id in depends_on],
    )


async def live_of_person(
    connection: asyncpg.Connection, project_id: str, person_id: str, limit: int
) -> list[IntentRow]:
    """A person's live intents in a project, newest first."""
    rows = await connection.fetch(
        f"{_INTENT} WHERE project_id = $1 AND intent.person_id = $2 AND state NOT IN ('merged', 'withdrawn') "
        "ORDER BY number DESC LIMIT $3",
        project_id,
        person_id,
        limit,
    )
    return [IntentRow(**dict(row)) for row in rows]


async def board_page(
    connection: asyncpg.Connection, project_id: str, first_line: str, after: tuple[str, int], limit: int
) -> list[IntentRow]:
    """Live intents by line, `first_line` before the others, after the (line, number) of a cursor."""
    rows = await connection.fetch(
        f"{_INTENT} WHERE project_id = $1 AND state NOT IN ('merged', 'withdrawn') "
        "AND ($3 = '' OR (line <> $2, line, number) > ($3 <> $2, $3, $4)) "
        "ORDER BY line <> $2, line, number LIMIT $5",
        project_id,
        first_line,
        after[0],
        after[1],
        limit,
    )
    return [IntentRow(**dict(row)) for row in rows]


async def dependency_numbers(
    connection: asyncpg.Connection, intent_ids: Sequence[str]
) -> dict[str, tuple[list[int], list[int]]]:
    """By intent: the live numbers it goes after, and those that go after it."""
    rows = await connection.fetch(
        "SELECT intent_id, on_id, follower.number AS follower, ahead.number AS ahead, "
        "follower.state AS follower_state, ahead.state AS ahead_state FROM depends_on "
        "JOIN intent follower ON follower.id = intent_id JOIN intent ahead ON ahead.id = on_id "
        "WHERE intent_id = ANY($1) OR on_id = ANY($1) ORDER BY follower.number, ahead.number",
        list(intent_ids),
    )
    found: dict[str, tuple[list[int], list[int]]] = {}
    for row in rows:
        if not State(row["ahead_state"]).final:
            found.setdefault(row["intent_id"], ([], []))[0].append(row["ahead"])
        if not State(row["follower_state"]).final:
            found.setdefault(row["on_id"], ([], []))[1].append(row["follower"])
    return found


async def agents_of(connection: asyncpg.Connection, intent_ids: Sequence[str]) -> dict[str, str]:
    """How others see the agent of each intent: `name (agent 2)` where one person has several of that name.

    Two agents are two tokens, or two sessions of one token. They are counted in the order in which they came to
    the project, so that a number stays what it is.
    """
    # The recursion steps from one agent to the next by its index, however many intents each has declared.
    following = (
        "SELECT token_id, coalesce(session_name, '') AS session, number FROM intent "
        "WHERE intent.project_id = {0}.project_id AND intent.person_id = {0}.person_id "
        "AND intent.agent_name = {0}.agent_name{1} ORDER BY token_id, coalesce(session_name, ''), number LIMIT 1"
    )
    after = " AND (token_id, coalesce(session_name, '')) > (agent.token_id, agent.session)"
    rows = await connection.fetch(
        "WITH RECURSIVE whose AS (SELECT DISTINCT project_id, person_id, agent_name FROM intent WHERE id = ANY($1)), "
        f"agent AS (SELECT whose.*, one.* FROM whose, LATERAL ({following.format('whose', '')}) AS one UNION ALL "
        "SELECT project_id, person_id, agent_name, one.* FROM agent, "
        f"LATERAL ({following.format('agent', after)}) AS one), "
        "ranked AS (SELECT project_id, agent_name, token_id, session, row_number() OVER (same ORDER BY number) AS rank, "
        "count(*) OVER (same) AS agents FROM agent WINDOW same AS (PARTITION BY project_id, person_id, agent_name)) "
        "SELECT intent.id, agent_name, rank, agents FROM intent JOIN ranked USING (project_id, token_id, agent_name) "
        "WHERE session = coalesce(session_name, '') AND intent.id = ANY($1)",
        list(intent_ids),
    )
    return {
        row["id"]: f"{row['agent_name']} (agent {row['rank']})" if row["agents"] > 1 else row["agent_name"]
        for row in rows
    }


async def live_heads(connection: asyncpg.Connection, host: str) -> list[tuple[str, str, str | None]]:
    """(intent, project, recorded head) of every live intent whose repository a host owns."""
    rows = await connection.fetch(
        "SELECT intent.id, project_id, head FROM intent JOIN project ON project.id = project_id "
        "WHERE host = $1 AND state NOT IN ('merged', 'withdrawn')",
        host,
    )
    return [(row[0], row[1], row[2]) for row in rows]
