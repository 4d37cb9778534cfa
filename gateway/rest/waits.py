"""A wait for several intents; the wait for one is the twin of `gitring_wait`."""

from typing import Annotated

from fastapi import APIRouter, Query
from starlette.responses import Response

from gateway.calls import json_of
from gateway.held import json_answer
from gateway.rest.context import FAILURES, CallerDep, RestDep
from protocol.answers import WaitAnswer
from protocol.ids import IntentIdField
from protocol.intents import DEFAULT_WAIT_SEC, MOST_WAITED_FOR, REST_WAIT_SEC, WaitInput
from protocol.tools import BY_NAME
from protocol.wire import MOST_SEQ

_TOOL = BY_NAME["gitring_wait"]


def add_wait_of_several(router: APIRouter) -> None:
    """Add it before the routes of single intents, whose ids would take `wait` for one."""

    @router.get(
        "/intents/wait",
        response_model=WaitAnswer,
        responses=FAILURES,
        tags=["tools"],
    )
    async def wait_for_the_first_of_several(
        rest: RestDep,
        caller: CallerDep,
        intent_ids: Annotated[
            list[IntentIdField],
            Query(
                alias="intentIds",
                min_length=1,
                max_length=MOST_WAITED_FOR,
                description="Intents of one project; given several times.",
            ),
        ],
        after_seq: Annotated[
            int, Query(alias="afterSeq", ge=0, le=MOST_SEQ, description="The afterSeq of the last answer.")
        ],
        seconds: Annotated[int, Query(ge=0, le=REST_WAIT_SEC)] = DEFAULT_WAIT_SEC,
    ) -> Response:
        """The first of these intents that moves answers, as `gitring_wait` with `intentIds` does."""
        given = WaitInput(intent_ids=intent_ids, after_seq=after_seq, seconds=seconds)

        async def waited() -> bytes:
            return json_of(await rest.calls.run(_TOOL, caller, given))

        return json_answer(waited, rest.limits)
