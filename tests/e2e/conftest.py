"""The owner of the session's stack, for stories that do it no harm."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest_asyncio

from tests.support.agent import Owner, owner_of
from tests.support.stack import RunningStack


@pytest_asyncio.fixture
async def owner(stack: RunningStack, tmp_path: Path) -> AsyncIterator[Owner]:
    """The owner, with a folder of this test's own."""
    async with owner_of(stack.connection, tmp_path) as found:
        yield found
