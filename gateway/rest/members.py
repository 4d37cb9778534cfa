"""Members of a project and their roles, for owners."""

from typing import Annotated

from fastapi import APIRouter, Path
from starlette.responses import Response

from gateway.rest.context import FAILURES, CallerDep, RestDep, json_response
from gateway.rest.projects import ProjectPath, example_of
from protocol.people import Member, MemberList, SetRole

PersonPath = Annotated[str, Path(max_length=100, description="The person's id (per_…).")]


def add_members(router: APIRouter) -> None:
    """List, read, set a role, remove."""
    path = "/projects/{project_id}/members"

    @router.get(path, response_model=MemberList, responses=FAILURES, tags=["people"])
    async def list_members(rest: RestDep, caller: CallerDep, project_id: ProjectPath) -> Response:
        """The members, owners first. An owner's person token is needed, here and below."""
        return json_response(await rest.surface.members(caller, project_id))

    @router.get(f"{path}/{{person_id}}", response_model=Member, responses=FAILURES, tags=["people"])
    async def read_member(
        rest: RestDep, caller: CallerDep, project_id: ProjectPath, person_id: PersonPath
    ) -> Response:
        """One member."""
        return json_response(await rest.surface.member(caller, project_id, person_id))

    @router.put(f"{path}/{{person_id}}", response_model=Member, responses=FAILURES, tags=["people"])
    async def set_role(
        rest: RestDep,
        caller: CallerDep,
        project_id: ProjectPath,
        person_id: PersonPath,
        given: Annotated[SetRole, example_of(SetRole)],
    ) -> Response:
        """Give a role, also to a person who is no member yet. The last owner stays one."""
        return json_response(await rest.surface.set_role(caller, project_id, person_id, given))

    @router.delete(f"{path}/{{person_id}}", response_model=Member, responses=FAILURES, tags=["people"])
    async def remove_member(
        rest: RestDep, caller: CallerDep, project_id: ProjectPath, person_id: PersonPath
    ) -> Response:
        """Take a person out of the project. The last owner stays."""
        return json_response(await rest.surface.remove_member(caller, project_id, person_id))
