"""A shop on the session's stack for each test."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from typing import TypeVar

import pytest_asyncio

from tests.document.shop import Shop, opened
from tests.support.agent import Owner, owner_of
from tests.support.stack import RunningStack

T = TypeVar("T")


@pytest_asyncio.fixture
async def owner(stack: RunningStack, tmp_path: Path) -> AsyncIterator[Owner]:
    """The owner, with a folder of this test's own."""
    async with owner_of(stack.connection, tmp_path) as found:
        yield found


@pytest_asyncio.fixture
async def shop(owner: Owner) -> AsyncIterator[Shop]:
    """A shop whose merges wait for nobody."""
    async with _in_a_task_of_its_own(opened(owner)) as found:
        yield found


@asynccontextmanager
async def _in_a_task_of_its_own(context: AbstractAsyncContextManager[T]) -> AsyncIterator[T]:
    """What an MCP client opened must be closed by the task that opened it, and a fixture's halves are two tasks."""
    entered: asyncio.Future[T] = asyncio.get_running_loop().create_future()
    done = asyncio.Event()

    async def hold() -> None:
        async with context as found:
            entered.set_result(found)
            await done.wait()

    task = asyncio.create_task(hold())
    await asyncio.wait([task, entered], return_when=asyncio.FIRST_COMPLETED)
    try:
        if entered.done():
            yield entered.result()
    finally:
        done.set()
        await task
