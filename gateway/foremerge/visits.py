"""Who calls this face, and which project a call is about."""

import asyncpg
from starlette.requests import Request

from gateway.access import Seen, projects_of, see_project
from gateway.auth import Door, Knows, admit
from gateway.foremerge.surface import Visit
from rules.foremerge.refusing import bad_input

PROJECT_HEADER = "gitring-project"
"""The header, in lower case, that names the project when the token names several; an id or a slug."""


async def seen_project(connection: asyncpg.Connection, visit: Visit) -> Seen:
    """The project of the header, or the only one of the token. Refuses INVALID_INPUT while there are several."""
    if visit.project is None:
        found = await projects_of(connection, visit.caller)
        if len(found) > 1:
            names = ", ".join(f"{one.slug} ({one.id})" for one in found[:20])
            raise bad_input(
                f"Your token names several projects: {names}.",
                "Say which one with the header Gitring-Project: <id or slug>.",
            )
    return await see_project(connection, visit.caller, visit.project)


async def visit_of(request: Request, tokens: Knows) -> Visit:
    """Who calls the JSON API; refuses UNAUTHORIZED and FORBIDDEN."""
    caller = await admit(tokens, request.headers.get("authorization"), Door.REST)
    return Visit(caller, request.headers.get(PROJECT_HEADER), operator=True)
