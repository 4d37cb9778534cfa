"""Sign-in links and sessions: random secrets of which only the SHA-256 is kept."""

import secrets
from collections.abc import Sequence
from datetime import datetime, timedelta

import asyncpg

from protocol.ids import new_id
from protocol.people import SessionInfo
from protocol.wire import Record
from storage.sql.tokens import hash_of

SESSION_LIFE = timedelta(days=30)
SESSION_IDLE = timedelta(days=7)
_SEEN_EVERY = timedelta(minutes=5)
_LONGEST = 200
_BROWSER_CHARS = 200

_LIVE = "session.ended_at IS NULL AND session.expires_at > {now} AND session.seen_at > {idle}"


class SessionRow(Record):
    """A live session and its person."""

    id: str
    person_id: str
    person_name: str


async def make_link(
    connection: asyncpg.Connection, person_id: str, made_by: str | None, now: datetime, life: timedelta
) -> str:
    """Keep a new sign-in link of a person; its secret, which cannot be read again. Earlier unused ones end."""
    await connection.execute(
        "UPDATE sign_in_link SET expires_at = $2 WHERE person_id = $1 AND used_at IS NULL AND expires_at > $2",
        person_id,
        now,
    )
    secret = f"gitring_signin_{secrets.token_urlsafe(32)}"
    await connection.execute(
        "INSERT INTO sign_in_link (id, hash, person_id, made_by, created_at, expires_at) "
        "VALUES ($1, $2, $3, $4, $5, $6)",
        new_id("sil"),
        hash_of(secret),
        person_id,
        made_by,
        now,
        now + life,
    )
    return secret


async def use_link(connection: asyncpg.Connection, secret: str, now: datetime) -> str | None:
    """The person whose unused link this is, and the link is used up; None for any other secret."""
    if len(secret) > _LONGEST:
        return None
    person: str | None = await connection.fetchval(
        "UPDATE sign_in_link SET used_at = $2 WHERE hash = $1 AND used_at IS NULL AND expires_at > $2 "
        "RETURNING person_id",
        hash_of(secret),
        now,
    )
    return person


async def start(
    connection: asyncpg.Connection, person_id: str, method: str, browser: str, now: datetime
) -> str:
    """Begin a session; the secret for its cookie."""
    secret = secrets.token_urlsafe(32)
    await connection.execute(
        "INSERT INTO session (id, hash, person_id, method, browser, created_at, seen_at, expires_at) "
        "VALUES ($1, $2, $3, $4, $5, $6, $6, $7)",
        new_id("ses"),
        hash_of(secret),
        person_id,
        method,
        browser[:_BROWSER_CHARS],
        now,
        now + SESSION_LIFE,
    )
    return secret


async def find(connection: asyncpg.Connection, secret: str, now: datetime) -> SessionRow | None:
    """The live session of a cookie; None when it ended, expired, lay idle too long or never was."""
    if len(secret) > _LONGEST:
        return None
    row = await connection.fetchrow(
        "SELECT session.id, person_id, person.name AS person_name, seen_at FROM session "
        f"JOIN person ON person.id = person_id WHERE hash = $1 AND {_LIVE.format(now='$2', idle='$3')}",
        hash_of(secret),
        now,
        now - SESSION_IDLE,
    )
    if row is None:
        return None
    if row["seen_at"] < now - _SEEN_EVERY:
        await connection.execute("UPDATE session SET seen_at = $2 WHERE id = $1", row["id"], now)
    return SessionRow(**dict(row))


async def list_of_person(
    connection: asyncpg.Connection, person_id: str, now: datetime
) -> Sequence[SessionInfo]:
    """A person's live sessions, the newest first."""
    rows = await connection.fetch(
        "SELECT id, method, browser, created_at, seen_at, expires_at FROM session WHERE person_id = $1 "
        f"AND {_LIVE.format(now='$2', idle='$3')} ORDER BY created_at DESC, id DESC",
        person_id,
        now,
        now - SESSION_IDLE,
    )
    return [SessionInfo(**dict(row)) for row in rows]


async def end(connection: asyncpg.Connection, session_id: str, person_id: str, now: datetime) -> bool:
    """End one of the person's sessions; False when there is no such live one."""
    ended = await connection.fetchval(
        "UPDATE session SET ended_at = $3 WHERE id = $1 AND person_id = $2 AND ended_at IS NULL RETURNING id",
        session_id,
        person_id,
        now,
    )
    return ended is not None
