"""The real servers tests run against, started from the same code that `gitring up` uses."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

import asyncpg

from protocol.ids import new_id
from runtime.embedded.nats import Nats
from runtime.embedded.postgres import Postgres
from runtime.embedded.process import spawn, until_ready
from runtime.embedded.temporal import Temporal
from runtime.ports import free_port
from storage.sql.migrate import ensure_database, migrate

S = TypeVar("S", Postgres, Nats, Temporal)

NAMESPACE = "gitring"
TEMPLATE = "template_gitring"

# The only difference from the product: a test's data need not survive a power cut.
IN_HASTE = {"fsync": "off", "synchronous_commit": "off", "full_page_writes": "off", "shared_buffers": "48MB"}


@asynccontextmanager
async def served(server: S) -> AsyncIterator[S]:
    """Run `server` for the length of the block; it and all it started are gone afterwards."""
    await server.prepare()
    child = await spawn(server.command())
    try:
        await until_ready(child, server.answer(), server.start_limit)
        yield server
    finally:
        await child.stop()


@asynccontextmanager
async def postgres_server(folder: Path) -> AsyncIterator[Postgres]:
    """A Postgres whose template database has every migration applied."""
    postgres = Postgres(
        folder / "postgres", free_port(), "for-tests", folder / "postgres.log", settings=IN_HASTE
    )
    async with served(postgres):
        template = postgres.url_of(TEMPLATE)
        await ensure_database(template)
        connection = await asyncpg.connect(template)
        try:
            await migrate(connection)
        finally:
            await connection.close()
        yield postgres


def nats_server(folder: Path) -> Nats:
    """A NATS server with JetStream, not started yet: `async with served(nats_server(tmp_path)) as nats`."""
    return Nats(folder / "nats", free_port(), "for-tests", folder / "nats.log")


def temporal_server(folder: Path) -> Temporal:
    """A Temporal server in memory without pages, not started yet."""
    return Temporal(None, free_port(), folder / "temporal.log", namespace=NAMESPACE)


@asynccontextmanager
async def fresh_database(postgres: Postgres) -> AsyncIterator[str]:
    """A copy of the migrated template, dropped at the end even when sessions are left open; yields its dsn."""
    name = new_id("test").lower()
    administrator = await asyncpg.connect(postgres.url_of("postgres"))
    try:
        await administrator.execute(f"CREATE DATABASE {name} TEMPLATE {TEMPLATE}")
        try:
            yield postgres.url_of(name)
        finally:
            await administrator.execute(f"DROP DATABASE {name} WITH (FORCE)")
    finally:
        await administrator.close()


@dataclass(frozen=True)
class TemporalPlace:
    """Where the session's Temporal is."""

    address: str
    namespace: str
