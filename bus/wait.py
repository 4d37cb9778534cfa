"""The held wait: register, read, sleep until rung, read again."""

import asyncio
from collections.abc import Awaitable, Callable, Collection
from typing import TypeVar

from bus.waiters import Waiters

T = TypeVar("T")


async def wait_for(
    waiters: Waiters,
    read: Callable[[], Awaitable[T | None]],
    *,
    project_id: str,
    intent_ids: Collection[str] | None = None,
    seconds: float,
    person_id: str | None = None,
    may: Callable[[], Awaitable[None]] | None = None,
) -> T | None:
    """The first answer of `read` that is not None, or None when `seconds` passed without one.

    `read` looks in the record. It runs first, then after each ring, and once more at the deadline, so
    a lost ring costs one deadline and never an event. It may run often: share it with
    `bus.coalesce.Coalesced`.

    `may` runs when somebody's rights to the project were taken away (or, with `person_id`, when `doubt_person` named
    them), and raises what ends the wait of whoever lost theirs.
    """
    deadline = asyncio.get_running_loop().time() + seconds
    with waiters.register(project_id, intent_ids, person_id=person_id) as waiter:
        found = await read()
        while found is None and await waiter.rung(deadline):
            if may is not None and waiter.in_doubt():
                await may()
            found = await read()
        if found is None and seconds > 0:
            found = await read()
        return found
