"""Intents as people see them: the list, and decisions."""

from typing import Annotated

from fastapi import APIRouter, Path, Query
from starlette.responses import Response

from gateway.rest.context import FAILURES, CallerDep, RestDep, json_response
from gateway.rest.projects import ProjectPath, example_of
from gateway.rest.shapes import IntentList
from protocol.answers import IntentDetail
from protocol.ids import IntentIdField
from protocol.intents import DecideInput
from protocol.states import State


def add_intents(router: APIRouter) -> None:
    """List intents; decide on one."""

    @router.get(
        "/projects/{project_id}/intents", response_model=IntentList, responses=FAILURES, tags=["intents"]
    )
    async def list_intents(
        rest: RestDep,
        caller: CallerDep,
        project_id: ProjectPath,
        state: Annotated[
            list[State] | None, Query(description="Only these states; may be given several times.")
        ] = None,
        limit: Annotated[int, Query(ge=1, le=500)] = 100,
    ) -> Response:
        """The project's intents, newest first."""
        found = await rest.surface.intents(caller, project_id, frozenset(state) if state else None, limit)
        return json_response(IntentList(intents=found))

    @router.post(
        "/intents/{intent_id}/decisions", response_model=IntentDetail, responses=FAILURES, tags=["intents"]
    )
    async def decide(
        rest: RestDep,
        caller: CallerDep,
        intent_id: Annotated[IntentIdField, Path(description="The intent's id (int_…).")],
        given: Annotated[DecideInput, example_of(DecideInput)],
    ) -> Response:
        """Approve a plan or a merge, or send it back. Agents are refused."""
        return json_response(await rest.surface.decide(caller, intent_id, given))
