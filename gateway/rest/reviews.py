"""What people and other agents say of an intent; none of it is a tool of agents' own work."""

from collections.abc import Callable
from typing import Annotated, Any, TypeVar

from fastapi import APIRouter, Path
from starlette.responses import Response

from gateway.rest.context import FAILURES, CallerDep, RestDep, json_response
from gateway.rest.projects import example_of
from protocol.answers import IntentDetail
from protocol.ids import IntentIdField
from protocol.intents import AcceptDriftInput, CommentInput, LandNowInput, SettleInput, SuggestInput

Endpoint = TypeVar("Endpoint", bound=Callable[..., Any])

IntentPath = Annotated[IntentIdField, Path(description="The intent's id (int_…).")]


def add_reviews(router: APIRouter) -> None:
    """Comment, suggest, settle, accept drift."""

    def route(path: str) -> Callable[[Endpoint], Endpoint]:
        return router.post(
            f"/intents/{{intent_id}}/{path}",
            response_model=IntentDetail,
            responses=FAILURES,
            tags=["intents"],
        )

    @route("comments")
    async def comment(
        rest: RestDep,
        caller: CallerDep,
        intent_id: IntentPath,
        given: Annotated[CommentInput, example_of(CommentInput)],
    ) -> Response:
        """Ask for a change, on lines of a file or on the whole. It blocks the submit. Agents are refused."""
        return json_response(await rest.surface.comment(caller, intent_id, given))

    @route("suggestions")
    async def suggest(
        rest: RestDep,
        caller: CallerDep,
        intent_id: IntentPath,
        given: Annotated[SuggestInput, example_of(SuggestInput)],
    ) -> Response:
        """Suggest something to another agent: quoted as untrusted, never blocking."""
        return json_response(await rest.surface.suggest(caller, intent_id, given))

    @route("settlements")
    async def settle(
        rest: RestDep,
        caller: CallerDep,
        intent_id: IntentPath,
        given: Annotated[SettleInput, example_of(SettleInput)],
    ) -> Response:
        """Say which of two intents in conflict goes first. Agents are refused."""
        return json_response(await rest.surface.settle_conflict(caller, intent_id, given))

    @route("accepted-drift")
    async def accept_drift(
        rest: RestDep,
        caller: CallerDep,
        intent_id: IntentPath,
        given: Annotated[AcceptDriftInput, example_of(AcceptDriftInput)],
    ) -> Response:
        """Accept what the pushes change outside the plan. Agents are refused."""
        return json_response(await rest.surface.accept_drift(caller, intent_id, given))

    @route("landing")
    async def land_now(
        rest: RestDep,
        caller: CallerDep,
        intent_id: IntentPath,
        given: Annotated[LandNowInput, example_of(LandNowInput)],
    ) -> Response:
        """Have an intent land before all others, after its checks or without. An owner's person token is needed."""
        return json_response(await rest.surface.land_now(caller, intent_id, given))
