"""Fixtures of the edge's tests."""

from collections.abc import AsyncIterator

import pytest_asyncio

from tests.gateway.edge import Edge, served


@pytest_asyncio.fixture
async def edge() -> AsyncIterator[Edge]:
    """The edge, served."""
    async with served() as running:
        yield running
