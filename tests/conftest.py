"""Fixtures every room may ask for. Servers start once per run and only when a test asks for one."""

from collections.abc import AsyncIterator
from pathlib import Path

import asyncpg
import pytest
import pytest_asyncio
from temporalio.client import Client
from temporalio.contrib.pydantic import pydantic_data_converter

from runtime.embedded.postgres import Postgres
from storage.sql.pool import open_pool
from tests.support.engine import engine  # noqa: F401
from tests.support.servers import (
    TemporalPlace,
    fresh_database,
    nats_server,
    postgres_server,
    served,
    temporal_server,
)
from tests.support.stack import stack

__all__ = ["stack"]


@pytest.fixture(scope="session")
def server_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the session's servers keep their data and logs."""
    return tmp_path_factory.mktemp("servers")


@pytest_asyncio.fixture(scope="session")
async def postgres(server_folder: Path) -> AsyncIterator[Postgres]:
    """The session's Postgres."""
    async with postgres_server(server_folder) as server:
        yield server


@pytest_asyncio.fixture
async def database(postgres: Postgres) -> AsyncIterator[str]:
    """The dsn of a migrated, empty database of this test's own."""
    async with fresh_database(postgres) as dsn:
        yield dsn


@pytest_asyncio.fixture
async def pool(database: str) -> AsyncIterator[asyncpg.Pool]:
    """A pool on this test's database, made as the product makes it."""
    opened = await open_pool(database)
    try:
        yield opened
    finally:
        # Not close(): a failed test may have left a connection out, and close() waits for it.
        opened.terminate()


@pytest_asyncio.fixture(scope="session")
async def nats_url(server_folder: Path) -> AsyncIterator[str]:
    """The session's NATS with JetStream, its password in the url."""
    async with served(nats_server(server_folder)) as server:
        yield server.url


@pytest_asyncio.fixture(scope="session")
async def temporal(server_folder: Path) -> AsyncIterator[TemporalPlace]:
    """The session's Temporal: `.address` and `.namespace`, search attributes registered."""
    async with served(temporal_server(server_folder)) as server:
        yield TemporalPlace(server.address, server.namespace)


@pytest_asyncio.fixture(scope="session")
async def temporal_client(temporal: TemporalPlace) -> Client:
    """A client as the product makes it: Pydantic models in and out."""
    return await Client.connect(
        temporal.address, namespace=temporal.namespace, data_converter=pydantic_data_converter
    )
