"""Inputs of the tools about intents (the gitring document, one section a tool)."""

from typing import Annotated, Literal, Self
from urllib.parse import urlsplit

from pydantic import AfterValidator, Field, StringConstraints, model_validator

from protocol.claims import Claims
from protocol.ids import AskIdField, ChangeRequestIdField, IntentIdField, Sha
from protocol.scopes import Path, Scope, checked_path
from protocol.states import Priority
from protocol.wire import MOST_SEQ, Input

Line1 = Annotated[str, StringConstraints(min_length=1, max_length=300)]
Text = Annotated[str, StringConstraints(min_length=1, max_length=10_000)]
RequestId = Annotated[
    str,
    StringConstraints(min_length=1, max_length=100, pattern=r"^[\x21-\x7e]+$"),
    Field(
        description="A new UUID for each write you mean to do once; send it again to repeat the call safely."
    ),
]
IntentRef = Annotated[IntentIdField, Field(description="The intent's id (int_…).")]
ProjectRef = Annotated[str, Field(max_length=100, description="The project's id (prj_…) or slug.")]


def _one_line(text: str) -> str:
    if any(not char.isprintable() for char in text):
        raise ValueError("one line, without control characters")
    return text


def _https(url: str) -> str:
    parts = urlsplit(url)
    if parts.scheme != "https" or not parts.hostname or parts.username or parts.password:
        raise ValueError("an https URL without user name or password")
    return _one_line(url)


IssueUrl = Annotated[str, StringConstraints(max_length=2000), AfterValidator(_https)]
SessionName = Annotated[str, StringConstraints(min_length=1, max_length=40), AfterValidator(_one_line)]
Reason = Annotated[str, StringConstraints(min_length=1, max_length=2000)]


class Plan(Input):
    """How the work will be done, and where."""

    summary: Annotated[
        str,
        StringConstraints(min_length=1, max_length=4000),
        Field(description="The plan in a sentence or two."),
    ]
    steps: Annotated[
        list[Annotated[str, StringConstraints(min_length=1, max_length=1000)]],
        Field(max_length=100, description="The steps, in order."),
    ] = []
    scope: Annotated[Scope, Field(description="The places you will change and the ones you only use.")]
    checks: Annotated[
        list[Annotated[str, StringConstraints(max_length=1000)]],
        Field(max_length=50, description="Commands that show the work is right."),
    ] = []


class DeclareInput(Input):
    """`gitring_declare`."""

    project_id: ProjectRef | None = None
    title: Annotated[Line1, Field(description="What you will do, in one line.")]
    goal: Annotated[Text, Field(description="What is better for whom when it is done.")]
    plan: Annotated[Plan, Field(description="How you will do it, and where.")]
    target: Annotated[
        str | None, Field(max_length=200, description="The line the work lands on; main by default.")
    ] = None
    priority: Annotated[Priority, Field(description="`high` goes first among equals.")] = Priority.NORMAL
    issue: Annotated[IssueUrl | None, Field(description="https URL of the issue this work serves.")] = None
    depends_on: Annotated[
        list[IntentIdField],
        Field(max_length=50, description="Ids of intents that must land before this one."),
    ] = []
    claims: Claims = []
    ask_id: Annotated[
        AskIdField | None,
        Field(
            description="The ask of your person (gitring_asks) that this work takes up; each is taken up once."
        ),
    ] = None
    session_name: Annotated[
        SessionName | None,
        Field(
            alias="as",
            description="A name for this session when one connection serves several; others never see it.",
        ),
    ] = None
    request_id: RequestId | None = None


class IntentInput(Input):
    """A tool that takes an intent and nothing else."""

    intent_id: IntentRef


class UpdatePlanInput(Input):
    """`gitring_update_plan`. `issue` and `dependsOn` are kept when left out; `issue: null` removes it."""

    intent_id: IntentRef
    plan: Annotated[Plan, Field(description="The whole new plan; it replaces the old one.")]
    reason: Annotated[Reason | None, Field(description="Why the plan changes.")] = None
    issue: Annotated[
        IssueUrl | None, Field(description="Replaces the issue's URL; null removes it; left out keeps it.")
    ] = None
    depends_on: Annotated[
        Annotated[list[IntentIdField], Field(max_length=50)] | None,
        Field(description="Replaces the intents this one goes after; left out keeps them."),
    ] = None
    request_id: RequestId | None = None


class SubmitInput(Input):
    """`gitring_submit`."""

    intent_id: IntentRef
    head_commit: Annotated[
        Sha | None, Field(description="The push to submit, 40 hex digits; your latest push when left out.")
    ] = None
    request_id: RequestId | None = None


class WithdrawInput(Input):
    """`gitring_withdraw`."""

    intent_id: IntentRef
    reason: Annotated[Reason, Field(description="Why, for the people and agents who read it later.")]
    request_id: RequestId | None = None


class AckInput(Input):
    """`gitring_ack`."""

    intent_id: IntentRef
    change_request_id: Annotated[ChangeRequestIdField, Field(description="The request's id (chq_…).")]
    request_id: RequestId | None = None


class DecideInput(Input):
    """A person's decision on a plan or a merge (REST only)."""

    decision: Literal["approve", "send_back"]
    subject: Literal["plan", "merge"]
    note: Annotated[str | None, StringConstraints(max_length=4000)] = None
    plan_version: Annotated[
        int | None, Field(ge=1, description="The plan you read; refused when there is a newer one.")
    ] = None
    head_commit: Annotated[
        Sha | None, Field(description="The submitted commit you read; refused when it is another one.")
    ] = None
    request_id: RequestId | None = None


class CommentInput(Input):
    """A person's change request: on lines of a file of the diff, on a file, or on the whole (REST only)."""

    text: Annotated[str, StringConstraints(min_length=1, max_length=4000)]
    path: Path | None = None
    start_line: Annotated[int | None, Field(ge=1, le=10_000_000)] = None
    end_line: Annotated[int | None, Field(ge=1, le=10_000_000)] = None
    request_id: RequestId | None = None

    @model_validator(mode="after")
    def _whole_place(self) -> Self:
        if self.start_line is not None and self.path is None:
            raise ValueError("startLine needs a path")
        if (self.start_line or 0) > (self.end_line or self.start_line or 0):
            raise ValueError("endLine comes before startLine")
        return self

    @property
    def place(self) -> str | None:
        """`src/cart/cache.ts lines 10-14`."""
        if self.path is None or self.start_line is None:
            return self.path
        return f"{self.path} lines {self.start_line}-{self.end_line or self.start_line}"


class SuggestInput(Input):
    """Another agent's suggestion: data, never an order (REST only)."""

    text: Annotated[str, StringConstraints(min_length=1, max_length=2000)]
    place: Path | None = None
    request_id: RequestId | None = None


class SettleInput(Input):
    """A person says which of two intents goes first (REST only). `first` is its number."""

    conflict_id: Annotated[str, StringConstraints(pattern=r"^cnf_[0-9A-Z]{26}$")]
    first: Annotated[int, Field(ge=1)]
    note: Annotated[str | None, StringConstraints(max_length=4000)] = None
    request_id: RequestId | None = None


class AcceptDriftInput(Input):
    """A person accepts what the pushes change outside the plan (REST only)."""

    note: Annotated[str | None, StringConstraints(max_length=4000)] = None
    request_id: RequestId | None = None


class LandNowInput(Input):
    """An owner lands an intent before all others (REST and pages): `run` its checks first, or `skip` them.

    Skipped checks are run on the line afterwards.
    """

    reason: Annotated[str, StringConstraints(min_length=1, max_length=500, pattern=r"\S")]
    checks: Literal["run", "skip"] = "run"
    request_id: RequestId | None = None


MCP_WAIT_SEC = 45
REST_WAIT_SEC = 200
DEFAULT_WAIT_SEC = 60


MOST_WAITED_FOR = 50


class WaitInput(Input):
    """`gitring_wait`: answered by the first event after `afterSeq`, or after `seconds`."""

    intent_id: Annotated[
        IntentIdField | None, Field(description="The intent's id (int_…); or give intentIds.")
    ] = None
    intent_ids: Annotated[
        Annotated[list[IntentIdField], Field(min_length=1, max_length=MOST_WAITED_FOR)] | None,
        Field(description="Instead of intentId: several of one project; the first that moves answers."),
    ] = None
    after_seq: Annotated[int, Field(ge=0, le=MOST_SEQ, description="The afterSeq of the last answer.")]
    seconds: Annotated[
        int, Field(ge=0, le=REST_WAIT_SEC, description="How long to wait; over MCP at most 45.")
    ] = DEFAULT_WAIT_SEC

    @model_validator(mode="after")
    def _one_form(self) -> Self:
        if (self.intent_id is None) == (self.intent_ids is None):
            raise ValueError(f"name one intent with `intentId`, or up to {MOST_WAITED_FOR} with `intentIds`")
        return self

    @property
    def intents(self) -> list[IntentIdField]:
        """The intents waited for, each once, in the order given."""
        given = self.intent_ids if self.intent_id is None else [self.intent_id]
        return list(dict.fromkeys(given or []))

    def for_seconds(self, seconds: int) -> Self:
        """The same call, held for `seconds`."""
        return self.model_copy(update={"seconds": seconds})


class CloneInput(Input):
    """`gitring_clone`."""

    project_id: ProjectRef | None = None
    intent_id: IntentRef | None = None
    with_token: Annotated[bool, Field(description="Give a token although a credential helper is set up.")] = (
        False
    )


class ProjectsInput(Input):
    """`gitring_projects` takes nothing."""


class BoardInput(Input):
    """`gitring_board`."""

    project_id: ProjectRef | None = None
    intent_id: IntentRef | None = None
    cursor: Annotated[
        str | None, Field(max_length=300, description="The cursor of the page before, when there was more.")
    ] = None


MOST_AREA_PATHS = 20


def area_paths(area: str | None) -> list[str]:
    """The paths of `area`, each checked and once; ValueError says which is wrong and why."""
    found: dict[str, None] = {}
    for path in (part.strip() for part in (area or "").split(",")):
        if path:
            found[checked_path(path)] = None
    if len(found) > MOST_AREA_PATHS:
        raise ValueError(
            f"name at most {MOST_AREA_PATHS} paths; a folder (ending in '/') covers what is in it"
        )
    return list(found)


def _area(area: str) -> str:
    if not area_paths(area):
        raise ValueError("name at least one path, or leave area out")
    return area


class BriefInput(Input):
    """`gitring_brief`."""

    project_id: ProjectRef | None = None
    area: Annotated[
        Annotated[str, StringConstraints(max_length=8000), AfterValidator(_area)] | None,
        Field(description="The paths you will touch, joined by commas; a folder ends in '/'."),
    ] = None
    after_seq: Annotated[
        int | None,
        Field(
            ge=0,
            le=MOST_SEQ,
            description="The seq of an earlier brief: one line when the line has not moved since.",
        ),
    ] = None
    cursor: Annotated[
        str | None,
        Field(max_length=60, description="A part's cursor, to go on with that part; with the same area."),
    ] = None
