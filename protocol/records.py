"""Rows of the record as they travel inside the server. Never shown as they are: answers are built from them."""

from datetime import datetime
from typing import Any

from protocol.checks import TestFailure
from protocol.projects import ProjectSettings
from protocol.scopes import Scope
from protocol.states import Priority, Risk, State, Verdict
from protocol.wire import Record


class ProjectRow(Record):
    """A project."""

    id: str
    slug: str
    owner_id: str
    owner_name: str
    host: str
    default_line: str
    settings: ProjectSettings
    created_at: datetime


class LineRow(Record):
    """A line of a project: its recorded head, and why its queue stands still, if it does."""

    project_id: str
    name: str
    head: str | None
    paused: str | None


class IntentRow(Record):
    """An intent, with the names that texts need."""

    id: str
    project_id: str
    number: int
    title: str
    goal: str
    kind: str
    landing: str
    state: State
    line: str
    base: str
    head: str | None
    submitted_head: str | None
    merged_commit: str | None
    plan_version: int
    plan_approved: int | None
    merge_approved: str | None
    priority: Priority
    issue: str | None
    risk: Risk
    risk_reasons: list[str]
    person_id: str
    person_name: str
    token_id: str
    by_agent: bool = True
    agent_name: str
    session_name: str | None
    created_at: datetime
    state_since: datetime
    queued_at: datetime | None

    @property
    def label(self) -> str:
        """`#49`."""
        return f"#{self.number}"


class PlanRow(Record):
    """One version of a plan."""

    intent_id: str
    version: int
    summary: str
    steps: list[str]
    checks: list[str]
    scope: Scope
    reason: str | None
    created_at: datetime


class PlaceRow(Record):
    """One place of a live intent."""

    intent_id: str
    role: str
    source: str
    path: str
    symbol: str


class ConflictRow(Record):
    """Two intents that meet; `first` goes first."""

    id: str
    project_id: str
    first_id: str
    second_id: str
    first_number: int
    second_number: int
    range: int
    rule: str
    verdict: Verdict
    places: list[str]
    uses: list[str] = []
    depends: list[str] = []
    pushed: list[str] = []
    settled: str | None = None
    state: str
    created_at: datetime


class RequestRow(Record):
    """A change request."""

    id: str
    project_id: str
    intent_id: str
    from_kind: str
    from_name: str
    kind: str
    conflict_id: str | None
    check_id: str | None
    place: str | None
    reason: str
    todo: str
    blocking: bool
    head: str | None
    created_at: datetime
    closed_at: datetime | None


class PushRow(Record):
    """A recorded push."""

    id: str
    intent_id: str
    old_head: str
    new_head: str
    paths: list[str]
    created_at: datetime


class CheckRow(Record):
    """A run of the checks, seen from one intent."""

    id: str
    project_id: str
    line: str
    line_head: str
    commit_id: str
    tree: str
    definition: str
    state: str
    exit_code: int | None
    summary: str
    failure: TestFailure | None
    started_at: datetime
    finished_at: datetime | None
    head: str
    reused: bool


class DecisionRow(Record):
    """What a person decided."""

    id: str
    kind: str
    person_id: str
    person_name: str
    plan_version: int
    head: str | None
    note: str | None
    created_at: datetime


class Neighbour(Record):
    """Another intent that this one goes after, or that goes after this one."""

    id: str
    number: int
    state: State


class IntentRecords(Record):
    """All that the record holds of one intent, read in one snapshot; `after_seq` is the last event it reflects.

    `landed_near` holds the numbers that landed near its places since its latest push, or since it began.
    """

    intent: IntentRow
    project: ProjectRow
    line_head: str | None
    plan: PlanRow
    conflicts: list[ConflictRow]
    requests: list[RequestRow]
    pushed_paths: list[str]
    checks: list[CheckRow]
    decisions: list[DecisionRow]
    goes_after: list[Neighbour]
    followers: list[Neighbour]
    after_seq: int
    landed_near: list[int] = []
    people: dict[str, str] = {}
    extra: dict[str, Any] = {}
