"""The watchdog's seat, its open findings, and the numbers that a monitor reads."""

from collections.abc import Sequence
from datetime import datetime
from typing import NamedTuple

import asyncpg

from protocol.watch import Finding, OpenFinding, WatchKind
from protocol.wire import Record
from storage.sql import live_log

_OPEN = (
    "watch_finding.id, watch_finding.project_id, kind, subject, line, since, said, intent_id, number, check_id, "
    "heals, healed_at, opened_at"
)
# Gauges of more queues than these help nobody.
_MOST_QUEUES = 500


async def take_seat(connection: asyncpg.Connection, holder: str, seconds: float) -> bool:
    """Sit down for `seconds`, or stay; False while another sits there. The record's clock counts."""
    found: str | None = await connection.fetchval(
        "UPDATE watch_seat SET holder = $1, taken_until = clock_timestamp() + make_interval(secs => $2) "
        "WHERE holder = $1 OR taken_until < clock_timestamp() RETURNING holder",
        holder,
        seconds,
    )
    return found is not None


async def leave_seat(connection: asyncpg.Connection, holder: str) -> None:
    """Free the seat for the next one."""
    await connection.execute("UPDATE watch_seat SET taken_until = '-infinity' WHERE holder = $1", holder)


async def looked(connection: asyncpg.Connection) -> None:
    """A whole round came to its end."""
    await connection.execute("UPDATE watch_seat SET looked_at = clock_timestamp()")


async def looked_at(connection: asyncpg.Connection) -> datetime | None:
    """When the watchdog last looked at everything."""
    found: datetime | None = await connection.fetchval("SELECT looked_at FROM watch_seat")
    return found


async def hear(connection: asyncpg.Connection, host: str) -> None:
    """The worker of a host lives."""
    await connection.execute(
        "INSERT INTO watch_host (host, heard_at) VALUES ($1, clock_timestamp()) "
        "ON CONFLICT (host) DO UPDATE SET heard_at = clock_timestamp()",
        host,
    )


async def all_open(connection: asyncpg.Connection) -> list[OpenFinding]:
    """Every open finding."""
    rows = await connection.fetch(f"SELECT {_OPEN} FROM watch_finding WHERE closed_at IS NULL")
    return [OpenFinding(**dict(row)) for row in rows]


async def of_project(connection: asyncpg.Connection, project_id: str, limit: int) -> list[OpenFinding]:
    """The open findings of a project, the longest first."""
    rows = await connection.fetch(
        f"SELECT {_OPEN} FROM watch_finding WHERE project_id = $1 AND closed_at IS NULL "
        "ORDER BY since, id LIMIT $2",
        project_id,
        limit,
    )
    return [OpenFinding(**dict(row)) for row in rows]


class PersonsFinding(Record):
    """A finding in a project in which the person decides."""

    slug: str
    title: str | None
    found: OpenFinding


async def of_person(
    connection: asyncpg.Connection, person_id: str, kinds: Sequence[WatchKind], limit: int
) -> list[PersonsFinding]:
    """Open findings of these kinds in the projects in which the person may act, the longest first."""
    rows = await connection.fetch(
        f"SELECT slug, (SELECT title FROM intent WHERE intent.id = intent_id) AS title, {_OPEN} FROM watch_finding "
        "JOIN project ON project.id = watch_finding.project_id JOIN member ON member.project_id = project.id "
        "AND member.person_id = $1 AND role <> 'viewer' WHERE closed_at IS NULL AND kind = ANY($2) "
        "ORDER BY since, watch_finding.id LIMIT $3",
        person_id,
        list(kinds),
        limit,
    )
    return [
        PersonsFinding(slug=row["slug"], title=row["title"], found=OpenFinding(**dict(row))) for row in rows
    ]


async def open_one(connection: asyncpg.Connection, finding_id: str, found: Finding, now: datetime) -> bool:
    """Keep a finding as open; False when it is open already."""
    made: str | None = await connection.fetchval(
        "INSERT INTO watch_finding (id, project_id, kind, subject, line, intent_id, number, check_id, since, said, "
        "opened_at) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11) "
        "ON CONFLICT (project_id, kind, subject) WHERE closed_at IS NULL DO NOTHING RETURNING id",
        finding_id,
        found.project_id,
        found.kind,
        found.subject,
        found.line,
        found.intent_id,
        found.number,
        found.check_id,
        found.since,
        found.said,
        now,
    )
    return made is not None


async def close_one(connection: asyncpg.Connection, finding_id: str, now: datetime) -> bool:
    """End a finding; False when it ended already."""
    ended: str | None = await connection.fetchval(
        "UPDATE watch_finding SET closed_at = $2 WHERE id = $1 AND closed_at IS NULL RETURNING id",
        finding_id,
        now,
    )
    return ended is not None


async def note_heal(connection: asyncpg.Connection, finding_id: str, now: datetime) -> None:
    """The watchdog is about to set it right once more."""
    await connection.execute(
        "UPDATE watch_finding SET heals = heals + 1, healed_at = $2 WHERE id = $1", finding_id, now
    )


async def forget_old(connection: asyncpg.Connection, before: datetime) -> None:
    """Drop findings that ended before then; the ledger keeps what they were."""
    await connection.execute("DELETE FROM watch_finding WHERE closed_at < $1", before)


async def close_run(connection: asyncpg.Connection, check_id: str, why: str, now: datetime) -> str | None:
    """Give a run that nobody will end its end; the name of its check, None when it ended meanwhile."""
    name: str | None = await connection.fetchval(
        "UPDATE check_run SET state = 'cancelled', summary = $2, finished_at = $3 "
        "WHERE id = $1 AND state = 'running' RETURNING name",
        check_id,
        why,
        now,
    )
    if name is not None:
        await live_log.end(connection, [check_id])
    return name


class QueueLength(NamedTuple):
    """How many stand in a line's queue, and for how long the one that waits longest does."""

    slug: str
    line: str
    queued: int
    oldest_sec: float


class WatchNumbers(NamedTuple):
    """What a monitor reads of the record. `looked_sec`: since the watchdog's last whole round; None before the first."""

    findings: dict[str, int]
    queues: list[QueueLength]
    checks_running: dict[str, int]
    looked_sec: float | None


async def numbers(connection: asyncpg.Connection) -> WatchNumbers:
    """Open findings by kind, queues, running checks by project, and the watchdog's own age."""
    found = await connection.fetch(
        "SELECT kind, count(*) AS found FROM watch_finding WHERE closed_at IS NULL GROUP BY kind"
    )
    queues = await connection.fetch(
        "SELECT slug, line, count(*) AS queued, extract(epoch FROM now() - min(queued_at))::float8 AS oldest_sec "
        "FROM intent JOIN project ON project.id = project_id WHERE queued_at IS NOT NULL GROUP BY slug, line "
        "ORDER BY queued DESC, slug, line LIMIT $1",
        _MOST_QUEUES,
    )
    running = await connection.fetch(
        "SELECT slug, count(*) AS running FROM check_run JOIN project ON project.id = project_id "
        "WHERE state = 'running' GROUP BY slug"
    )
    age: float | None = await connection.fetchval(
        "SELECT extract(epoch FROM now() - looked_at)::float8 FROM watch_seat"
    )
    return WatchNumbers(
        {row["kind"]: row["found"] for row in found},
        [QueueLength(*row) for row in queues],
        {row["slug"]: row["running"] for row in running},
        age,
    )
