"""Asks as people write and close them; reading them is the twin of `gitring_asks`."""

from typing import Annotated

from fastapi import APIRouter, Path
from starlette.responses import Response

from gateway.rest.context import FAILURES, CallerDep, RestDep, json_response
from gateway.rest.projects import ProjectPath, example_of
from protocol.asks import AgentAsk, CreateAsk
from protocol.ids import AskIdField

AskPath = Annotated[AskIdField, Path(description="The ask's id (ask_…).")]


def add_asks(router: APIRouter) -> None:
    """Open and close."""

    @router.post(
        "/projects/{project_id}/asks",
        status_code=201,
        response_model=AgentAsk,
        responses=FAILURES,
        tags=["asks"],
    )
    async def open_ask(
        rest: RestDep,
        caller: CallerDep,
        project_id: ProjectPath,
        given: Annotated[CreateAsk, example_of(CreateAsk)],
    ) -> Response:
        """Ask your own agents for something, in your words. A person's token is needed."""
        return json_response(await rest.surface.open_ask(caller, project_id, given), 201)

    @router.post("/asks/{ask_id}/close", response_model=AgentAsk, responses=FAILURES, tags=["asks"])
    async def close_ask(rest: RestDep, caller: CallerDep, ask_id: AskPath) -> Response:
        """Give an open ask up: its person does, or an owner of the project."""
        return json_response(await rest.surface.close_ask(caller, ask_id))
