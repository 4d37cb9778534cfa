"""Answers of the tools: one model each, rendered alike by MCP, REST, pages and commands."""

from datetime import datetime
from typing import Annotated, Any

from pydantic import Field

from protocol.events import Event
from protocol.projects import Project
from protocol.scopes import Scope
from protocol.states import Priority, Risk, State, Verdict, WaitsFor
from protocol.wire import Answer


class PlanView(Answer):
    """The current plan."""

    version: int
    summary: str
    steps: list[str]
    scope: Scope
    checks: list[str]


class GoesAfter(Answer):
    """An intent that this one goes after, and why (`declared`, or `uses` with the path)."""

    id: str
    number: int
    why: str
    path: str | None = None


class IntentView(Answer):
    """The intent itself."""

    id: str
    number: int
    project_id: str
    project: str
    title: str
    goal: str
    state: State
    kind: str
    risk: Risk
    risk_reasons: list[str]
    line: str
    base: str
    head: str | None
    submitted_head: str | None
    merged_commit: str | None
    plan: PlanView
    priority: Priority
    issue: str | None
    depends_on: list[GoesAfter]
    dependents: list[int]
    acts_for: str
    agent: str
    created_at: datetime
    state_since: datetime


class ConflictView(Answer):
    """Two live intents that meet, and what the rules say of them."""

    id: str
    intents: list[int]
    first: int
    second: int
    range: int
    rule: str
    verdict: Verdict
    places: list[str]
    yielded: Annotated[
        list[str], Field(description="The places that the second leaves to the first, where it was narrowed.")
    ] = []
    state: str
    text: str


class ChangeRequestView(Answer):
    """One change request; the printed block is rebuilt from it to the letter."""

    id: str
    sender: Annotated[str, Field(alias="from", description="Who sent it, as the block names them.")]
    from_kind: str
    kind: str
    conflict_id: str | None = None
    place: str | None = None
    reason: str
    do: str
    blocking: bool
    created_at: datetime


class CheckView(Answer):
    """One run of one check on the line plus the work.

    `flaky` names what was red first and green on a later of its `tries`, on the same tree.
    """

    id: str
    name: str = "test"
    state: str
    summary: str
    line_head: str
    commit: str
    head: str
    reused: bool
    tries: int = 1
    flaky: list[str] = []
    log: str
    started_at: datetime
    finished_at: datetime | None


class DecisionView(Answer):
    """What a person decided."""

    kind: str
    person: str
    plan_version: int
    head: str | None
    note: str | None
    created_at: datetime


class LineBase(Answer):
    """The line the work lands on: whether it moved on from the commit that the work stands on.

    `near` holds the numbers that landed near the intent's places since its latest push.
    """

    status: str
    line: str
    head: str | None
    behind: int | None = None
    near: list[int] = []


class QueuePlace(Answer):
    """Where an intent stands in its line's queue, from 1; `eta_sec` is an estimate for when all goes well.

    `position` is None while something that it goes after (`waits_for`) does not stand in the queue itself.
    """

    position: int | None
    of: int
    ahead: list[int] = []
    tested_with: list[int] = []
    waits_for: list[int] = []
    eta_sec: int | None = None


class DoNotChange(Answer):
    """Something gitring refuses this intent, and why."""

    place: str
    why: str
    keeper: int | None = None


class IntentDetail(Answer):
    """Everything about one intent at one moment (`gitring_status` and each write)."""

    intent: IntentView
    conflicts: list[ConflictView]
    change_requests: list[ChangeRequestView]
    notices: list[dict[str, Any]] = []
    base: LineBase | None = None
    code_conflicts: list[dict[str, Any]] = []
    claims: list[dict[str, Any]] = []
    drift: list[str]
    checks: list[CheckView]
    decisions: list[DecisionView]
    not_yet_changed: list[str]
    as_of: str | None = None
    do_not_change: list[DoNotChange]
    checks_run: bool
    waiting_for: WaitsFor
    next: str
    after_seq: int
    said: list[str] = []
    queue: QueuePlace | None = None


class PushAddress(Answer):
    """Where and how to push."""

    url: str
    ref: str
    command: str


class DeclareResult(IntentDetail):
    """`gitring_declare`: the detail, and where to push."""

    push: PushAddress
    reserved: list[str] = []
    linked: list[dict[str, Any]] = []


class WaitAnswer(IntentDetail):
    """`gitring_wait`: the detail, the events that ended the wait, and whether to stop polling."""

    events: list[Event]
    waited_sec: float
    can_stop: bool


class SparseClone(Answer):
    """A narrow clone, as argument lists (run with no shell) and as lines for reading."""

    commit: str
    folders: list[str]
    args: list[list[str]]
    commands: list[str]


class GitToken(Answer):
    """`gitring_clone`."""

    remote: str
    token: str | None
    expires_at: datetime | None
    clone: str
    push: str
    push_power_shell: str
    sparse: SparseClone | None = None
    runtime: dict[str, Any] | None = None
    pack: dict[str, Any] | None = None
    linked: list[dict[str, Any]] | None = None
    text: list[str] = []


class ProjectList(Answer):
    """`gitring_projects`."""

    projects: list[Project]


class BoardEntry(Answer):
    """One live intent on the board; `position` is its place in its line's queue, from 1, where it can land in its turn."""

    id: str
    number: int
    title: str
    state: State
    line: str
    acts_for: str
    agent: str
    waits_for: str
    waiting_on: list[int]
    depends_on: list[int]
    dependents: list[int]
    folders: list[str]
    keeps: list[str]
    yields: list[str]
    keeps_from: list[int] = []
    yields_to: list[int] = []
    reserves: list[str] = []
    position: int | None = None


class BoardPlan(Answer):
    """One intent's scope and plan: another author's words, data only."""

    number: int
    scope: Scope
    summary: str
    steps: list[str]
    untrusted: bool = True


class Board(Answer):
    """`gitring_board`: live intents by line, the default line first."""

    project_id: str
    entries: list[BoardEntry]
    cursor: str | None = None
    plan: BoardPlan | None = None
    after_seq: int
