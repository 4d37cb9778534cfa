"""The frame of every command: one transaction, once per command id, and a refusal as a value, not a failure to retry."""

from collections.abc import Awaitable, Callable
from typing import TypeVar

from activities.answers import finished_before
from activities.change import Change, change_project
from activities.store import Store
from protocol.commands import Command, Outcome
from protocol.refusals import Refused

C = TypeVar("C", bound=Command)


async def once(store: Store, command: C, work: Callable[[Change, C], Awaitable[Outcome]]) -> Outcome:
    """What `work` answers, or what it answered before under this command's id; the caller is its actor."""
    try:
        async with change_project(store, command.project_id, command.caller.token_name) as change:
            return await finished_before(change, command) or await work(change, command)
    except Refused as problem:
        return Outcome(refusal=problem.refusal)
