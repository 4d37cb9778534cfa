"""The members of a project: who may do what, and, for owners, the forms that change it."""

from datetime import UTC, datetime

from starlette.responses import Response

from gateway.web.inputs import checked, text
from gateway.web.router import PageRoutes
from gateway.web.visit import Visit, go
from protocol.people import InvitePerson, MakeLink, Role, SetRole, SignInLink
from protocol.refusals import not_found
from storage.sql import pages, people


async def members(visit: Visit, link: SignInLink | None = None) -> Response:
    """`/p/{slug}/members`; `link` was made just now and is shown this once."""
    web, me = visit.web, visit.caller.person_id
    seen = await web.reads.seen(visit.caller, visit.slug)
    owner = seen.role == "owner"
    async with web.reads.snapshot() as connection:
        found = await pages.members(connection, seen.project.id)
        project_id = seen.project.id
        presence = await people.presence(connection, project_id, datetime.now(UTC)) if owner else {}
        others = await people.known_elsewhere(connection, project_id, me) if owner else []
    return await visit.show(
        "members.html",
        status=201 if link else 200,
        slug=seen.project.slug,
        owner=owner,
        me=me,
        members=found,
        last_owner=me if sum(member.role is Role.OWNER for member in found) == 1 and owner else None,
        presence=presence,
        others=others,
        link=link,
        given=visit.form,
        address=f"/p/{seen.project.slug}/members",
    )


async def invite(visit: Visit) -> Response:
    """`POST …/members/invite`: a new person, and the link to send them."""
    given = checked(
        InvitePerson, name=text(visit, "name") or "", projects=[visit.slug], role=text(visit, "role") or ""
    )
    return await members(visit, link=await visit.web.surface.invite(visit.caller, given))


async def add(visit: Visit) -> Response:
    """`POST …/members/add`: somebody whom the owner knows from another project of theirs."""
    seen = await visit.web.reads.seen(visit.caller, visit.slug)
    person = text(visit, "person") or ""
    async with visit.web.reads.snapshot() as connection:
        known = await people.known_elsewhere(connection, seen.project.id, visit.caller.person_id)
    if person not in {one.id for one in known}:
        raise not_found("person of another project of yours", "Take them from the list, or invite them.")
    return await _set_role(visit, person, "added")


async def set_role(visit: Visit) -> Response:
    """`POST …/members/role`: another role for a member; whoever left meanwhile is not taken in again."""
    person = (text(visit, "person") or "")[:100]
    await visit.web.surface.member(visit.caller, visit.slug, person)
    return await _set_role(visit, person, "saved")


async def _set_role(visit: Visit, person: str, done: str) -> Response:
    given = checked(SetRole, role=text(visit, "role") or "")
    await visit.web.surface.set_role(visit.caller, visit.slug, person, given)
    return go(f"/p/{visit.slug}/members", done=done)


async def remove(visit: Visit) -> Response:
    """`POST …/members/remove`; an owner who takes themself out sees the project no more."""
    person = (text(visit, "person") or "")[:100]
    await visit.web.surface.remove_member(visit.caller, visit.slug, person)
    if person == visit.caller.person_id:
        return go("/projects", done="left")
    return go(f"/p/{visit.slug}/members", done="removed")


async def make_link(visit: Visit) -> Response:
    """`POST …/members/link`: another link for a member of this project."""
    seen = await visit.web.reads.seen(visit.caller, visit.slug)
    person = (text(visit, "person") or "")[:100]
    async with visit.web.reads.snapshot() as connection:
        if await people.member(connection, seen.project.id, person) is None:
            raise not_found(f"person {person[:60]} of this project", "Take them from the list of its people.")
    made = await visit.web.surface.make_link(visit.caller, checked(MakeLink, person_id=person))
    return await members(visit, link=made)


async def leave(visit: Visit) -> Response:
    """A form's address, asked for by GET."""
    return go(f"/p/{visit.slug}/members")


def add_members(routes: PageRoutes) -> None:
    """The page and its forms."""
    routes.get("/p/{slug}/members", members)
    forms = {"invite": invite, "add": add, "role": set_role, "remove": remove, "link": make_link}
    for name, handler in forms.items():
        routes.post(f"/p/{{slug}}/members/{name}", handler, members)
        routes.get(f"/p/{{slug}}/members/{name}", leave)
