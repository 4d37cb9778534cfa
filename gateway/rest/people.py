"""People: invited by owners, signed in by links that work once."""

from typing import Annotated

from fastapi import APIRouter
from starlette.responses import Response

from gateway.rest.context import FAILURES, CallerDep, RestDep, json_response
from gateway.rest.projects import example_of
from protocol.people import InvitePerson, MakeLink, SignInLink


def add_people(router: APIRouter) -> None:
    """Invite a person; make a sign-in link."""

    @router.post("/people", status_code=201, response_model=SignInLink, responses=FAILURES, tags=["people"])
    async def invite(
        rest: RestDep, caller: CallerDep, given: Annotated[InvitePerson, example_of(InvitePerson)]
    ) -> Response:
        """Add a person to projects you own. The link signs them in once, within 15 minutes."""
        return json_response(await rest.surface.invite(caller, given), 201)

    @router.post(
        "/sign-in-links", status_code=201, response_model=SignInLink, responses=FAILURES, tags=["people"]
    )
    async def make_link(
        rest: RestDep, caller: CallerDep, given: Annotated[MakeLink, example_of(MakeLink)]
    ) -> Response:
        """Make another sign-in link: for yourself, or for a person all of whose projects you own."""
        return json_response(await rest.surface.make_link(caller, given), 201)
