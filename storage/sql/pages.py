"""What only the pages look at: an intent's whole past, what waits for a person, what runs on a line."""

from collections.abc import Sequence
from datetime import datetime

import asyncpg

from protocol.people import Member
from protocol.projects import ProjectSettings
from protocol.records import ConflictRow, IntentRow, PlanRow, PushRow, RequestRow
from protocol.scopes import Scope
from protocol.wire import Record
from storage.sql import intents

# A plan that was sent back waits for its agent; a viewer's word decides nothing.
UNDECIDED = (
    "intent.state IN ('plan_review', 'awaiting_approval') AND NOT EXISTS (SELECT 1 FROM change_request "
    "WHERE intent_id = intent.id AND change_request.kind = 'plan' AND blocking AND closed_at IS NULL)"
)
_DECIDER = (
    "JOIN member ON member.project_id = intent.project_id AND member.person_id = $1 AND role <> 'viewer'"
)


class ClosedRequest(RequestRow):
    """A change request with how it ended."""

    closed_how: str | None


class RunningCheck(Record):
    """A run of the checks that has no verdict yet, and the intents it speaks of."""

    id: str
    line: str
    commit_id: str
    started_at: datetime
    numbers: list[int]


class Waiting(Record):
    """An intent that waits for a decision, its project and that project's rules."""

    intent: IntentRow
    slug: str
    settings: ProjectSettings


class AskedFor(Record):
    """The ask that an intent was declared from."""

    id: str
    person_id: str
    text: str
    person: str
    created_at: datetime


class PausedLine(Record):
    """A line whose queue an owner let stand still while something is in it."""

    slug: str
    line: str
    reason: str
    queued: int
    since: datetime


async def plans(connection: asyncpg.Connection, intent_id: str, limit: int) -> list[PlanRow]:
    """The versions of an intent's plan, the newest first."""
    rows = await connection.fetch(
        "SELECT intent_id, version, summary, steps, checks, scope, reason, created_at FROM plan "
        "WHERE intent_id = $1 ORDER BY version DESC LIMIT $2",
        intent_id,
        limit,
    )
    return [PlanRow(**{**dict(row), "scope": Scope(**row["scope"])}) for row in rows]


async def pushes(connection: asyncpg.Connection, intent_id: str, limit: int) -> list[PushRow]:
    """The pushes of an intent, the newest first."""
    rows = await connection.fetch(
        "SELECT id, intent_id, old_head, new_head, paths, created_at FROM push WHERE intent_id = $1 "
        "ORDER BY created_at DESC, id DESC LIMIT $2",
        intent_id,
        limit,
    )
    return [PushRow(**dict(row)) for row in rows]


async def closed_requests(connection: asyncpg.Connection, intent_id: str, limit: int) -> list[ClosedRequest]:
    """Change requests of an intent that were closed, the newest first."""
    rows = await connection.fetch(
        "SELECT id, project_id, intent_id, from_kind, from_name, kind, conflict_id, check_id, place, reason, todo, "
        "blocking, head, created_at, closed_at, closed_how FROM change_request "
        "WHERE intent_id = $1 AND closed_at IS NOT NULL ORDER BY created_at DESC, id DESC LIMIT $2",
        intent_id,
        limit,
    )
    return [ClosedRequest(**dict(row)) for row in rows]


async def ended_conflicts(connection: asyncpg.Connection, intent_id: str, limit: int) -> list[ConflictRow]:
    """Conflicts of an intent that are over, the newest first."""
    rows = await connection.fetch(
        "SELECT conflict.id, conflict.project_id, first_id, second_id, one.number AS first_number, "
        "two.number AS second_number, range, rule, verdict, places, uses, depends, pushed, conflict.state, "
        "conflict.created_at FROM conflict JOIN intent one ON one.id = first_id JOIN intent two ON two.id = second_id "
        "WHERE conflict.state = 'ended' AND (first_id = $1 OR second_id = $1) "
        "ORDER BY conflict.ended_at DESC, conflict.id LIMIT $2",
        intent_id,
        limit,
    )
    return [ConflictRow(**dict(row)) for row in rows]


async def ask_of(connection: asyncpg.Connection, intent_id: str) -> AskedFor | None:
    """What a person asked for in their own words, when the intent came from that."""
    row = await connection.fetchrow(
        "SELECT ask.id, ask.person_id, text, person.name AS person, ask.created_at FROM ask JOIN person ON person.id = person_id "
        "WHERE intent_id = $1",
        intent_id,
    )
    return AskedFor(**dict(row)) if row else None


async def running_checks(connection: asyncpg.Connection, project_id: str) -> list[RunningCheck]:
    """What is being tested now, by line and start."""
    rows = await connection.fetch(
        "SELECT check_run.id, check_run.line, commit_id, started_at, array_agg(number ORDER BY number) AS numbers "
        "FROM check_run JOIN check_of_intent ON check_id = check_run.id JOIN intent ON intent.id = intent_id "
        "WHERE check_run.project_id = $1 AND check_run.state = 'running' AND intent.state NOT IN ('merged', 'withdrawn') "
        "GROUP BY check_run.id ORDER BY check_run.line, started_at, check_run.id LIMIT 100",
        project_id,
    )
    return [RunningCheck(**dict(row)) for row in rows]


async def waiting_for_a_person(connection: asyncpg.Connection, person_id: str, limit: int) -> list[Waiting]:
    """Intents that stand still until the person, or another of their project, decides; the longest waiting first."""
    rows = await connection.fetch(
        f"SELECT intent.id, slug, settings FROM intent JOIN project ON project.id = intent.project_id {_DECIDER} "
        f"WHERE {UNDECIDED} ORDER BY state_since, intent.id LIMIT $2",
        person_id,
        limit,
    )
    found = await intents.many(connection, [row["id"] for row in rows])
    return [Waiting(intent=found[row["id"]], **dict(row)) for row in rows]


async def paused_lines(connection: asyncpg.Connection, person_id: str) -> list[PausedLine]:
    """Lines of projects the person owns that stand still with intents in their queue."""
    rows = await connection.fetch(
        "SELECT slug, line.name AS line, paused AS reason, count(*) AS queued, min(queued_at) AS since FROM line "
        "JOIN project ON project.id = line.project_id "
        "JOIN member ON member.project_id = project.id AND member.person_id = $1 AND role = 'owner' "
        "JOIN intent ON intent.project_id = project.id AND intent.line = line.name AND queued_at IS NOT NULL "
        "WHERE paused IS NOT NULL GROUP BY slug, line.name, paused ORDER BY since, slug, line.name LIMIT 100",
        person_id,
    )
    return [PausedLine(**dict(row)) for row in rows]


async def members(connection: asyncpg.Connection, project_id: str) -> list[Member]:
    """The people of a project, owners first."""
    rows = await connection.fetch(
        "SELECT person.id, name, role FROM member JOIN person ON person.id = person_id WHERE project_id = $1 "
        "ORDER BY array_position(ARRAY['owner', 'writer', 'viewer'], role), name, person.id LIMIT 500",
        project_id,
    )
    return [Member(**dict(row)) for row in rows]


async def waiting_counts(connection: asyncpg.Connection, project_ids: Sequence[str]) -> dict[str, int]:
    """How many intents wait for a person, by project."""
    rows = await connection.fetch(
        f"SELECT project_id, count(*) AS waiting FROM intent WHERE project_id = ANY($1) AND {UNDECIDED} "
        "GROUP BY project_id",
        list(project_ids),
    )
    return {row["project_id"]: row["waiting"] for row in rows}


async def in_a_project(connection: asyncpg.Connection, person_id: str) -> bool:
    """Whether the person is in any project."""
    found: bool = await connection.fetchval(
        "SELECT EXISTS (SELECT FROM member WHERE person_id = $1)", person_id
    )
    return found


async def waiting_count(connection: asyncpg.Connection, person_id: str) -> int:
    """How many intents in the person's projects wait for somebody's decision."""
    count: int = await connection.fetchval(
        f"SELECT count(*) FROM intent {_DECIDER} WHERE {UNDECIDED}", person_id
    )
    return count
