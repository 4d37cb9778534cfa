"""Checking a ledger: recompute the chain of one project from its first row to its head."""

from typing import NamedTuple

import asyncpg

from protocol.events import GENESIS, ChainVerdict, event_hash
from storage.sql.pool import UnknownProject

# Below any seq a forged row could carry.
_BEFORE_ALL = -(2**63)


class _Good(NamedTuple):
    """How far the chain holds: the last good seq (also the number of rows verified) and its hash."""

    seq: int = 0
    head: str = GENESIS


async def audit(connection: asyncpg.Connection, project_id: str, page: int = 1000) -> ChainVerdict:
    """Recompute the project's whole chain on one snapshot, `page` rows at a time; it never writes.

    Stops at the first row whose seq, prev_hash or event_hash does not follow and names it. A ledger
    that ends before or beside the head its project remembers is reported as cut off. The connection
    must be outside a transaction. Raises UnknownProject.
    """
    async with connection.transaction(isolation="repeatable_read", readonly=True):
        head = await connection.fetchrow(
            "SELECT event_seq, event_hash FROM project_counter WHERE project_id = $1", project_id
        )
        if head is None:
            raise UnknownProject(project_id)
        newest = await connection.fetchval(
            "SELECT coalesce(max(seq), $2) FROM event WHERE project_id = $1", project_id, _BEFORE_ALL
        )
        good, after = _Good(), _BEFORE_ALL
        while after < newest:
            for row in await _page(connection, project_id, after, newest, page):
                fault = _fault(row, good)
                if fault is not None:
                    return _broken(good, row["seq"], fault)
                good = _Good(row["seq"], row["event_hash"])
            after = good.seq
        return _against_head(good, head["event_seq"], head["event_hash"])


async def _page(
    connection: asyncpg.Connection, project_id: str, after: int, newest: int, page: int
) -> list[asyncpg.Record]:
    return await connection.fetch(
        "SELECT * FROM event WHERE project_id = $1 AND seq > $2 AND seq <= $3 ORDER BY seq LIMIT $4",
        project_id,
        after,
        newest,
        page,
    )


def _fault(row: asyncpg.Record, good: _Good) -> str | None:
    """What is wrong with `row` as the successor of the last good one, or None."""
    if row["seq"] != good.seq + 1:
        return f"seq {good.seq + 1} is missing"
    if row["prev_hash"] != good.head:
        return "prev_hash is not the hash of the row before it"
    computed = event_hash(
        row["prev_hash"],
        row["event_id"],
        row["event_type"],
        row["entity_type"],
        row["entity_id"],
        row["agent_id"],
        row["created_at"],
        row["payload"],
    )
    return None if row["event_hash"] == computed else "event_hash does not match the row's content"


def _against_head(good: _Good, counted: int, remembered: str) -> ChainVerdict:
    """The chain is sound as far as it goes; does it go as far as the project remembers?"""
    if good.seq < counted:
        fault = f"the ledger ends at seq {good.seq}, but its project counted {counted}: its end was cut off"
        return _broken(good, good.seq + 1, fault)
    if good.seq > counted:
        fault = f"the ledger goes on to seq {good.seq}, but its project counted {counted}"
        return _broken(good, counted + 1, fault)
    if good.head != remembered:
        return _broken(good, good.seq, "the last row's hash is not the head its project remembers")
    return ChainVerdict(valid=True, events_verified=good.seq, **_last(good))


def _broken(good: _Good, seq: int, fault: str) -> ChainVerdict:
    return ChainVerdict(
        valid=False,
        events_verified=good.seq,
        first_bad_seq=seq,
        reason=f"seq {seq}: {fault}",
        **_last(good),
    )


def _last(good: _Good) -> dict[str, object]:
    return {"last_seq": good.seq or None, "head_hash": good.head if good.seq else None}
