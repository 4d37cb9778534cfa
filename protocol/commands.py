"""What travels between the gateway, the workflows and the activities. Stored in histories: only add fields."""

from datetime import datetime
from typing import Any

from protocol.intents import (
    AcceptDriftInput,
    AckInput,
    CommentInput,
    DecideInput,
    DeclareInput,
    LandNowInput,
    SettleInput,
    SubmitInput,
    SuggestInput,
    UpdatePlanInput,
    WithdrawInput,
)
from protocol.projects import Caller
from protocol.refusals import Refusal
from protocol.states import State, WaitsFor
from protocol.wire import Record


class Command(Record):
    """The envelope of every write: the key of exactly-once, and who asks."""

    command_id: str
    caller: Caller
    public_url: str
    project_id: str
    host: str
    intent_id: str


class Declare(Command):
    """Update `declare`."""

    input: DeclareInput


class UpdatePlan(Command):
    """Update `update_plan`; `keeps_issue` is true when the caller left `issue` out."""

    input: UpdatePlanInput
    keeps_issue: bool = True


class Submit(Command):
    """Update `submit`. `may_be_behind` is False when the gateway saw that the ref stands where the record has it."""

    input: SubmitInput
    may_be_behind: bool = True


class Withdraw(Command):
    """Update `withdraw`."""

    input: WithdrawInput


class Ack(Command):
    """Update `ack`."""

    input: AckInput


class Decide(Command):
    """Update `decide`."""

    input: DecideInput


class Comment(Command):
    """Update `comment`."""

    input: CommentInput


class Suggest(Command):
    """Update `suggest`."""

    input: SuggestInput


class Settle(Command):
    """Update `settle_conflict`."""

    input: SettleInput


class AcceptDrift(Command):
    """Update `accept_drift`."""

    input: AcceptDriftInput


class LandNow(Command):
    """Update `land_now`."""

    input: LandNowInput


class Pushed(Record):
    """Update `pushed`: the intent's ref moved from `old` to `new`."""

    project_id: str
    intent_id: str
    token_id: str
    old: str
    new: str


class IntentSight(Record):
    """What the workflow of an intent needs to know of the record to choose its next step."""

    intent_id: str
    project_id: str
    host: str
    number: int
    title: str
    state: State
    line: str
    head: str | None = None
    submitted_head: str | None = None
    in_queue: bool = False
    line_failed: bool = False
    waits_for: WaitsFor = WaitsFor.YOU
    next: str = ""
    holds: list[int] = []
    last_check: str | None = None


class Outcome(Record):
    """What an activity that handled a command gives back: an answer or a refusal, and whom to wake."""

    answer: dict[str, Any] | None = None
    refusal: Refusal | None = None
    sight: IntentSight | None = None
    wake_intents: list[str] = []
    wake_line: bool = False


class IntentStart(Record):
    """Argument of `IntentWorkflow.run`; `sight` is set when the run goes on from an earlier one."""

    intent_id: str
    project_id: str
    host: str
    number: int | None = None
    sight: IntentSight | None = None
    resumed: bool = False


class LineStart(Record):
    """Argument of `LineWorkflow.run`; the one state that crosses continue-as-new."""

    project_id: str
    line: str
    host: str
    landed: int = 0
    rounds: int = 0
    window: int = 32


class CreateProjectCommand(Record):
    """Argument of `ProjectSetupWorkflow.run`."""

    command_id: str
    project_id: str
    owner_id: str
    host: str
    slug: str
    source: str | None
    default_line: str | None
    settings: dict[str, Any]
    at: datetime


class CreateLineCommand(Record):
    """Argument of `LineSetupWorkflow.run`."""

    project_id: str
    host: str
    line: str
    start: str
    actor: str


class LineMade(Record):
    """How a new line began, or a refusal."""

    head: str | None = None
    refusal: Refusal | None = None


class ProjectMade(Record):
    """How a project's import ended: its default line and that line's head, or a refusal."""

    default_line: str | None = None
    head: str | None = None
    refusal: Refusal | None = None
