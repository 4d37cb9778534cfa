"""Finished work: the merged and withdrawn intents of a project, sought by state, line and words of the title."""

from typing import NamedTuple
from urllib.parse import urlencode

from starlette.responses import Response

from gateway.web.router import PageRoutes
from gateway.web.visit import Visit
from protocol.states import State
from storage.sql import events, projects
from storage.sql import finished as record
from storage.sql.finished import FINAL, Sought

PAGE = 50
_MOST_CHARS = 200


class Filter(NamedTuple):
    """What the form of the page says; empty strings ask for everything."""

    state: str
    line: str
    text: str

    @property
    def sought(self) -> Sought:
        """The same for the record."""
        states = [state for state in FINAL if state == self.state] or list(FINAL)
        return Sought(states, self.line or None, self.text or None)

    def query(self, before: int | None = None) -> str:
        """The address's query that asks for the same, from this number down; empty when there is nothing to say."""
        fields = {"state": self.state, "line": self.line, "q": self.text, "before": before}
        said = urlencode({name: value for name, value in fields.items() if value})
        return f"?{said}" if said else ""


async def finished(visit: Visit) -> Response:
    """`/p/{slug}/finished?state=merged&line=main&q=words&before=N`."""
    seen = await visit.web.reads.seen(visit.caller, visit.slug)
    wanted, before = _filter(visit), _before(visit)
    async with visit.web.reads.snapshot() as connection:
        rows = await record.finished(connection, seen.project.id, wanted.sought, before, PAGE + 1)
        lines = await projects.lines(connection, seen.project.id)
        newest = await events.last_seq(connection, seen.project.id)
    slug = seen.project.slug
    return await visit.show(
        "finished.html",
        slug=slug,
        rows=rows[:PAGE],
        older=wanted.query(rows[PAGE - 1].number) if len(rows) > PAGE else None,
        newest=wanted.query() if before else None,
        wanted=wanted,
        states=(State.MERGED, State.WITHDRAWN),
        lines=[line.name for line in lines],
        query=wanted.query(before),
        stream=f"/p/{slug}/live?after={newest}",
        address=f"/p/{slug}/finished",
    )


def _filter(visit: Visit) -> Filter:
    given = visit.request.query_params
    state, line, text = (given.get(name, "").strip()[:_MOST_CHARS] for name in ("state", "line", "q"))
    return Filter(state if state in FINAL else "", line, text)


def _before(visit: Visit) -> int | None:
    given = visit.request.query_params.get("before", "")
    return int(given) if given.isascii() and given.isdigit() and 0 < len(given) <= 15 else None


def add_finished(routes: PageRoutes) -> None:
    """The page."""
    routes.get("/p/{slug}/finished", finished)
