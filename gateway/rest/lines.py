"""Lines of a project: listed by all, made, paused and resumed by owners."""

from typing import Annotated

from fastapi import APIRouter, Path
from starlette.responses import Response

from gateway.rest.context import FAILURES, CallerDep, RestDep, json_response
from gateway.rest.projects import ProjectPath, example_of
from protocol.projects import CreateLine, LineList, PauseLine

LinePath = Annotated[str, Path(max_length=200, description="The line's name; it may hold slashes.")]


def add_lines(router: APIRouter) -> None:
    """List, create, pause, drain, resume."""

    @router.get("/projects/{project_id}/lines", response_model=LineList, responses=FAILURES, tags=["lines"])
    async def list_lines(rest: RestDep, caller: CallerDep, project_id: ProjectPath) -> Response:
        """The lines, with their heads and how many intents stand in each queue."""
        return json_response(await rest.surface.lines(caller, project_id))

    @router.post(
        "/projects/{project_id}/lines",
        status_code=201,
        response_model=LineList,
        responses=FAILURES,
        tags=["lines"],
    )
    async def create_line(
        rest: RestDep,
        caller: CallerDep,
        project_id: ProjectPath,
        given: Annotated[CreateLine, example_of(CreateLine)],
    ) -> Response:
        """Begin a line from another line's head or a commit. An owner's person token is needed."""
        return json_response(await rest.surface.create_line(caller, project_id, given), 201)

    @router.post(
        "/projects/{project_id}/lines/{line:path}/pause",
        response_model=LineList,
        responses=FAILURES,
        tags=["lines"],
    )
    async def pause_line(
        rest: RestDep,
        caller: CallerDep,
        project_id: ProjectPath,
        line: LinePath,
        given: Annotated[PauseLine, example_of(PauseLine)],
    ) -> Response:
        """Let the queue stand still. What is being landed lands; nothing more begins."""
        return json_response(await rest.surface.pause_line(caller, project_id, line, given))

    @router.post(
        "/projects/{project_id}/lines/{line:path}/drain",
        response_model=LineList,
        responses=FAILURES,
        tags=["lines"],
    )
    async def drain_line(
        rest: RestDep,
        caller: CallerDep,
        project_id: ProjectPath,
        line: LinePath,
        given: Annotated[PauseLine, example_of(PauseLine)],
    ) -> Response:
        """Land what is queued by now, then let the queue stand still; what comes later waits."""
        return json_response(await rest.surface.drain_line(caller, project_id, line, given))

    @router.post(
        "/projects/{project_id}/lines/{line:path}/resume",
        response_model=LineList,
        responses=FAILURES,
        tags=["lines"],
    )
    async def resume_line(
        rest: RestDep, caller: CallerDep, project_id: ProjectPath, line: LinePath
    ) -> Response:
        """Let the queue move again."""
        return json_response(await rest.surface.resume_line(caller, project_id, line))
