"""The first start: the owner, the token that opens everything of theirs, and a link to sign in on the pages."""

from datetime import UTC, datetime, timedelta
from typing import NamedTuple

import asyncpg

from gateway.people import sign_in_address
from protocol.ids import new_id
from protocol.projects import TokenKind
from runtime.connections import address
from runtime.settings import Settings
from storage.sql import people, sessions, tokens

OWNER = "Owner"
TOKEN_NAME = "owner"
FIRST_LINK_LIFE = timedelta(hours=24)


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
            link = None
            if owner is None:
                owner = new_id("per")
                await people.add(connection, owner, OWNER, now)
                link = sign_in_address(
                    settings.url,
                    await sessions.make_link(connection, owner, None, now, FIRST_LINK_LIFE),
                )
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
        return Bootstrapped(secret, first, link)
    finally:
        await connection.close()
