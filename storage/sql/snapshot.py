"""All of one intent, read at one moment."""

import asyncpg

from protocol.records import DecisionRow, IntentRecords, IntentRow, PlanRow, ProjectRow, PushedWork
from protocol.scopes import Scope
from storage.sql import checks, conflicts, events, intents, people, projects
from storage.sql.queue_sight import sight_of_queue


async def read_intent(
    connection: asyncpg.Connection, intent_id: str, *, with_queue: bool = True
) -> IntentRecords | None:
    """The records of an intent, or None. For one moment's truth call it in a repeatable-read
    transaction, or in the transaction that holds the project lock. `with_queue`: also its place there."""
    row = await intents.get(connection, intent_id)
    if row is None:
        return None
    project = await projects.find(connection, row.project_id)
    line = await projects.line(connection, row.project_id, row.line)
    if project is None or line is None:
        raise LookupError(f"intent {intent_id} has no project or line: the record is damaged")
    there = await _there_is(connection, row)
    pushed = await pushed_work(connection, intent_id) if there["pushes"] else PushedWork()
    return IntentRecords(
        intent=row,
        project=project,
        line_head=line.head,
        line_stopped=line.stopped_by,
        line_paused=line.paused,
        plan=await plan(connection, intent_id, row.plan_version),
        conflicts=await conflicts.open_of(connection, [intent_id]) if there["conflicts"] else [],
        requests=await conflicts.requests_of(connection, intent_id) if there["requests"] else [],
        pushed_paths=pushed.paths,
        pushed=pushed,
        checks=await checks.of_intent(connection, intent_id) if there["checks"] else [],
        decisions=await decisions(connection, intent_id) if there["decisions"] else [],
        goes_after=await intents.goes_after(connection, intent_id) if there["goes_after"] else [],
        followers=await intents.followers(connection, intent_id) if there["followers"] else [],
        landed_near=await events.landed_near(connection, intent_id) if there["moves"] else [],
        queue=await sight_of_queue(connection, row) if with_queue else None,
        people=await people.names_of(connection, _writers(project)),
        after_seq=there["after_seq"],
    )


async def _there_is(connection: asyncpg.Connection, row: IntentRow) -> asyncpg.Record:
    """Which lists of an intent hold anything, and the last event: most are empty, and reading each costs a round trip
    that everybody who writes in the project waits for."""
    found = await connection.fetchrow(
        """
        SELECT EXISTS (SELECT FROM conflict WHERE state = 'open' AND first_id = $1)
               OR EXISTS (SELECT FROM conflict WHERE state = 'open' AND second_id = $1) AS conflicts,
               EXISTS (SELECT FROM change_request WHERE intent_id = $1 AND closed_at IS NULL) AS requests,
               EXISTS (SELECT FROM push WHERE intent_id = $1) AS pushes,
               EXISTS (SELECT FROM check_of_intent WHERE intent_id = $1) AS checks,
               EXISTS (SELECT FROM decision WHERE intent_id = $1) AS decisions,
               EXISTS (SELECT FROM depends_on WHERE intent_id = $1) AS goes_after,
               EXISTS (SELECT FROM depends_on WHERE on_id = $1) AS followers,
               EXISTS (SELECT FROM event WHERE intent_id = $1 AND event_type = 'base.moved') AS moves,
               (SELECT event_seq FROM project_counter WHERE project_id = $2) AS after_seq
        """,
        row.id,
        row.project_id,
    )
    assert found is not None
    return found


def _writers(project: ProjectRow) -> list[str]:
    return sorted({person for named in project.settings.folder_writers.values() for person in named})


async def plan(connection: asyncpg.Connection, intent_id: str, version: int) -> PlanRow:
    """One version of an intent's plan."""
    row = await connection.fetchrow(
        "SELECT intent_id, version, summary, steps, checks, scope, reason, created_at FROM plan "
        "WHERE intent_id = $1 AND version = $2",
        intent_id,
        version,
    )
    if row is None:
        raise LookupError(f"intent {intent_id} has no plan version {version}: the record is damaged")
    return PlanRow(**{**dict(row), "scope": Scope(**row["scope"])})


async def pushed_work(connection: asyncpg.Connection, intent_id: str) -> PushedWork:
    """What the latest push does against the line."""
    row = await connection.fetchrow(
        "SELECT paths, deleted, signatures, patch_id FROM push WHERE intent_id = $1 "
        "ORDER BY created_at DESC, id DESC LIMIT 1",
        intent_id,
    )
    return PushedWork(**dict(row)) if row else PushedWork()


async def patch_of(connection: asyncpg.Connection, intent_id: str, head: str) -> str | None:
    """The hash of what a pushed head does; None for a head that has none."""
    found: str | None = await connection.fetchval(
        "SELECT patch_id FROM push WHERE intent_id = $1 AND new_head = $2 ORDER BY created_at DESC LIMIT 1",
        intent_id,
        head,
    )
    return found


async def decisions(connection: asyncpg.Connection, intent_id: str) -> list[DecisionRow]:
    """What people decided about an intent, oldest first."""
    rows = await connection.fetch(
        "SELECT decision.id, kind, person_id, person.name AS person_name, plan_version, head, note, "
        "decision.created_at FROM decision JOIN person ON person.id = person_id WHERE intent_id = $1 "
        "ORDER BY decision.created_at, decision.id",
        intent_id,
    )
    return [DecisionRow(**dict(row)) for row in rows]
