"""One command, exactly once: claim the requestId, send the update, give back the answer or the refusal.

The key of exactly-once is the command id. The activity saves its answer in the transaction of its write, so
whatever is killed in between, a repeat finds either the answer or a record in which nothing happened.
"""

import hashlib
import json
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta

import asyncpg
import structlog
from temporalio.client import Client

from gateway.busy import RecordOrBusy
from gateway.sending import Answer, Sender, StaleClaim
from protocol.commands import Command
from protocol.ids import new_id
from protocol.projects import Caller
from protocol.records import IntentRow, ProjectRow
from protocol.refusals import Refused, already_done, request_in_progress, request_reused
from protocol.wire import Input
from storage.sql import commands

CLAIM = timedelta(seconds=20)
REPEATED = "Answer of the first call with this requestId."

_log = structlog.get_logger("gateway.commands")


@dataclass(frozen=True)
class Call:
    """One write as it came in."""

    caller: Caller
    tool: str
    input: Input
    request_id: str | None
    project: ProjectRow
    intent_id: str
    command_id: str
    intent: IntentRow | None = None

    def digest(self) -> bytes:
        """Of the arguments as given, without the requestId itself."""
        given = self.input.model_dump(mode="json", by_alias=True, exclude_unset=True, exclude={"request_id"})
        text = json.dumps([self.intent_id if self.tool != "gitring_declare" else "", given], sort_keys=True)
        return hashlib.sha256(text.encode()).digest()


Build = Callable[[Call], Command]


class Commands:
    """Sends commands of intents to their workflows."""

    def __init__(self, pool: asyncpg.Pool, client: Client) -> None:
        self._pool = pool
        self._sender = Sender(pool, client)

    async def run(self, call: Call, build: Build, update: str) -> Answer:
        """The answer of a write, as JSON. Raises Refused, with `outcome_unknown` when nobody can tell."""
        if call.request_id is None:
            return await self._send(call, build, update)
        call, answer = await self._claim(call)
        if answer is not None:
            return answer
        try:
            answer = await self._send(call, build, update)
        except StaleClaim:
            await self._let_go(call, forget=True)
            fresh = replace(call, command_id=new_id("cmd"), intent_id=new_id("int"))
            return await self.run(fresh, build, update)
        except Refused as problem:
            unknown = problem.refusal.code in ("outcome_unknown", "busy")
            await self._let_go(call, forget=not unknown)
            raise
        return answer

    async def _claim(self, call: Call) -> tuple[Call, Answer | None]:
        async with self._record() as connection:
            claim = await commands.claim(
                connection,
                token_id=call.caller.token_id,
                tool=call.tool,
                request_id=str(call.request_id),
                digest=call.digest(),
                command_id=call.command_id,
                intent_id=call.intent_id,
                now=datetime.now(UTC),
                hold=CLAIM,
            )
            saved = await commands.answer_of(connection, claim.command_id)
        if not claim.same_arguments:
            raise request_reused()
        if saved is not None:
            return call, _repeated(saved, call.tool)
        if not claim.mine:
            raise request_in_progress(call.tool)
        return replace(call, command_id=claim.command_id, intent_id=claim.intent_id), None

    async def _let_go(self, call: Call, *, forget: bool) -> None:
        try:
            async with self._record() as connection:
                await commands.let_go(
                    connection,
                    call.caller.token_id,
                    call.tool,
                    str(call.request_id),
                    datetime.now(UTC),
                    forget=forget,
                )
        except Refused:
            # The claim runs out by itself; the caller's own refusal says more than this one would.
            _log.warning("commands.claim_kept", tool=call.tool, until_sec=CLAIM.total_seconds())

    def _record(self) -> "RecordOrBusy":
        return RecordOrBusy(self._pool)

    async def _send(self, call: Call, build: Build, update: str) -> Answer:
        return await self._sender.send(
            build(call),
            update,
            tool=call.tool,
            row=call.intent,
            repeatable=call.request_id is not None,
        )


def _repeated(saved: Answer, tool: str) -> Answer:
    answer = saved.get("answer")
    if not isinstance(answer, dict):
        raise already_done(tool)
    return {**answer, "said": [REPEATED, *answer.get("said", [])]}
