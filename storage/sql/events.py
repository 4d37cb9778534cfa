"""The ledger: one append-only, hash-chained sequence of events per project.

`seq` is handed out under the project's row lock, so commit order is seq order and a reader that has
seen N will never find a smaller one later.
"""

import json
import re
from collections.abc import Sequence
from datetime import UTC, datetime

import asyncpg

from protocol.events import ChainVerdict, Event, NewEvent, compact_json, event_hash
from protocol.ids import new_id
from storage.sql.audit import audit as audit
from storage.sql.pool import UnknownProject

__all__ = ["ChainVerdict", "append", "audit", "last_seq", "last_seq_of_intent", "read_after"]

# Both become a token of a subject, and a subject that cannot be written would stop the relay.
_TOKEN = re.compile(r"[A-Za-z0-9_-]{1,64}")
_LONGEST_ENTITY = 1024

_COLUMNS = "seq, event_id, event_type, entity_type, entity_id, intent_id, agent_id, payload, created_at, prev_hash, event_hash"


async def append(
    connection: asyncpg.Connection, project_id: str, events: Sequence[NewEvent], now: datetime
) -> list[Event]:
    """Add `events`, in order, to the project's ledger; they exist when the caller's transaction commits.

    Call it with the project's lock held. Raises UnknownProject, RuntimeError outside a transaction, and
    ValueError for a time without zone or an id that could not be part of a subject.
    """
    if not connection.is_in_transaction():
        raise RuntimeError("append needs the caller's transaction and its project lock")
    if not events:
        return []
    head = await connection.fetchrow(
        "SELECT event_seq, event_hash FROM project_counter WHERE project_id = $1 FOR UPDATE", project_id
    )
    if head is None:
        raise UnknownProject(project_id)
    chained = _chain(project_id, events, rfc3339(now), head["event_seq"], head["event_hash"])
    await _insert(connection, project_id, chained)
    return [event for event, _ in chained]


async def read_after(
    connection: asyncpg.Connection, project_id: str, after_seq: int, limit: int, intent_id: str | None = None
) -> list[Event]:
    """At most `limit` events with a seq above `after_seq`, oldest first; of one intent if it is named."""
    if intent_id is None:
        rows = await connection.fetch(
            f"SELECT {_COLUMNS} FROM event WHERE project_id = $1 AND seq > $2 ORDER BY seq LIMIT $3",
            project_id,
            after_seq,
            limit,
        )
    else:
        rows = await connection.fetch(
            f"SELECT {_COLUMNS} FROM event WHERE intent_id = $4 AND project_id = $1 AND seq > $2"
            " ORDER BY seq LIMIT $3",
            project_id,
            after_seq,
            limit,
            intent_id,
        )
    return [event_of(row) for row in rows]


async def read_after_of(
    connection: asyncpg.Connection, project_id: str, after_seq: int, limit: int, intent_ids: Sequence[str]
) -> list[Event]:
    """At most `limit` events of these intents with a seq above `after_seq`, oldest first."""
    rows = await connection.fetch(
        f"SELECT {_COLUMNS} FROM event WHERE intent_id = ANY($4) AND project_id = $1 AND seq > $2"
        " ORDER BY seq LIMIT $3",
        project_id,
        after_seq,
        limit,
        list(intent_ids),
    )
    return [event_of(row) for row in rows]


async def last_seq(connection: asyncpg.Connection, project_id: str) -> int:
    """The seq of the project's newest event, 0 for an empty ledger. Raises UnknownProject."""
    seq = await connection.fetchval("SELECT event_seq FROM project_counter WHERE project_id = $1", project_id)
    if seq is None:
        raise UnknownProject(project_id)
    return int(seq)


async def last_seq_of_intent(connection: asyncpg.Connection, intent_id: str) -> int:
    """The seq of the intent's newest event, 0 when it has none."""
    return int(
        await connection.fetchval("SELECT coalesce(max(seq), 0) FROM event WHERE intent_id = $1", intent_id)
    )


def event_of(row: asyncpg.Record) -> Event:
    """The event a row of the ledger holds; columns that are not part of the envelope are left out."""
    fields = {name: row[name] for name in Event.model_fields}
    return Event(**fields | {"payload": json.loads(row["payload"])})


def rfc3339(moment: datetime) -> str:
    """`moment` as the ledger stores it: UTC, microseconds, `Z`. Raises ValueError without a zone."""
    if moment.tzinfo is None:
        raise ValueError("the time of an event needs a zone")
    return moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def _chain(
    project_id: str, events: Sequence[NewEvent], created_at: str, seq: int, prev_hash: str
) -> list[tuple[Event, str]]:
    """Each event with the payload text its hash covers, linked to `prev_hash` at `seq`."""
    chained: list[tuple[Event, str]] = []
    for new in events:
        _require_usable(project_id, new)
        payload_text = compact_json(new.payload)
        event_id = new_id("evt")
        own_hash = event_hash(
            prev_hash,
            event_id,
            new.event_type,
            new.entity_type,
            new.entity_id,
            new.agent_id,
            created_at,
            payload_text,
        )
        seq += 1
        event = Event(
            **new.model_dump(),
            seq=seq,
            event_id=event_id,
            created_at=created_at,
            prev_hash=prev_hash,
            event_hash=own_hash,
        )
        chained.append((event, payload_text))
        prev_hash = own_hash
    return chained


def _require_usable(project_id: str, new: NewEvent) -> None:
    for token in (project_id, new.intent_id):
        if token is not None and not _TOKEN.fullmatch(token):
            raise ValueError(f"{token!r} cannot be part of an event's subject")
    if max(len(new.entity_type), len(new.entity_id), len(new.agent_id or "")) > _LONGEST_ENTITY:
        raise ValueError(f"an event's entity and agent are at most {_LONGEST_ENTITY} characters each")


async def _insert(
    connection: asyncpg.Connection, project_id: str, chained: Sequence[tuple[Event, str]]
) -> None:
    """Move the project's counter and add the rows, both or neither, in one statement."""
    first, last = chained[0][0], chained[-1][0]
    rows = [
        (
            e.seq,
            e.event_id,
            e.event_type,
            e.entity_type,
            e.entity_id,
            e.intent_id,
            e.agent_id,
            text,
            e.prev_hash,
        )
        for e, text in chained
    ]
    columns = list(zip(*rows, strict=True))
    status = await connection.execute(
        """
        WITH head AS (
            UPDATE project_counter SET event_seq = $2, event_hash = $3
            WHERE project_id = $1 AND event_seq = $4 AND event_hash = $5
            RETURNING project_id
        )
        INSERT INTO event (project_id, created_at, seq, event_id, event_type, entity_type, entity_id,
                           intent_id, agent_id, payload, prev_hash, event_hash)
        SELECT head.project_id, $6, added.*
        FROM head, unnest($7::bigint[], $8::text[], $9::text[], $10::text[], $11::text[], $12::text[],
                          $13::text[], $14::text[], $15::text[], $16::text[]) AS added
        """,
        project_id,
        last.seq,
        last.event_hash,
        first.seq - 1,
        first.prev_hash,
        first.created_at,
        *columns,
        [event.event_hash for event, _ in chained],
    )
    if status != f"INSERT 0 {len(chained)}":
        raise RuntimeError(f"the ledger of {project_id} moved under its own lock: {status}")


async def newest_of_intent(connection: asyncpg.Connection, intent_id: str) -> datetime | None:
    """When the intent's newest event was committed; None when it has none."""
    found: str | None = await connection.fetchval(
        "SELECT created_at FROM event WHERE intent_id = $1 ORDER BY seq DESC LIMIT 1", intent_id
    )
    return datetime.fromisoformat(found) if found else None


async def newest_of_intents(connection: asyncpg.Connection, intent_ids: Sequence[str]) -> datetime | None:
    """When the newest event of any of these intents was committed; None when there is none."""
    found: str | None = await connection.fetchval(
        "SELECT max(newest.created_at) FROM unnest($1::text[]) AS mine (id), LATERAL "
        "(SELECT created_at FROM event WHERE intent_id = mine.id ORDER BY seq DESC LIMIT 1) AS newest",
        list(intent_ids),
    )
    return datetime.fromisoformat(found) if found else None


_MOVES_READ = 20


async def landed_near(connection: asyncpg.Connection, intent_id: str) -> list[int]:
    """The numbers of the latest `base.moved` events of an intent since its latest push, oldest first."""
    rows = await connection.fetch(
        "SELECT event_type, payload FROM event WHERE intent_id = $1 "
        "AND event_type IN ('base.moved', 'intent.pushed') ORDER BY seq DESC LIMIT $2",
        intent_id,
        _MOVES_READ,
    )
    found: list[int] = []
    for row in rows:
        if row["event_type"] != "base.moved":
            break
        found = [*json.loads(row["payload"])["merged"], *found]
    return found
