"""Asks as the pages list them: with whose they are, and what became of the intent that took each up."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any, Literal

import asyncpg

from protocol.states import State
from protocol.wire import Record

AskFate = Literal["open", "taken", "closed"]

_FATES: dict[AskFate, str] = {
    "open": "ask.intent_id IS NULL AND ask.closed_at IS NULL",
    "taken": "ask.intent_id IS NOT NULL",
    "closed": "ask.closed_at IS NOT NULL",
}
_ENTRY = """
    SELECT ask.id, ask.person_id, person.name AS person_name, ask.text, ask.draft, ask.closed_at, ask.created_at,
           intent.number, intent.title, intent.state
    FROM ask JOIN person ON person.id = ask.person_id LEFT JOIN intent ON intent.id = ask.intent_id
"""


class AskEntry(Record):
    """One ask; `number`, `title` and `state` are those of the intent that took it up."""

    id: str
    person_id: str
    person_name: str
    text: str
    draft: dict[str, Any] | None
    closed_at: datetime | None
    created_at: datetime
    number: int | None
    title: str | None
    state: State | None

    @property
    def fate(self) -> AskFate:
        """What became of it."""
        if self.number is not None:
            return "taken"
        return "open" if self.closed_at is None else "closed"


async def listed(
    connection: asyncpg.Connection,
    project_id: str,
    person_id: str | None,
    fate: AskFate,
    before: str | None,
    limit: int,
) -> list[AskEntry]:
    """Asks of a project (of one person when named) that came to this, the newest first; those before the id `before`."""
    rows = await connection.fetch(
        f"{_ENTRY} WHERE ask.project_id = $1 AND ($2::text IS NULL OR ask.person_id = $2) AND {_FATES[fate]} "
        'AND ($3::text IS NULL OR ask.id COLLATE "C" < $3) ORDER BY ask.id COLLATE "C" DESC LIMIT $4',
        project_id,
        person_id,
        before,
        limit,
    )
    return [AskEntry(**dict(row)) for row in rows]


async def counts(
    connection: asyncpg.Connection, project_id: str, person_id: str | None
) -> dict[AskFate, int]:
    """How many asks of a project (of one person when named) came to what."""
    tallies = ", ".join(f"count(*) FILTER (WHERE {test}) AS {fate}" for fate, test in _FATES.items())
    row = await connection.fetchrow(
        f"SELECT {tallies} FROM ask WHERE project_id = $1 AND ($2::text IS NULL OR person_id = $2)",
        project_id,
        person_id,
    )
    return {fate: row[fate] for fate in _FATES} if row else dict.fromkeys(_FATES, 0)


async def open_counts(
    connection: asyncpg.Connection, project_ids: Sequence[str], person_id: str
) -> dict[str, int]:
    """How many asks of a person are open, by project; projects without one are left out."""
    rows = await connection.fetch(
        f"SELECT project_id, count(*) AS open FROM ask WHERE project_id = ANY($1) AND person_id = $2 AND {_FATES['open']} "
        "GROUP BY project_id",
        list(project_ids),
        person_id,
    )
    return {row["project_id"]: row["open"] for row in rows}
