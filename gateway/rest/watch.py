"""What the watchdog found in a project."""

from fastapi import APIRouter
from starlette.responses import Response

from gateway.rest.context import FAILURES, CallerDep, RestDep, json_response
from gateway.rest.projects import ProjectPath
from protocol.watch import WatchList


def add_watch(router: APIRouter) -> None:
    """The list of open findings."""

    @router.get(
        "/projects/{project_id}/watch", response_model=WatchList, responses=FAILURES, tags=["projects"]
    )
    async def watch(rest: RestDep, caller: CallerDep, project_id: ProjectPath) -> Response:
        """What stands still though it should move, the longest first, with what to do about it."""
        return json_response(await rest.surface.watch(caller, project_id))
