"""The settings of a project: its rules, its agents' tokens, its people; and the account of the person themself."""

from typing import Any

from starlette.responses import Response

from gateway.web.inputs import checked, lines, number, text
from gateway.web.router import PageRoutes
from gateway.web.visit import Visit, go
from protocol.people import InvitePerson, MakeLink, SignInLink
from protocol.projects import ChangeSettings, CreateToken, NewToken
from protocol.refusals import not_found
from storage.sql import pages


async def settings(visit: Visit, token: NewToken | None = None, link: SignInLink | None = None) -> Response:
    """`/p/{slug}/settings`; `token` and `link` were made just now and are shown this once."""
    web, caller = visit.web, visit.caller
    seen = await web.reads.seen(caller, visit.slug)
    async with web.reads.snapshot() as connection:
        members = await pages.members(connection, seen.project.id)
    listed = [info for info in await web.surface.list_tokens(caller) if seen.project.slug in info.projects]
    return await visit.show(
        "settings.html",
        status=201 if token or link else 200,
        slug=seen.project.slug,
        project=seen.project,
        rules=seen.project.settings,
        role=seen.role,
        members=members,
        me=caller.person_id,
        tokens=[info for info in listed if info.revoked_at is None],
        revoked=[info for info in listed if info.revoked_at is not None][:20],
        token=token,
        link=link,
        public_url=web.site.public_url,
        given=visit.form,
        address=f"/p/{seen.project.slug}/settings",
    )


async def save_rules(visit: Visit) -> Response:
    """`POST …/settings/rules`."""
    test = text(visit, "test")
    checks = None
    if test is not None:
        checks = {
            "test": test,
            "environment": lines(visit, "environment"),
            "network": visit.form.get("network") == "on",
            **_given(timeout_sec=number(visit, "timeout_sec")),
        }
    given = checked(
        ChangeSettings,
        checks=checks,
        mediation=text(visit, "mediation"),
        shared_files=lines(visit, "shared_files"),
        people_only=lines(visit, "people_only"),
        owner_approves=lines(visit, "owner_approves"),
        folder_writers=_folder_writers(visit),
        **_given(
            plan_review=text(visit, "plan_review"),
            merge_approval=text(visit, "merge_approval"),
            max_places=number(visit, "max_places"),
        ),
    )
    await visit.web.surface.change_settings(visit.caller, visit.slug, given)
    return go(f"/p/{visit.slug}/settings", done="saved")


def _folder_writers(visit: Visit) -> dict[str, list[str]]:
    """The rows of the form: a folder in `folder-N`, and a box `writer-N-PERSON` for each who may write it."""
    found: dict[str, list[str]] = {}
    for name in visit.form:
        row = name.removeprefix("folder-")
        folder = text(visit, name) if row != name else None
        if folder is not None:
            prefix = f"writer-{row}-"
            found[folder] = sorted(box.removeprefix(prefix) for box in visit.form if box.startswith(prefix))
    return found


def _given(**values: Any) -> dict[str, Any]:
    return {name: value for name, value in values.items() if value is not None}


async def make_token(visit: Visit) -> Response:
    """`POST …/settings/tokens`: the answer is the page with the token on it, once."""
    given = checked(CreateToken, name=text(visit, "name") or "", projects=[visit.slug])
    return await settings(visit, token=await visit.web.surface.create_token(visit.caller, given))


async def revoke_token(visit: Visit) -> Response:
    """`POST …/settings/tokens/revoke`."""
    await visit.web.surface.revoke_token(visit.caller, (text(visit, "id") or "")[:100])
    return go(f"/p/{visit.slug}/settings", done="revoked")


async def invite(visit: Visit) -> Response:
    """`POST …/settings/people`: a new person, and the link to send them."""
    given = checked(
        InvitePerson, name=text(visit, "name") or "", projects=[visit.slug], role=text(visit, "role") or ""
    )
    return await settings(visit, link=await visit.web.surface.invite(visit.caller, given))


async def make_link(visit: Visit) -> Response:
    """`POST …/settings/link`: another link for a member of this project."""
    seen = await visit.web.reads.seen(visit.caller, visit.slug)
    person = text(visit, "person") or ""
    async with visit.web.reads.snapshot() as connection:
        members = await pages.members(connection, seen.project.id)
    if person not in {member.id for member in members}:
        raise not_found(f"person {person[:60]} of this project", "Take them from the list of its people.")
    made = await visit.web.surface.make_link(visit.caller, checked(MakeLink, person_id=person))
    return await settings(visit, link=made)


async def account(visit: Visit, link: SignInLink | None = None) -> Response:
    """`/account`: where the person is signed in."""
    return await visit.show(
        "account.html",
        status=201 if link else 200,
        sessions=await visit.web.sessions.of_person(visit.session.person_id),
        this=visit.session.id,
        link=link,
        address="/account",
    )


async def own_link(visit: Visit) -> Response:
    """`POST /account/link`: a link for another browser of one's own."""
    return await account(visit, link=await visit.web.surface.make_link(visit.caller, MakeLink()))


async def end_session(visit: Visit) -> Response:
    """`POST /account/end`."""
    if not await visit.web.sessions.end((text(visit, "id") or "")[:100], visit.session.person_id):
        raise not_found("session of yours", "It may be over already.")
    return go("/account", done="ended")


async def leave(visit: Visit) -> Response:
    """A form's address, asked for by GET."""
    return go(f"/p/{visit.slug}/settings")


def add_settings(routes: PageRoutes) -> None:
    """The settings of a project and of a person."""
    routes.get("/p/{slug}/settings", settings)
    forms = {
        "rules": save_rules,
        "tokens": make_token,
        "tokens/revoke": revoke_token,
        "people": invite,
        "link": make_link,
    }
    for name, handler in forms.items():
        routes.post(f"/p/{{slug}}/settings/{name}", handler, settings)
        routes.get(f"/p/{{slug}}/settings/{name}", leave)
    routes.get("/account", account)
    routes.post("/account/link", own_link, account)
    routes.post("/account/end", end_session, account)
