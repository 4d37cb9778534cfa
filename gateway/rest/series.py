"""Series of numbers: listed by all, created by owners."""

from typing import Annotated

from fastapi import APIRouter
from starlette.responses import Response

from gateway.rest.context import FAILURES, CallerDep, RestDep, json_response
from gateway.rest.projects import ProjectPath, example_of
from protocol.projects import CreateSeries, SeriesList


def add_series(router: APIRouter) -> None:
    """List and create."""

    @router.get(
        "/projects/{project_id}/series", response_model=SeriesList, responses=FAILURES, tags=["series"]
    )
    async def list_series(rest: RestDep, caller: CallerDep, project_id: ProjectPath) -> Response:
        """The series that intents reserve numbers from, each with the number that is given next."""
        return json_response(await rest.surface.series(caller, project_id))

    @router.post(
        "/projects/{project_id}/series",
        status_code=201,
        response_model=SeriesList,
        responses=FAILURES,
        tags=["series"],
    )
    async def create_series(
        rest: RestDep,
        caller: CallerDep,
        project_id: ProjectPath,
        given: Annotated[CreateSeries, example_of(CreateSeries)],
    ) -> Response:
        """Create a series. Its numbers only grow: none is given twice. An owner's person token is needed."""
        return json_response(await rest.surface.create_series(caller, project_id, given), 201)
