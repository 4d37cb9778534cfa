"""`gitring owner`: makes the owner of a deployment, where no `gitring up` does, and prints the owner's token."""

import asyncio
import sys

import asyncpg

from runtime.bootstrap import bootstrap
from runtime.connections import address
from runtime.folder import DataFolder
from runtime.migrate_process import SettingMissing
from runtime.settings import Settings


async def owner_token(settings: Settings) -> str:
    """The owner's token, kept in the data folder so that it stays the same; made where it is missing."""
    address(settings, "database_url")
    folder = DataFolder(settings.data_dir)
    folder.path.mkdir(mode=0o700, parents=True, exist_ok=True)
    made = await bootstrap(settings)
    folder.keep_owner_token(made.owner_token)
    return made.owner_token


def main() -> None:
    """Print it, or exit 1 with the reason."""
    try:
        print(asyncio.run(owner_token(Settings())))
    except (SettingMissing, OSError, asyncpg.PostgresError) as problem:
        sys.exit(f"gitring owner: {problem}. Check GITRING_DATABASE_URL, and run `gitring migrate` first.")
