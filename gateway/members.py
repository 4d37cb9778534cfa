"""Members of a project: who they are and what they may do, as owners set it."""

from datetime import UTC, datetime

import asyncpg

from gateway.access import Seen, must_own, see_project
from gateway.busy import RecordOrBusy
from gateway.reads import Reads
from protocol.events import EventType
from protocol.people import Member, MemberList, Role, SetRole
from protocol.projects import Caller
from protocol.refusals import Refused, not_found, refused
from storage.sql import ledger, pages, people
from storage.sql.pool import lock_project


class Members:
    """The members of projects. Only owners, signed in as people, come here."""

    def __init__(self, pool: asyncpg.Pool, reads: Reads) -> None:
        self._pool = pool
        self._reads = reads

    async def list(self, caller: Caller, project_ref: str) -> MemberList:
        """All members, owners first."""
        async with self._reads.snapshot() as connection:
            seen = await _owned(connection, caller, project_ref)
            return MemberList(members=await pages.members(connection, seen.project.id))

    async def one(self, caller: Caller, project_ref: str, person_id: str) -> Member:
        """One member."""
        async with self._reads.snapshot() as connection:
            seen = await _owned(connection, caller, project_ref)
            return await _must_find(connection, seen, person_id)

    async def set_role(self, caller: Caller, project_ref: str, person_id: str, given: SetRole) -> Member:
        """Give a member another role, or make a person of this server a member."""
        async with RecordOrBusy(self._pool) as connection:
            seen = await self._locked(connection, caller, project_ref)
            before = await people.member(connection, seen.project.id, person_id)
            if before is None:
                return await self._join(connection, caller, seen, person_id, given.role)
            if before.role is given.role:
                return before
            if before.role is Role.OWNER:
                await _must_not_be_last(connection, seen, before)
            await people.set_role(connection, seen.project.id, person_id, given.role)
            await people.keep_owner(connection, seen.project.id)
            after = before.model_copy(update={"role": given.role})
            await _note(connection, seen, EventType.MEMBER_ROLE_CHANGED, after, caller)
            return after

    async def _join(
        self, connection: asyncpg.Connection, caller: Caller, seen: Seen, person_id: str, role: Role
    ) -> Member:
        name = (await people.names_of(connection, [person_id])).get(person_id)
        if name is None:
            raise not_found(f"person {person_id[:60]}", "POST /api/v1/people invites somebody new.")
        await people.add_member(connection, seen.project.id, person_id, role)
        member = Member(id=person_id, name=name, role=role)
        await _note(connection, seen, EventType.MEMBER_ADDED, member, caller)
        return member

    async def remove(self, caller: Caller, project_ref: str, person_id: str) -> Member:
        """Take a person out of the project; their tokens and links open it no more. Their intents stay."""
        async with RecordOrBusy(self._pool) as connection:
            seen = await self._locked(connection, caller, project_ref)
            member = await _must_find(connection, seen, person_id)
            if member.role is Role.OWNER:
                await _must_not_be_last(connection, seen, member)
            await people.remove_member(connection, seen.project.id, person_id)
            await people.keep_owner(connection, seen.project.id)
            await _note(connection, seen, EventType.MEMBER_REMOVED, member, caller)
            return member

    async def _locked(self, connection: asyncpg.Connection, caller: Caller, project_ref: str) -> Seen:
        """The project with its lock held, so that two owners cannot demote each other at once."""
        seen = await _owned(connection, caller, project_ref)
        await lock_project(connection, seen.project.id)
        return await _owned(connection, caller, seen.project.id)


async def _owned(connection: asyncpg.Connection, caller: Caller, project_ref: str) -> Seen:
    seen = await see_project(connection, caller, project_ref)
    must_own(seen, caller)
    return seen


async def _must_find(connection: asyncpg.Connection, seen: Seen, person_id: str) -> Member:
    found = await people.member(connection, seen.project.id, person_id)
    if found is None:
        raise _no_member(seen, person_id)
    return found


def _no_member(seen: Seen, person_id: str) -> Refused:
    return not_found(f"member {person_id[:60]} of {seen.project.slug}", "GET …/members lists them.")


async def _must_not_be_last(connection: asyncpg.Connection, seen: Seen, member: Member) -> None:
    if await people.owner_count(connection, seen.project.id) == 1:
        raise refused(
            "wrong_state",
            f"{member.name} is the last owner of {seen.project.slug}.",
            'Make another person its owner first: PUT …/members/{person_id} with {"role": "owner"}.',
        )


async def _note(
    connection: asyncpg.Connection, seen: Seen, kind: EventType, member: Member, caller: Caller
) -> None:
    await ledger.member_event(
        connection,
        seen.project.id,
        kind,
        member.id,
        member.name,
        member.role,
        caller.token_name,
        datetime.now(UTC),
    )
