"""One request of a signed-in person: who they are, what they sent, and how a page is shown to them."""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qsl, urlencode

from jinja2 import Environment
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response

from gateway.reads import Reads
from gateway.repositories import Repositories
from gateway.surface import Surface
from gateway.web.sessions import Sessions
from gateway.web.site import Site, form_key
from gateway.web.static import Static
from protocol.projects import Caller, TokenKind
from protocol.refusals import Refusal
from storage.sql import pages
from storage.sql.sessions import SessionRow

_MOST_FIELDS = 1000
# No person types a NUL, and the record keeps none.
_NO_NUL = "\ufffd"
HEADERS = {
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
        "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
    ),
    # Not `no-referrer`: under it a browser sends our own forms with the origin `null`.
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
}
# What a page says once after a form was taken.
DONE = {
    "approved": "Approved.",
    "returned": "Sent back. Its agent has been told.",
    "withdrawn": "Withdrawn.",
    "asked": "Asked for. The agent has been told, and cannot submit before it is done.",
    "settled": "Settled. Everybody's order follows from it.",
    "accepted": "Accepted, as it is now.",
    "saved": "Saved.",
    "paused": "The queue stands still: what is being landed lands, nothing more begins.",
    "draining": "What is queued by now lands; then the queue stands still.",
    "resumed": "The queue moves again.",
    "landing_now": "It lands before all others.",
    "revoked": "Revoked.",
    "ended": "That session is over.",
    "asked_agents": "Asked. Your agents find it with gitring_asks, and one of them takes it up.",
    "added": "Added.",
    "removed": "Removed. Their pages and their agents' calls to this project ended at once.",
    "left": "You left the project.",
    "line_made": "The line is there. Agents declare into it by its name.",
    "series_made": "The series is there. Intents reserve its numbers when they are declared.",
}


@dataclass(frozen=True)
class Web:
    """What all pages share."""

    surface: Surface
    reads: Reads
    sessions: Sessions
    site: Site
    static: Static
    templates: Environment
    repositories: Repositories


@dataclass
class Visit:
    """One request. `problem` is the refusal that a form met, when the page is shown again because of it."""

    web: Web
    request: Request
    session: SessionRow
    secret: str
    form: Mapping[str, str] = field(default_factory=dict)
    problem: Refusal | None = None

    @property
    def caller(self) -> Caller:
        """The person, as the operations know callers."""
        return Caller(
            token_id=self.session.id,
            kind=TokenKind.PERSON,
            token_name=self.session.person_name,
            person_id=self.session.person_id,
            person_name=self.session.person_name,
            project_ids=[],
        )

    @property
    def slug(self) -> str:
        """The project in the address."""
        return str(self.request.path_params["slug"])

    async def show(self, template: str, status: int = 200, **values: Any) -> Response:
        """The page, with what every page holds: the person, the key of its forms, how many decisions wait."""
        async with self.web.reads.snapshot() as connection:
            waiting = await pages.waiting_count(connection, self.session.person_id)
        if self.problem is not None:
            status = self.problem.status
        # A large patch takes a moment to write out; other calls go on meanwhile.
        return await asyncio.to_thread(
            html,
            self.web,
            template,
            status,
            person=self.session.person_name,
            form_key=form_key(self.secret),
            waiting=waiting,
            problem=self.problem,
            done=DONE.get(self.request.query_params.get("done", "")),
            **{"stream": None, "address": self.request.url.path, **values},
        )


def html(web: Web, template: str, status: int, **values: Any) -> Response:
    """A page from its template."""
    page = web.templates.get_template(template).render(static=web.static.address, **values)
    return HTMLResponse(page, status, HEADERS)


def go(path: str, place: str = "", **query: str) -> Response:
    """Send the browser on to one of our pages by GET, to a `place` on it where one is named."""
    address = f"{path}?{urlencode(query)}" if query else path
    return RedirectResponse(f"{address}#{place}" if place else address, 303, HEADERS)


async def form_of(request: Request) -> dict[str, str]:
    """The fields of a form; of a field that was sent twice, the last. Empty for any other body."""
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind != "application/x-www-form-urlencoded":
        return {}
    body = (await request.body()).decode("utf-8", "replace").replace("\0", _NO_NUL).replace("%00", _NO_NUL)
    try:
        return dict(parse_qsl(body, keep_blank_values=True, max_num_fields=_MOST_FIELDS))
    except ValueError:
        return {}
