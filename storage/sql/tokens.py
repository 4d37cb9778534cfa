"""Tokens: random secrets of which only the SHA-256 is kept, so that the record alone opens nothing."""

import hashlib
import secrets
from collections.abc import Sequence
from datetime import datetime

import asyncpg

from protocol.ids import new_id
from protocol.projects import Caller, TokenInfo, TokenKind

_SECRET_BYTES = 32
_LONGEST = 200

_INFO = """
SELECT token.id, token.name, token.kind, token.created_at, token.expires_at, token.revoked_at,
       ARRAY(SELECT slug FROM project WHERE project.id = ANY (token.project_ids) ORDER BY slug) AS projects
FROM token
"""


def secret_of(kind: TokenKind) -> str:
    """A fresh secret: `gitring_<kind>_` and 32 random bytes in URL-safe letters."""
    return f"gitring_{kind.value}_{secrets.token_urlsafe(_SECRET_BYTES)}"


def hash_of(raw: str) -> bytes:
    """What the record keeps of a secret. A fast hash is enough: the secret is random, not chosen by a person."""
    return hashlib.sha256(raw.encode("utf-8", "surrogatepass")).digest()


async def create(
    connection: asyncpg.Connection,
    *,
    kind: TokenKind,
    name: str,
    person_id: str,
    project_ids: Sequence[str],
    now: datetime,
    expires_at: datetime | None = None,
    parent_id: str | None = None,
    credential_helper: bool = False,
    token_id: str | None = None,
) -> tuple[str, str]:
    """Keep a new token; its id and its secret, which cannot be read again. `project_ids` is empty for a person's."""
    chosen = token_id or new_id("tok")
    secret = secret_of(kind)
    await connection.execute(
        "INSERT INTO token (id, hash, kind, name, person_id, project_ids, parent_id, credential_helper,"
        " created_at, expires_at) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)",
        chosen,
        hash_of(secret),
        kind.value,
        name,
        person_id,
        list(project_ids),
        parent_id,
        credential_helper,
        now,
        expires_at,
    )
    return chosen, secret


async def find_by_secret(connection: asyncpg.Connection, raw: str, now: datetime) -> Caller | None:
    """The caller whose secret `raw` is; None when it is unknown, expired or revoked, or the token it came from is.

    `project_ids` is as stored: empty for a person's token, which opens every project the person is a member of.
    """
    if len(raw) > _LONGEST:
        return None
    row = await connection.fetchrow(
        "SELECT token.id, token.kind, token.name, token.project_ids, token.credential_helper,"
        " person.id AS person_id, person.name AS person_name"
        " FROM token JOIN person ON person.id = token.person_id"
        " LEFT JOIN token AS parent ON parent.id = token.parent_id"
        " WHERE token.hash = $1 AND token.revoked_at IS NULL"
        " AND (token.expires_at IS NULL OR token.expires_at > $2)"
        " AND parent.revoked_at IS NULL AND (parent.expires_at IS NULL OR parent.expires_at > $2)",
        hash_of(raw),
        now,
    )
    if row is None or not raw.startswith(f"gitring_{row['kind']}_"):
        return None
    return Caller(
        token_id=row["id"],
        kind=TokenKind(row["kind"]),
        token_name=row["name"],
        person_id=row["person_id"],
        person_name=row["person_name"],
        project_ids=list(row["project_ids"]),
        credential_helper=row["credential_helper"],
    )


async def list_of_person(connection: asyncpg.Connection, person_id: str) -> list[TokenInfo]:
    """The person's tokens that live on their own (no git tokens), newest first; projects as slugs."""
    rows = await connection.fetch(
        f"{_INFO} WHERE token.person_id = $1 AND token.parent_id IS NULL ORDER BY token.created_at DESC, token.id",
        person_id,
    )
    return [_info(row) for row in rows]


async def revoke(
    connection: asyncpg.Connection, token_id: str, person_id: str, now: datetime
) -> TokenInfo | None:
    """Revoke the person's token, and with it what was made from it; a second time changes nothing.

    None when the person has no such token.
    """
    await connection.execute(
        "UPDATE token SET revoked_at = $3 WHERE person_id = $2 AND revoked_at IS NULL"
        " AND (id = $1 OR parent_id = $1)",
        token_id,
        person_id,
        now,
    )
    row = await connection.fetchrow(
        f"{_INFO} WHERE token.id = $1 AND token.person_id = $2", token_id, person_id
    )
    return _info(row) if row else None


def _info(row: asyncpg.Record) -> TokenInfo:
    return TokenInfo(
        id=row["id"],
        name=row["name"],
        kind=TokenKind(row["kind"]),
        projects=list(row["projects"]),
        created_at=row["created_at"],
        expires_at=row["expires_at"],
        revoked_at=row["revoked_at"],
    )


async def projects_of(connection: asyncpg.Connection, token_id: str) -> list[str]:
    """The ids of the projects a token opens: those it names, or, for a person's, all of the person's."""
    found: list[str] | None = await connection.fetchval(
        "SELECT CASE kind WHEN 'person' THEN ARRAY(SELECT project_id FROM member WHERE person_id = token.person_id) "
        "ELSE project_ids END FROM token WHERE id = $1",
        token_id,
    )
    return found or []


async def lives(connection: asyncpg.Connection, token_id: str, now: datetime) -> bool:
    """Whether a token, or the browser session of this id, is still good: what is held open for it ends otherwise."""
    alive: bool = await connection.fetchval(
        "SELECT EXISTS (SELECT 1 FROM token WHERE id = $1 AND revoked_at IS NULL"
        " AND (expires_at IS NULL OR expires_at > $2))"
        " OR EXISTS (SELECT 1 FROM session WHERE id = $1 AND ended_at IS NULL AND expires_at > $2)",
        token_id,
        now,
    )
    return alive
