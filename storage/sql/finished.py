"""Work that came to its end, and what lives now, project by project: what the pages of projects count and list."""

from collections.abc import Sequence
from datetime import datetime
from typing import NamedTuple

import asyncpg

from protocol.states import State
from protocol.wire import Record
from storage.sql.pages import UNDECIDED

FINAL = (State.MERGED, State.WITHDRAWN)


class FinishedRow(Record):
    """A merged or withdrawn intent; `ended_at` is when it became that."""

    number: int
    title: str
    state: State
    line: str
    agent_name: str
    person_name: str
    merged_commit: str | None
    created_at: datetime
    ended_at: datetime


class Sought(NamedTuple):
    """Which finished intents: of these states, on this line, with this text in their title (in any case)."""

    states: Sequence[State] = FINAL
    line: str | None = None
    text: str | None = None


async def finished(
    connection: asyncpg.Connection, project_id: str, sought: Sought, before: int | None, limit: int
) -> list[FinishedRow]:
    """Finished intents of a project with a number below `before`, the highest number first."""
    rows = await connection.fetch(
        "SELECT number, title, state, line, agent_name, person.name AS person_name, merged_commit, intent.created_at, "
        "state_since AS ended_at FROM intent JOIN person ON person.id = person_id "
        "WHERE project_id = $1 AND state = ANY($2) AND ($3::text IS NULL OR line = $3) "
        "AND ($4::text IS NULL OR position(lower($4) IN lower(title)) > 0) AND ($5::bigint IS NULL OR number < $5) "
        "ORDER BY number DESC LIMIT $6",
        project_id,
        list(sought.states),
        sought.line,
        sought.text,
        before,
        limit,
    )
    return [FinishedRow(**dict(row)) for row in rows]


async def live_states(
    connection: asyncpg.Connection, project_ids: Sequence[str]
) -> dict[str, dict[State, int]]:
    """How many live intents are in which state, by project."""
    rows = await connection.fetch(
        "SELECT project_id, state, count(*) AS live FROM intent WHERE project_id = ANY($1) "
        "AND state NOT IN ('merged', 'withdrawn') GROUP BY project_id, state",
        list(project_ids),
    )
    found: dict[str, dict[State, int]] = {}
    for row in rows:
        found.setdefault(row["project_id"], {})[State(row["state"])] = row["live"]
    return {project: {state: by[state] for state in State if state in by} for project, by in found.items()}


class WaitingIntent(NamedTuple):
    """An intent that stands still until a person decides."""

    number: int
    title: str
    state: State
    since: datetime


async def waiting(
    connection: asyncpg.Connection, project_ids: Sequence[str], most: int
) -> dict[str, list[WaitingIntent]]:
    """What waits for a person in each project, the longest waiting first, at most `most` each."""
    rows = await connection.fetch(
        "SELECT found.* FROM unnest($1::text[]) AS project (id), LATERAL (SELECT project_id, number, title, state, "
        f"state_since FROM intent WHERE project_id = project.id AND {UNDECIDED} "
        "ORDER BY state_since, intent.id LIMIT $2) AS found",
        list(project_ids),
        most,
    )
    found: dict[str, list[WaitingIntent]] = {}
    for row in rows:
        entry = WaitingIntent(row["number"], row["title"], State(row["state"]), row["state_since"])
        found.setdefault(row["project_id"], []).append(entry)
    return found
