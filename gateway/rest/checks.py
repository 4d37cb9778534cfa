"""Runs of checks and their logs. A log is the project's own output: sent as plain text, never interpreted."""

from typing import Annotated

from fastapi import APIRouter, Path
from starlette.responses import Response

from gateway.rest.context import FAILURES, CallerDep, RestDep, json_response
from protocol.answers import CheckView

CheckPath = Annotated[str, Path(max_length=100, pattern=r"^\w+$", description="The run's id (chk_…).")]


def add_checks(router: APIRouter) -> None:
    """Read one run, and its log."""

    @router.get("/checks/{check_id}", response_model=CheckView, responses=FAILURES, tags=["checks"])
    async def check(rest: RestDep, caller: CallerDep, check_id: CheckPath) -> Response:
        """One run of the checks."""
        return json_response(await rest.surface.check(caller, check_id))

    @router.get(
        "/checks/{check_id}/log",
        response_class=Response,
        responses={**FAILURES, 200: {"content": {"text/plain": {"schema": {"type": "string"}}}}},
        tags=["checks"],
    )
    async def check_log(rest: RestDep, caller: CallerDep, check_id: CheckPath) -> Response:
        """What the checks printed."""
        return Response(
            await rest.surface.check_log(caller, check_id),
            headers={"Content-Type": "text/plain; charset=utf-8", "X-Content-Type-Options": "nosniff"},
        )
