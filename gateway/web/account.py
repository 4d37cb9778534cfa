"""A person's own account: where they are signed in, and links for other browsers of theirs."""

from starlette.responses import Response

from gateway.web.inputs import text
from gateway.web.router import PageRoutes
from gateway.web.visit import Visit, go
from protocol.people import MakeLink, SignInLink
from protocol.refusals import not_found


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


def add_account(routes: PageRoutes) -> None:
    """The page and its forms."""
    routes.get("/account", account)
    routes.post("/account/link", own_link, account)
    routes.post("/account/end", end_session, account)
