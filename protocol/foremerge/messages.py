"""Messages between agents: durable, polled, never an interruption."""

from datetime import datetime
from typing import Annotated

from pydantic import Field

from protocol.foremerge.wire import ForemergeAnswer, ForemergeInput, Id, Text
from protocol.foremerge.words import MessageStatus


class CoordinateInput(ForemergeInput):
    """`coordinate_with_agent`."""

    from_agent_id: Annotated[Id, Field(description="Your agent id.")]
    to_agent_id: Annotated[Id, Field(description="The agent the message is for.")]
    message: Annotated[Text, Field(description="What you propose or answer.")]
    conflict_id: Annotated[
        Id | None,
        Field(description="The stored conflict (cfl_…) it is about; that conflict is then coordinating."),
    ] = None
    changeset_id: Annotated[Id | None, Field(description="The ChangeSet (chg_…) it is about.")] = None
    mark_read: Annotated[
        list[Id],
        Field(
            max_length=500,
            description="Messages (msg_…) to you that you have read; status with inbox_of no longer shows them.",
        ),
    ] = []


class CoordinationMessage(ForemergeAnswer):
    """A message as it was sent."""

    id: str
    from_agent_id: str
    to_agent_id: str
    message: str
    conflict_id: str | None = None
    changeset_id: str | None = None
    status: MessageStatus = MessageStatus.UNREAD
    created_at: datetime
