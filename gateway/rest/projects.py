"""Projects, their settings and their ledgers."""

from typing import Annotated, Any

from fastapi import APIRouter, Body, Path
from starlette.responses import Response

from gateway.rest.context import FAILURES, CallerDep, RestDep, json_response
from gateway.rest.examples import EXAMPLES
from protocol.checks import FlakyList
from protocol.events import ChainVerdict
from protocol.intents import ProjectsInput
from protocol.projects import ChangeSettings, CreateProject, Project
from protocol.refusals import not_found

ProjectPath = Annotated[str, Path(max_length=100, description="The project's id (prj_…) or slug.")]


def example_of(model: type[Any]) -> Any:
    """A body parameter that shows the model's example."""
    return Body(openapi_examples={"example": {"value": EXAMPLES[model]}})


def add_projects(router: APIRouter) -> None:
    """Create, read and change projects; audit a ledger."""

    @router.post("/projects", status_code=201, response_model=Project, responses=FAILURES, tags=["projects"])
    async def create_project(
        rest: RestDep, caller: CallerDep, given: Annotated[CreateProject, example_of(CreateProject)]
    ) -> Response:
        """Create a project, empty or imported from a repository. A person's token is needed."""
        # A large import takes its time, and goes on when the caller leaves.
        return json_response(await rest.surface.create_project(caller, given), 201)

    @router.get("/projects/{project_id}", response_model=Project, responses=FAILURES, tags=["projects"])
    async def read_project(rest: RestDep, caller: CallerDep, project_id: ProjectPath) -> Response:
        """One of the projects the token names."""
        listed = await rest.surface.projects(caller, ProjectsInput())
        for project in listed.projects:
            if project_id in (project.id, project.slug):
                return json_response(project)
        raise not_found(
            "project of this name", "Call GET /api/v1/projects (gitring_projects) to see the ones there are."
        )

    @router.patch("/projects/{project_id}", response_model=Project, responses=FAILURES, tags=["projects"])
    async def change_settings(
        rest: RestDep,
        caller: CallerDep,
        project_id: ProjectPath,
        given: Annotated[ChangeSettings, example_of(ChangeSettings)],
    ) -> Response:
        """Change the settings given and leave the others. An owner's person token is needed."""
        return json_response(await rest.surface.change_settings(caller, project_id, given))

    @router.get("/projects/{project_id}/flaky", response_model=FlakyList, responses=FAILURES, tags=["checks"])
    async def flaky(rest: RestDep, caller: CallerDep, project_id: ProjectPath) -> Response:
        """Tests that were seen red and green on the same tree, the one seen last first; at most a hundred."""
        return json_response(await rest.surface.flaky(caller, project_id))

    @router.get(
        "/projects/{project_id}/audit", response_model=ChainVerdict, responses=FAILURES, tags=["projects"]
    )
    async def audit(rest: RestDep, caller: CallerDep, project_id: ProjectPath) -> Response:
        """Recompute the hash chain of the project's ledger."""
        return json_response(await rest.surface.audit(caller, project_id))
