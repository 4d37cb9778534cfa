"""What our processes are connected to; the only place that knows how."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import NamedTuple

import asyncpg
from temporalio.client import Client
from temporalio.contrib.pydantic import pydantic_data_converter

from bus.connect import Link, connect
from runtime.migrate_process import SettingMissing
from runtime.settings import Settings
from storage.sql.pool import open_pool


class Connections(NamedTuple):
    """One process's connections."""

    pool: asyncpg.Pool
    temporal: Client
    link: Link


def address(settings: Settings, name: str) -> str:
    """The address in a setting that a process of a deployment must have."""
    value = getattr(settings, name)
    if value is None:
        raise SettingMissing(f"Set GITRING_{name.upper()}: this process brings no servers of its own.")
    return str(value.get_secret_value() if hasattr(value, "get_secret_value") else value)


async def connect_temporal(settings: Settings) -> Client:
    """A client whose payloads are Pydantic models. Lazy: a call fails while Temporal is away, not the start."""
    return await Client.connect(
        address(settings, "temporal_address"),
        namespace=settings.temporal_namespace,
        data_converter=pydantic_data_converter,
    )


@asynccontextmanager
async def connections(settings: Settings, name: str, *, pool_size: int) -> AsyncIterator[Connections]:
    """Everything a process talks to, closed at the end of the block."""
    pool = await open_pool(
        address(settings, "database_url"), min_size=2, max_size=pool_size, application_name=f"gitring-{name}"
    )
    try:
        link = await connect(address(settings, "nats_url"), f"gitring-{name}")
        try:
            yield Connections(pool, await connect_temporal(settings), link)
        finally:
            await link.close()
    finally:
        pool.terminate()
