"""`gitring migrate`: brings the record and the stream to the shape of this version, then ends."""

import asyncio
import sys

import asyncpg

from bus.connect import BusUnreachable, connect
from bus.stream import ensure_stream
from runtime.settings import Settings
from storage.sql.migrate import MigrationFailed, MigrationRefused, ensure_database, migrate


class RecordUnreachable(Exception):
    """The record did not let us in; the text holds its reason."""


class SettingMissing(Exception):
    """A process of a deployment lacks an address; the text names the variable."""


async def prepare_servers(settings: Settings) -> list[str]:
    """Make the database and the stream where they are missing; the names of the migrations applied."""
    if settings.database_url is None or settings.nats_url is None:
        missing = "GITRING_DATABASE_URL" if settings.database_url is None else "GITRING_NATS_URL"
        raise SettingMissing(f"Set {missing}: migrate prepares servers that run already.")
    applied = await _prepare_record(settings.database_url.get_secret_value())
    link = await connect(settings.nats_url.get_secret_value(), "gitring-migrate")
    try:
        await ensure_stream(link.jetstream)
    finally:
        await link.close()
    return applied


async def _prepare_record(dsn: str) -> list[str]:
    try:
        await ensure_database(dsn)
        connection = await asyncpg.connect(dsn)
    except (OSError, asyncpg.PostgresError) as problem:
        raise RecordUnreachable(
            f"Postgres did not let us in: {problem}. Check GITRING_DATABASE_URL and that the server runs."
        ) from problem
    try:
        return await migrate(connection)
    finally:
        await connection.close()


def main() -> None:
    """Run it with the settings of the environment and say what was applied, or exit 1 with the reason."""
    try:
        applied = asyncio.run(prepare_servers(Settings()))
    except (SettingMissing, RecordUnreachable, BusUnreachable, MigrationFailed, MigrationRefused) as problem:
        sys.exit(f"gitring migrate: {problem}")
    print("\n".join(f"applied {name}" for name in applied) or "nothing to apply")
