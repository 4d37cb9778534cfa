"""Fixtures of the edge's tests."""

from collections.abc import AsyncIterator

import pytest_asyncio

from tests.gateway.edge import Edge, served


@pytest_asyncio.fixture(scope="session")
async def shared_edge() -> AsyncIterator[Edge]:
    """One served edge for all tests that neither stop it nor count what it did."""
    async with served() as running:
        yield running


@pytest_asyncio.fixture
async def edge(shared_edge: Edge) -> Edge:
    """The shared edge, its operations as new."""
    shared_edge.operations.begin()
    return shared_edge


@pytest_asyncio.fixture
async def own_edge() -> AsyncIterator[Edge]:
    """An edge of this test's own."""
    async with served() as running:
        yield running
