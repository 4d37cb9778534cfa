"""What the JSON API takes beyond the protocol's own routes, for the command: no agent calls these over MCP."""

from typing import Annotated

from pydantic import Field, StringConstraints

from protocol.checks import MAX_COMMAND as MOST_COMMAND
from protocol.foremerge.agents import AgentRef
from protocol.foremerge.changesets import ChangeSetRef
from protocol.foremerge.claims import ReleaseBody, ReleaseClaimsInput, ReleasedClaims
from protocol.foremerge.conflicts import CheckConflictsInput, ConflictReport
from protocol.foremerge.intents import AdoptWorkInput, Intent, PublishedIntent, PublishIntentInput
from protocol.foremerge.routes import DiscardBody, Route
from protocol.foremerge.scopes import Scope
from protocol.foremerge.validations import Validation
from protocol.foremerge.wire import MOST_SCOPES, ForemergeAnswer, ForemergeInput, Id, PathText


class AdoptBody(DiscardBody):
    """Body of `POST /v1/work/{intent_id}/adopt`."""

    reason: Annotated[str, Field(description="Why the work changes hands.")]


class ReadBody(ForemergeInput):
    """Body of `POST /v1/agents/{agent_id}/inbox/read`."""

    message_ids: Annotated[
        list[Id], Field(min_length=1, max_length=500, description="The messages (msg_…) that were read.")
    ]


class ReadMessagesInput(ReadBody):
    """`read_messages`."""

    agent_id: AgentRef


class MessagesRead(ForemergeAnswer):
    """How many of the messages were unread until now."""

    read: int


class PublishInferringInput(PublishIntentInput):
    """`POST /v1/intents/infer`: as a publication; the operation on an undeclared scope is read from the summary."""

    undeclared: Annotated[
        list[Scope],
        Field(
            max_length=MOST_SCOPES,
            description="Scopes without an operation. One that was only read from the summary never asserts a conflict.",
        ),
    ] = []


class CheckInferringInput(CheckConflictsInput):
    """`POST /v1/conflicts/check/infer`: as a check; the operation on an undeclared scope is read from the words."""

    undeclared: Annotated[
        list[Scope], Field(max_length=MOST_SCOPES, description="Scopes without an operation.")
    ] = []


class BindInput(ForemergeInput):
    """`POST /v1/binding`."""

    common_dir: Annotated[
        PathText,
        Field(
            description="The Git folder, on the server's host, that all worktrees of the repository share."
        ),
    ]


class BindingQuery(ForemergeInput):
    """`GET /v1/binding`."""


class Binding(ForemergeAnswer):
    """The repository folder that a project is bound to: its worktrees are read where they lie. None: work is pushed."""

    project_id: str
    common_dir: str | None


class CommandBody(ForemergeInput):
    """Body of `POST /v1/changesets/{changeset_id}/validate/command`."""

    command: Annotated[
        list[Annotated[str, StringConstraints(max_length=MOST_COMMAND)]],
        Field(
            min_length=1, max_length=128, description="The program and its arguments, run without a shell."
        ),
    ]
    timeout_seconds: Annotated[int, Field(ge=1, le=3_600, description="How long it may take.")] = 300


class RunCommandInput(CommandBody):
    """`run_command`."""

    changeset_id: ChangeSetRef


OPERATOR_ROUTES = (
    Route("POST", "/v1/intents/infer", "publish_inferring", PublishInferringInput),
    Route("POST", "/v1/work/{intent_id}/adopt", "adopt_work", AdoptBody),
    Route("POST", "/v1/work/{intent_id}/release", "release_claims", ReleaseBody),
    Route("POST", "/v1/agents/{agent_id}/inbox/read", "read_messages", ReadBody),
    Route("POST", "/v1/conflicts/check/infer", "check_inferring", CheckInferringInput),
    Route("POST", "/v1/changesets/{changeset_id}/validate/command", "run_command", CommandBody),
    Route("POST", "/v1/binding", "bind", BindInput),
    Route("GET", "/v1/binding", "binding"),
)
OPERATOR_INPUTS: dict[str, type[ForemergeInput]] = {
    "publish_inferring": PublishInferringInput,
    "adopt_work": AdoptWorkInput,
    "release_claims": ReleaseClaimsInput,
    "read_messages": ReadMessagesInput,
    "check_inferring": CheckInferringInput,
    "run_command": RunCommandInput,
    "bind": BindInput,
    "binding": BindingQuery,
}
OPERATOR_ANSWERS: dict[str, type[ForemergeAnswer]] = {
    "publish_inferring": PublishedIntent,
    "adopt_work": Intent,
    "release_claims": ReleasedClaims,
    "read_messages": MessagesRead,
    "check_inferring": ConflictReport,
    "run_command": Validation,
    "bind": Binding,
    "binding": Binding,
}
