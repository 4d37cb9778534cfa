"""Fixtures every room may ask for. Servers start once per run and only when a test asks for one."""

import signal
from collections.abc import AsyncIterator
from pathlib import Path

import asyncpg
import pytest
import pytest_asyncio
from hypothesis import HealthCheck, settings
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
from tests.support.stack import broken, stack

__all__ = ["broken", "stack"]

# Each takes seconds of a core to start; the servers alone take one, and every worker has its own.
_DEAR = ("broken", "stack", "house")

# On a busy machine everything is slow, and that says nothing about a property.
settings.register_profile("gitring", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("gitring")


def pytest_configure() -> None:
    """A shell that runs the suite in the background makes it deaf to Ctrl-C, and so all that the tests start."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Tests that share something dear go to one worker, so that it is started once; all others go anywhere."""
    for item in items:
        if group := _shares(item):
            item.add_marker(pytest.mark.xdist_group(group))


def _shares(item: pytest.Item) -> str | None:
    """A dear fixture of the session that the test asks for, or its file when that has fixtures of its own."""
    scopes = {name: found[-1].scope for name, found in item._fixtureinfo.name2fixturedefs.items()}
    for name in _DEAR:
        if scopes.get(name) == "session":
            return name
    return item.nodeid.split("::", 1)[0] if "module" in scopes.values() else None


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
