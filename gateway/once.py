"""Exactly once for writes that are one transaction: the `requestId`'s claim, the write and its answer commit together.

Two calls at once with one `requestId` meet at the claim's row: the later one waits there, then finds the answer saved.
"""

import hashlib
import json
from datetime import datetime, timedelta
from typing import Any, NamedTuple

import asyncpg

from protocol.ids import new_id
from protocol.projects import Caller
from protocol.refusals import refused, request_reused
from protocol.wire import Input
from storage.sql import commands

_NO_TIME = timedelta(0)


class Once(NamedTuple):
    """One repeatable write of a project. `saved` is what it answered before, or None when this call does it."""

    command_id: str
    project_id: str
    saved: dict[str, Any] | None

    async def save(self, connection: asyncpg.Connection, answer: dict[str, Any], now: datetime) -> None:
        """Keep the answer, in the transaction of the write."""
        await commands.save_answer(connection, self.command_id, self.project_id, answer, now)


def digest(subject: str, given: Input) -> bytes:
    """Of what a call is about and its arguments as given, without the `requestId` itself."""
    fields = given.model_dump(mode="json", by_alias=True, exclude_unset=True, exclude={"request_id"})
    return hashlib.sha256(json.dumps([subject, fields], sort_keys=True).encode()).digest()


async def claim(
    connection: asyncpg.Connection,
    caller: Caller,
    tool: str,
    request_id: str,
    given: Input,
    project_id: str,
    now: datetime,
) -> Once:
    """Claim a `requestId` for the transaction at hand, or find what the first call with it answered.

    Refuses `idempotency_key_reused` for other arguments, and a browser session: only tokens repeat calls.
    """
    if not caller.token_id.startswith("tok_"):
        raise refused("invalid_input", "A browser session sends no requestId.", "Leave it out.", 400)
    found = await commands.claim(
        connection,
        token_id=caller.token_id,
        tool=tool,
        request_id=request_id,
        digest=digest(project_id, given),
        command_id=new_id("cmd"),
        intent_id="",
        now=now,
        hold=_NO_TIME,
    )
    if not found.same_arguments:
        raise request_reused()
    return Once(found.command_id, project_id, await commands.answer_of(connection, found.command_id))
