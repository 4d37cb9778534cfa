"""The inbox (all that waits for a person, whatever the project) and the list of projects."""

from starlette.responses import Response

from gateway.web.inputs import checked, text
from gateway.web.reasons import why_asked
from gateway.web.router import PageRoutes
from gateway.web.visit import Visit, go
from protocol.intents import ProjectsInput
from protocol.projects import CreateProject
from storage.sql import pages

_MOST = 200


async def inbox(visit: Visit) -> Response:
    """`/`: what waits, why, the oldest first."""
    person_id = visit.session.person_id
    async with visit.web.reads.snapshot() as connection:
        found = await pages.waiting_for_a_person(connection, person_id, _MOST)
        paused = await pages.paused_lines(connection, person_id)
    return await visit.show(
        "inbox.html",
        items=[(item, why_asked(item.intent, item.settings)) for item in found],
        paused=paused,
        full=len(found) == _MOST,
        stream="/live",
        address="/",
    )


async def projects(visit: Visit) -> Response:
    """`/projects`."""
    listed = await visit.web.surface.projects(visit.caller, ProjectsInput())
    async with visit.web.reads.snapshot() as connection:
        counts = await pages.waiting_counts(connection, [project.id for project in listed.projects])
    return await visit.show(
        "projects.html",
        projects=[(project, counts.get(project.id, 0)) for project in listed.projects],
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
