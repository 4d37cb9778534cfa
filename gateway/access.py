"""What a caller may see and change: projects by token and membership, intents by project and person."""

from datetime import UTC, datetime
from typing import NamedTuple

import asyncpg

from protocol.projects import Caller
from protocol.records import IntentRow, ProjectRow
from protocol.refusals import Refused, invalid_input, not_found, refused, unauthenticated
from storage.sql import intents, projects, tokens

_WRITERS = ("owner", "writer")


class Seen(NamedTuple):
    """A project that a caller may read, with their role in it."""

    project: ProjectRow
    role: str


async def projects_of(connection: asyncpg.Connection, caller: Caller) -> list[ProjectRow]:
    """The projects a caller can work in: an agent's token names them, a person sees all of theirs."""
    named = None if caller.is_person else caller.project_ids
    return await projects.of_person(connection, caller.person_id, named)


async def see_project(connection: asyncpg.Connection, caller: Caller, ref: str | None) -> Seen:
    """The project `ref` names; without `ref`, the only one there is."""
    if ref is None:
        return await _only_project(connection, caller)
    project = await projects.find(connection, ref)
    role = await projects.role_of(connection, project.id, caller.person_id) if project else None
    named = caller.is_person or (project is not None and project.id in caller.project_ids)
    if project is None or role is None or not named:
        raise await _outside(connection, caller, ref)
    return Seen(project, role)


async def must_live(connection: asyncpg.Connection, caller: Caller) -> None:
    """Refuse a caller whose token was revoked, or whose browser session ended, since the call began."""
    if not await tokens.lives(connection, caller.token_id, datetime.now(UTC)):
        raise unauthenticated()


async def must_still_see(connection: asyncpg.Connection, caller: Caller, project_id: str) -> None:
    """Refuse a caller who lost the right to a project since the call began."""
    await must_live(connection, caller)
    await see_project(connection, caller, project_id)


async def _only_project(connection: asyncpg.Connection, caller: Caller) -> Seen:
    found = await projects_of(connection, caller)
    if len(found) == 1:
        role = await projects.role_of(connection, found[0].id, caller.person_id)
        return Seen(found[0], role or "viewer")
    if not found:
        raise not_found("project", "Ask the person you act for to make one, or to name one in your token.")
    listed = " or ".join(f"{p.slug} ({p.id})" for p in found[:20])
    raise invalid_input(f"Name the project with projectId: {listed}.")


async def _outside(connection: asyncpg.Connection, caller: Caller, ref: str) -> Refused:
    if caller.is_person:
        return not_found(f"project {ref[:100]}", "`gitring projects list` shows yours.")
    names = ", ".join(p.slug for p in (await projects_of(connection, caller))[:20]) or "no project"
    return refused(
        "project_not_in_token",
        f"This token cannot use project {ref[:100]}. It names {names} only.",
        "Ask the person you act for to add the project, or call gitring_projects.",
        403,
    )


def must_write(seen: Seen, caller: Caller) -> None:
    """Refuse a viewer."""
    if seen.role not in _WRITERS:
        raise refused(
            "forbidden",
            f"{caller.person_name} may read {seen.project.slug}, but not change it.",
            "Ask an owner for the role writer.",
            403,
        )


def must_own(seen: Seen, caller: Caller) -> None:
    """Refuse whoever is not an owner signed in as a person."""
    if seen.role != "owner" or not caller.is_person:
        raise refused(
            "forbidden",
            f"Only an owner of {seen.project.slug}, signed in as a person, does this.",
            f"Ask {seen.project.owner_name}.",
            403,
        )


class SeenIntent(NamedTuple):
    """An intent that a caller may read, its project, and their role."""

    intent: IntentRow
    seen: Seen


async def see_intent(connection: asyncpg.Connection, caller: Caller, intent_id: str) -> SeenIntent:
    """An intent of a project the caller can read. One that they cannot read is as if it were not there."""
    row = await intents.get(connection, intent_id)
    missing = not_found(f"intent {intent_id}", "Call gitring_board to see the live intents of a project.")
    if row is None:
        raise missing
    try:
        return SeenIntent(row, await see_project(connection, caller, row.project_id))
    except Refused as problem:
        raise missing from problem


def must_act_on(found: SeenIntent, caller: Caller) -> None:
    """Refuse an agent that acts on the intent of another person's agent."""
    must_write(found.seen, caller)
    row = found.intent
    if row.person_id != caller.person_id and not (caller.is_person and found.seen.role in _WRITERS):
        raise refused(
            "forbidden",
            f"Intent #{row.number} is {row.person_name}'s; you act for {caller.person_name}.",
            "Work on an intent of your own: declare one with gitring_declare.",
            403,
        )
