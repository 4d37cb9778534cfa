"""Tokens: made and revoked by the person they act for."""

from typing import Annotated

from fastapi import APIRouter, Path
from starlette.responses import Response

from gateway.rest.context import FAILURES, CallerDep, RestDep, json_response
from gateway.rest.projects import example_of
from gateway.rest.shapes import TokenList
from protocol.projects import CreateToken, NewToken, TokenInfo


def add_tokens(router: APIRouter) -> None:
    """Create, list and revoke tokens."""

    @router.post("/tokens", status_code=201, response_model=NewToken, responses=FAILURES, tags=["tokens"])
    async def create_token(
        rest: RestDep, caller: CallerDep, given: Annotated[CreateToken, example_of(CreateToken)]
    ) -> Response:
        """Make a token for an agent. It is shown this once. A person's token is needed."""
        return json_response(await rest.surface.create_token(caller, given), 201)

    @router.get("/tokens", response_model=TokenList, responses=FAILURES, tags=["tokens"])
    async def list_tokens(rest: RestDep, caller: CallerDep) -> Response:
        """The person's tokens, without their secrets."""
        return json_response(TokenList(tokens=await rest.surface.list_tokens(caller)))

    @router.delete("/tokens/{token_id}", response_model=TokenInfo, responses=FAILURES, tags=["tokens"])
    async def revoke_token(
        rest: RestDep,
        caller: CallerDep,
        token_id: Annotated[
            str, Path(max_length=100, pattern=r"^\w+$", description="The token's id, as the list shows it.")
        ],
    ) -> Response:
        """Revoke a token, and with it the git tokens made from it."""
        return json_response(await rest.surface.revoke_token(caller, token_id))
