"""The first start: the owner, and the token that opens everything of theirs."""

from datetime import UTC, datetime
from typing import NamedTuple

import asyncpg

from protocol.ids import new_id
from protocol.projects import TokenKind
from runtime.connections import address
from runtime.settings import Settings
from storage.sql import people, tokens

OWNER = "Owner"
TOKEN_NAME = "owner"


class Bootstrapped(NamedTuple):
    """What a start gives its owner."""

    owner_token: str
    first_start: bool
    signin_link: str | None


async def bootstrap(settings: Settings) -> Bootstrapped:
    """Make the owner on the first start. The token is kept in the data folder, so that it is the same at each start.

    A data folder that lost its token (or a record that does not know it) gets a new one.
    """
    kept = settings.data_dir / "owner_token"
    connection = await asyncpg.connect(address(settings, "database_url"))
    try:
        now = datetime.now(UTC)
        async with connection.transaction():
            await people.one_bootstrap_at_a_time(connection)
            owner = await people.first_owner(connection)
            first = owner is None
            if owner is None:
                owner = new_id("per")
                await people.add(connection, owner, OWNER, now)
            secret = kept.read_text().strip() if kept.exists() else ""
            if not secret or await tokens.find_by_secret(connection, secret, now) is None:
                _, secret = await tokens.create(
                    connection,
                    kind=TokenKind.PERSON,
                    name=TOKEN_NAME,
                    person_id=owner,
                    project_ids=[],
                    now=now,
                )
        return Bootstrapped(secret, first, None)
    finally:
        await connection.close()
