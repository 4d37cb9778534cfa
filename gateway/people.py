"""People and how they get in: owners invite them, and make links with which they sign in once."""

from datetime import UTC, datetime, timedelta

import asyncpg

from gateway.access import must_own, see_project
from gateway.busy import RecordOrBusy
from protocol.ids import new_id
from protocol.people import InvitePerson, MakeLink, SignInLink
from protocol.projects import Caller
from protocol.refusals import not_found, people_only
from storage.sql import ledger, people, sessions

LINK_LIFE = timedelta(minutes=15)


def sign_in_address(public_url: str, secret: str) -> str:
    """The link's whole text. What stands behind `#` never leaves the browser: no log and no Referer holds it."""
    return f"{public_url}/sign-in#{secret}"


class People:
    """The people of a server, as its owners let them in."""

    def __init__(self, pool: asyncpg.Pool, public_url: str) -> None:
        self._pool = pool
        self._public_url = public_url

    async def invite(self, caller: Caller, given: InvitePerson) -> SignInLink:
        """Record a new person with a role in projects the caller owns; the answer holds their first link."""
        now, person_id = datetime.now(UTC), new_id("per")
        async with RecordOrBusy(self._pool) as connection:
            found = [await see_project(connection, caller, ref) for ref in given.projects]
            for seen in found:
                must_own(seen, caller)
            await people.add(connection, person_id, given.name, now)
            # In one order everywhere, so that two invitations never wait for each other's project.
            for project_id in sorted({seen.project.id for seen in found}):
                await people.add_member(connection, project_id, person_id, given.role)
                await ledger.member_added(
                    connection, project_id, person_id, given.name, given.role, caller.token_name, now
                )
            return await self._link(connection, person_id, given.name, caller, now)

    async def make_link(self, caller: Caller, given: MakeLink) -> SignInLink:
        """A new link for the caller, or for a person who is a member only where the caller is an owner."""
        if not caller.is_person:
            raise people_only(caller.person_name, None)
        person_id = given.person_id or caller.person_id
        async with RecordOrBusy(self._pool) as connection:
            mine = person_id == caller.person_id
            # A link opens all of a person's projects, so it takes an owner of every one of them.
            if not mine and not await people.owned_throughout(connection, person_id, caller.person_id):
                raise not_found(
                    f"person {person_id[:100]} all of whose projects you own",
                    "Ask an owner of their other projects, or let them make a link themselves.",
                )
            name = await people.name_of(connection, person_id)
            return await self._link(connection, person_id, name, caller, datetime.now(UTC))

    async def _link(
        self, connection: asyncpg.Connection, person_id: str, name: str, caller: Caller, now: datetime
    ) -> SignInLink:
        secret = await sessions.make_link(connection, person_id, caller.person_id, now, LINK_LIFE)
        return SignInLink(
            person_id=person_id,
            name=name,
            link=sign_in_address(self._public_url, secret),
            expires_at=now + LINK_LIFE,
        )
