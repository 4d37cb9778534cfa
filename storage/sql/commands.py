"""Exactly once: the claim of a `requestId`, and what each command answered."""

from datetime import datetime, timedelta
from typing import Any, NamedTuple

import asyncpg

KEPT = timedelta(hours=24)


class Claim(NamedTuple):
    """A `requestId`'s row. `mine` is True when this call may run the command now."""

    mine: bool
    same_arguments: bool
    command_id: str
    intent_id: str


async def claim(
    connection: asyncpg.Connection,
    *,
    token_id: str,
    tool: str,
    request_id: str,
    digest: bytes,
    command_id: str,
    intent_id: str,
    now: datetime,
    hold: timedelta,
) -> Claim:
    """Claim a requestId for `hold`, or find the row of an earlier call.

    An earlier claim whose time is over, or that is older than 24 hours, is taken over; the former
    keeps its command id, so that the command still runs at most once.
    """
    await connection.execute(
        "DELETE FROM request WHERE token_id = $1 AND tool = $2 AND request_id = $3 AND created_at < $4",
        token_id,
        tool,
        request_id,
        now - KEPT,
    )
    row = await connection.fetchrow(
        "INSERT INTO request AS old (token_id, tool, request_id, digest, command_id, intent_id, claimed_until, "
        "created_at) VALUES ($1, $2, $3, $4, $5, $6, $8, $7) "
        "ON CONFLICT (token_id, tool, request_id) DO UPDATE SET claimed_until = "
        "CASE WHEN old.claimed_until <= $7 AND old.digest = $4 THEN $8 ELSE old.claimed_until END "
        "RETURNING digest, command_id, intent_id, claimed_until",
        token_id,
        tool,
        request_id,
        digest,
        command_id,
        intent_id,
        now,
        now + hold,
    )
    if row is None:
        raise LookupError("an upsert gave no row back")
    return Claim(
        row["claimed_until"] == now + hold, row["digest"] == digest, row["command_id"], row["intent_id"]
    )


async def let_go(
    connection: asyncpg.Connection, token_id: str, tool: str, request_id: str, now: datetime, *, forget: bool
) -> None:
    """End a claim: `forget` it after a refusal (nothing was written), else let a repeat go on at once."""
    key = (token_id, tool, request_id)
    if forget:
        await connection.execute(
            "DELETE FROM request WHERE token_id = $1 AND tool = $2 AND request_id = $3", *key
        )
    else:
        await connection.execute(
            "UPDATE request SET claimed_until = $4 WHERE token_id = $1 AND tool = $2 AND request_id = $3",
            *key,
            now,
        )


async def answer_of(connection: asyncpg.Connection, command_id: str) -> dict[str, Any] | None:
    """What a command answered when it was done, or None when it was not."""
    answer: dict[str, Any] | None = await connection.fetchval(
        "SELECT answer FROM command WHERE id = $1", command_id
    )
    return answer


async def save_answer(
    connection: asyncpg.Connection, command_id: str, project_id: str, answer: dict[str, Any], now: datetime
) -> None:
    """Save a command's answer in the transaction of its write."""
    await connection.execute(
        "INSERT INTO command (id, project_id, answer, created_at) VALUES ($1, $2, $3, $4)",
        command_id,
        project_id,
        answer,
        now,
    )


async def forget_old(connection: asyncpg.Connection) -> int:
    """Drop claims and answers older than 24 hours; returns how many answers went."""
    await connection.execute("DELETE FROM request WHERE created_at < now() - $1::interval", KEPT)
    done = await connection.execute("DELETE FROM command WHERE created_at < now() - $1::interval", KEPT)
    return int(done.rsplit(" ", 1)[1])
