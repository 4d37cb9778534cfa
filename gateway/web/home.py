"""The inbox (all that waits for a person, whatever the project) and the list of projects."""

from datetime import datetime
from typing import Any, NamedTuple

from starlette.responses import Response

from gateway.web.inputs import checked, text
from gateway.web.reasons import why_asked
from gateway.web.router import PageRoutes
from gateway.web.visit import Visit, go
from protocol.intents import ProjectsInput
from protocol.projects import CreateProject, Project
from protocol.states import State
from protocol.watch import WatchKind
from storage.sql import ask_pages, finished, pages, watch
from storage.sql.finished import WaitingIntent
from storage.sql.inbox import asking as found_asking
from storage.sql.inbox import drifting as found_drifting
from storage.sql.inbox import unsettled as found_unsettled

_MOST = 200
_MOST_TO_SEE = 50
_WAITING_NAMED = 3
# Of the others gitring heals one itself, and paused lines stand in the inbox at once.
_FOR_PEOPLE = [kind for kind in WatchKind if kind not in (WatchKind.WORKFLOW_MISSING, WatchKind.PAUSED_LONG)]


class ListedProject(NamedTuple):
    """A project in the list: what is live in which state, what waits for a person (the first few, and how many in all),
    how many asks of the person are open, and which lines stand still with work in their queue, as owners see it.
    """

    project: Project
    states: dict[State, int]
    waiting: list[WaitingIntent]
    waiting_count: int
    asks: int
    paused: list[str]


async def inbox(visit: Visit) -> Response:
    """`/`: what waits, why and what to do; then what a person may want to look at. Each the oldest first."""
    person_id = visit.session.person_id
    async with visit.web.reads.snapshot() as connection:
        found = await pages.waiting_for_a_person(connection, person_id, _MOST)
        paused = await pages.paused_lines(connection, person_id)
        asking = await found_asking(connection, person_id, _MOST)
        begun = await pages.in_a_project(connection, person_id)
        drifting = await found_drifting(connection, person_id, _MOST_TO_SEE)
        unsettled = await found_unsettled(connection, person_id, _MOST_TO_SEE)
        stuck = await watch.of_person(connection, person_id, _FOR_PEOPLE, _MOST_TO_SEE)
    waits: list[tuple[datetime, Any]] = [
        *((item.intent.state_since, (item, why_asked(item.intent, item.settings))) for item in found),
        *((line.since, (line, None)) for line in paused),
        *((one.since, (one, "accept")) for one in asking),
    ]
    to_see: list[tuple[datetime, Any]] = [
        *((item.since, ("drift", item)) for item in drifting),
        *((pair.since, ("order", pair)) for pair in unsettled),
    ]
    return await visit.show(
        "inbox.html",
        begun=begun,
        waits=_oldest_first(waits),
        stuck=stuck,
        to_see=_oldest_first(to_see),
        few=_MOST_TO_SEE in (len(drifting), len(unsettled)),
        full=_MOST in (len(found), len(asking)),
        stream="/live",
        address="/",
    )


def _oldest_first(entries: list[tuple[datetime, Any]]) -> list[Any]:
    return [entry for _, entry in sorted(entries, key=lambda one: one[0])]


async def projects(visit: Visit) -> Response:
    """`/projects`."""
    listed = await visit.web.surface.projects(visit.caller, ProjectsInput())
    ids = [project.id for project in listed.projects]
    async with visit.web.reads.snapshot() as connection:
        counts = await pages.waiting_counts(connection, ids)
        waiting = await finished.waiting(connection, ids, _WAITING_NAMED)
        states = await finished.live_states(connection, ids)
        asks = await ask_pages.open_counts(connection, ids, visit.session.person_id)
        paused = await pages.paused_lines(connection, visit.session.person_id)
    return await visit.show(
        "projects.html",
        projects=[
            ListedProject(
                project,
                states.get(project.id, {}),
                waiting.get(project.id, []),
                counts.get(project.id, 0),
                asks.get(project.id, 0),
                [line.line for line in paused if line.slug == project.slug],
            )
            for project in listed.projects
        ],
        given=visit.form,
        stream="/live",
        address="/projects",
    )


async def create_project(visit: Visit) -> Response:
    """`POST /projects`: import a repository, or begin an empty one."""
    test = text(visit, "test")
    given = checked(
        CreateProject,
        slug=text(visit, "slug") or "",
        source=text(visit, "source"),
        checks={"test": test} if test else None,
    )
    made = await visit.web.surface.create_project(visit.caller, given)
    return go(f"/p/{made.slug}/settings")


def add_home(routes: PageRoutes) -> None:
    """`/` and `/projects`."""
    routes.get("/", inbox)
    routes.get("/projects", projects)
    routes.post("/projects", create_project, projects)
