"""Signing in and out. The page of a link only shows a button: what merely looks at a link does not use it up."""

import hmac
import secrets

from starlette.requests import Request
from starlette.responses import Response

from gateway.web.router import PageRoutes
from gateway.web.sessions import SESSION, VISIT, drop, keep
from gateway.web.site import form_key, own_path
from gateway.web.visit import Visit, Web, form_of, go, html

_NOT_GOOD = (
    "This link is not good any more: it was used, it is too old, or a newer one was made. "
    "Ask an owner for a new one."
)
_FOREIGN = "This form did not come from this page. Try it again here."


class SignIn:
    """The two addresses that nobody has to be signed in for."""

    def __init__(self, web: Web) -> None:
        self._web = web

    async def page(self, request: Request) -> Response:
        """`GET /sign-in`: the browser keeps what stands behind `#` to itself and puts it into the form."""
        return self._page(request, own_path(request.query_params.get("next", "/")))

    async def sign_in(self, request: Request) -> Response:
        """`POST /sign-in`: use the link, begin a session under a new secret."""
        web, form = self._web, await form_of(request)
        wanted = own_path(form.get("next", "/"))
        visit = request.cookies.get(web.site.cookie(VISIT), "")
        ours = visit and hmac.compare_digest(form.get("key", "").encode(), form_key(visit).encode())
        if not ours or not web.site.own_origin(request.headers):
            return self._page(request, wanted, 403, _FOREIGN)
        secret = await web.sessions.sign_in(
            form.get("method", "link"),
            form,
            request.headers.get("user-agent", "an unnamed browser"),
            request.cookies.get(web.site.cookie(SESSION)),
        )
        if secret is None:
            return self._page(request, wanted, 403, _NOT_GOOD)
        response = go(wanted)
        keep(response, web.site, SESSION, secret)
        drop(response, web.site, VISIT)
        return response

    def _page(self, request: Request, wanted: str, status: int = 200, problem: str | None = None) -> Response:
        # A visit's secret is kept when there is one, so that two open tabs both work.
        visit = request.cookies.get(self._web.site.cookie(VISIT)) or secrets.token_urlsafe(32)
        page = html(self._web, "sign_in.html", status, next=wanted, form_key=form_key(visit), problem=problem)
        keep(page, self._web.site, VISIT, visit)
        return page


async def sign_out(visit: Visit) -> Response:
    """End this session, in the record and in the browser."""
    await visit.web.sessions.end(visit.session.id, visit.session.person_id)
    response = go("/sign-in")
    drop(response, visit.web.site, SESSION)
    return response


def add_sign_in(routes: PageRoutes) -> None:
    """`/sign-in` and `/sign-out`."""
    signing = SignIn(routes.web)
    routes.open("/sign-in", signing.page, "GET")
    routes.open("/sign-in", signing.sign_in, "POST")
    routes.post("/sign-out", sign_out)
