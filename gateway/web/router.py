"""The pages' routes: each is for signed-in people, each form is checked before its handler sees it."""

import hmac
from collections.abc import Awaitable, Callable

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from gateway.errors import refusal_of
from gateway.web.sessions import SESSION
from gateway.web.site import form_key
from gateway.web.visit import Visit, Web, form_of, go, html
from protocol.refusals import Refusal, Refused
from storage.sql.pool import RecordBusy

Handler = Callable[[Visit], Awaitable[Response]]

NOT_HERE = Refusal(
    code="not_found",
    message="There is nothing at this address that you may see.",
    next="Start from your projects, or ask an owner to add you.",
    status=404,
)
FOREIGN_FORM = Refusal(
    code="forbidden",
    message="This form did not come from a page of your present session, so nothing was changed.",
    next="Open the page again and repeat what you did.",
    status=403,
)


class PageRoutes:
    """Collects routes. A handler raises Refused; the person reads its sentence."""

    def __init__(self, web: Web) -> None:
        self.web = web
        self.routes: list[Route] = []

    def get(self, path: str, handler: Handler) -> None:
        """A page."""
        self.open(path, self._guarded(path, handler), "GET")

    def post(self, path: str, handler: Handler, page: Handler | None = None) -> None:
        """A form. What it is refused is told on top of `page`; asked for by GET, the address leads there too."""
        self.open(path, self._guarded(path, handler, page), "POST")

    def open(self, path: str, endpoint: Callable[[Request], Awaitable[Response]], method: str) -> None:
        """A route without a sign-in."""
        self.routes.append(Route(path, endpoint, methods=[method]))

    def _guarded(
        self, path: str, handler: Handler, page: Handler | None = None
    ) -> Callable[[Request], Awaitable[Response]]:
        async def endpoint(request: Request) -> Response:
            request.scope["route"] = Route(path, endpoint)  # the name under which it is counted
            try:
                return await self._answer(request, handler, page)
            except Exception as problem:
                # A person reads a sentence even of what nobody foresaw; `refusal_of` logs that with its traceback.
                return refusal_page(self.web, refusal_of(problem))

        return endpoint

    async def _answer(self, request: Request, handler: Handler, page: Handler | None) -> Response:
        secret = request.cookies.get(self.web.site.cookie(SESSION))
        session = await self.web.sessions.find(secret)
        if session is None or secret is None:
            return _to_sign_in(request)
        visit = Visit(self.web, request, session, secret)
        if request.method != "POST":
            return await handler(visit)
        visit.form = await form_of(request)
        if not self._our_form(visit):
            return refusal_page(self.web, FOREIGN_FORM)
        try:
            return await handler(visit)
        except (Refused, RecordBusy) as problem:
            if page is None:
                raise
            visit.problem = refusal_of(problem)
            return await page(visit)

    def _our_form(self, visit: Visit) -> bool:
        given = visit.form.get("key", "")
        same = hmac.compare_digest(given.encode(), form_key(visit.secret).encode())
        return same and self.web.site.own_origin(visit.request.headers)


def refusal_page(web: Web, refusal: Refusal) -> Response:
    """A whole page for a refusal that no other page can show."""
    shown = NOT_HERE if refusal.status == 404 else refusal
    return html(web, "refused.html", shown.status, refusal=shown)


def _to_sign_in(request: Request) -> Response:
    if "hx-request" in request.headers:
        # The session ended while a page was open: let the browser load the page anew, and sign in.
        return Response(status_code=204, headers={"HX-Refresh": "true"})
    if request.method != "GET":
        return go("/sign-in")
    wanted = request.url.path + (f"?{request.url.query}" if request.url.query else "")
    return go("/sign-in", next=wanted) if wanted != "/" else go("/sign-in")
