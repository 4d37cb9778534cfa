"""Claims: leases that end by being read, or by an event."""

from collections.abc import Sequence
from datetime import datetime

import asyncpg

from protocol.foremerge.claims import Claim
from protocol.foremerge.scopes import PlainScope
from protocol.foremerge.words import ClaimStatus, ScopeKind
from protocol.wire import Record
from storage.sql.foremerge.hashes import short_hash

_CLAIM = "SELECT fm_claim.id, agent_id, intent_id, kind, key, reason, lease_expires_at, created_at, released_at FROM fm_claim"


class ClaimRow(Record):
    """A claim as kept."""

    id: str
    agent_id: str
    intent_id: str
    kind: ScopeKind
    key: str
    reason: str | None
    lease_expires_at: datetime
    created_at: datetime
    released_at: datetime | None

    @property
    def scope(self) -> PlainScope:
        """What is claimed."""
        return PlainScope(kind=self.kind, key=self.key)

    def shown(self, now: datetime) -> Claim:
        """The claim as answers show it: a lease that has passed is EXPIRED."""
        running = ClaimStatus.ACTIVE if self.lease_expires_at > now else ClaimStatus.EXPIRED
        return Claim(
            **self.model_dump(exclude={"kind", "key", "released_at"}),
            scope=self.scope,
            status=ClaimStatus.RELEASED if self.released_at else running,
        )


async def with_aliases(
    connection: asyncpg.Connection, project_id: str, aliases: Sequence[str]
) -> list[ClaimRow]:
    """Claims on these aliases that no event ended."""
    rows = await connection.fetch(
        f"{_CLAIM} WHERE project_id = $1 AND alias_hash = ANY($2) AND released_at IS NULL ORDER BY created_at, id",
        project_id,
        [short_hash(alias) for alias in aliases],
    )
    return [ClaimRow(**dict(row)) for row in rows]


async def keep(
    connection: asyncpg.Connection, project_id: str, row: ClaimRow, precise: str, alias: str
) -> None:
    """Record a claim, or renew it: lease, reason and spelling are the new ones."""
    await connection.execute(
        "INSERT INTO fm_claim (id, project_id, intent_id, agent_id, kind, key, precise_hash, alias_hash, reason, "
        "lease_expires_at, created_at) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11) "
        "ON CONFLICT (id) DO UPDATE SET kind = $5, key = $6, reason = $9, lease_expires_at = $10",
        row.id,
        project_id,
        row.intent_id,
        row.agent_id,
        row.kind,
        row.key,
        short_hash(precise),
        short_hash(alias),
        row.reason,
        row.lease_expires_at,
        row.created_at,
    )


async def get(connection: asyncpg.Connection, claim_id: str) -> ClaimRow:
    """One claim that must be there."""
    row = await connection.fetchrow(f"{_CLAIM} WHERE id = $1", claim_id)
    if row is None:
        raise LookupError(f"claim {claim_id} is not in the record")
    return ClaimRow(**dict(row))


async def of_intents(connection: asyncpg.Connection, intent_ids: Sequence[str]) -> dict[str, list[ClaimRow]]:
    """Every claim that these intents ever held, the oldest first."""
    rows = await connection.fetch(
        f"{_CLAIM} WHERE intent_id = ANY($1) ORDER BY created_at, id", list(intent_ids)
    )
    found: dict[str, list[ClaimRow]] = {intent_id: [] for intent_id in intent_ids}
    for row in rows:
        found[row["intent_id"]].append(ClaimRow(**dict(row)))
    return found


async def of_project(connection: asyncpg.Connection, project_id: str, limit: int) -> list[ClaimRow]:
    """Claims of a project that no event ended, the oldest first."""
    rows = await connection.fetch(
        f"{_CLAIM} WHERE project_id = $1 AND released_at IS NULL ORDER BY created_at, id LIMIT $2",
        project_id,
        limit,
    )
    return [ClaimRow(**dict(row)) for row in rows]


async def running(connection: asyncpg.Connection, intent_id: str, now: datetime) -> int:
    """How many claims of an intent run."""
    count: int = await connection.fetchval(
        "SELECT count(*) FROM fm_claim WHERE intent_id = $1 AND released_at IS NULL AND lease_expires_at > $2",
        intent_id,
        now,
    )
    return count


async def release_some(connection: asyncpg.Connection, claim_ids: Sequence[str], now: datetime) -> None:
    """End these claims."""
    await connection.execute(
        "UPDATE fm_claim SET released_at = $2 WHERE id = ANY($1) AND released_at IS NULL",
        list(claim_ids),
        now,
    )


async def release(connection: asyncpg.Connection, intent_id: str, now: datetime) -> list[str]:
    """End the claims of an intent; the ids of those that ended."""
    rows = await connection.fetch(
        "UPDATE fm_claim SET released_at = $2 WHERE intent_id = $1 AND released_at IS NULL RETURNING id",
        intent_id,
        now,
    )
    return [row["id"] for row in rows]
