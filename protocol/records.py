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
    """A line of a project: its recorded head, and why its queue stands still, if it does.

    `stopped_by`: `owner`, `line` (its own checks fail) or `drained`. Red results from before `red_since` are
    not trusted. `untested`: its head landed without checks.
    """

    project_id: str
    name: str
    head: str | None
    paused: str | None
    stopped_by: str | None = None
    red_since: datetime | None = None
    draining_since: datetime | None = None
    draining_why: str | None = None
    untested: bool = False


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
    emergency: str | None = None
    approved_patch: str | None = None
    approved_plan: int | None = None
    declared_base: str | None = None
    outside: list[str] = []

    @property
    def label(self) -> str:
        """`#49`."""
        return f"#{self.number}"


class PushedWork(Record):
    """What a push does against the line: the paths it changes (old names of renames too), those it deletes, sentences
    about exported signatures, and one hash of all of it."""

    paths: list[str] = []
    deleted: list[str] = []
    signatures: list[str] = []
    patch_id: str | None = None


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
    """A change request; `about_id` is the other intent that a notice tells of."""

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
    about_id: str | None = None


class PushRow(Record):
    """A recorded push."""

    id: str
    intent_id: str
    old_head: str
    new_head: str
    paths: list[str]
    created_at: datetime


class CheckRow(Record):
    """A run of a check, seen from one intent."""

    id: str
    name: str = "test"
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
    tries: int = 1
    flaky: list[str] = []


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


class QueueSight(Record):
    """A line's queue when somebody asks about one intent in it, which stands in `queued` ((id, number), as queued).

    `check_sec` is how long a candidate's checks take there. `tested_since` is set while a test that holds the
    intent runs, `running_since` while only others' do.
    """

    queued: list[tuple[str, int]]
    goes_after: dict[str, list[str]]
    read_at: datetime
    check_sec: float | None
    tested_since: datetime | None
    tested_with: list[int]
    running_since: datetime | None


class IntentRecords(Record):
    """All that the record holds of one intent, read in one snapshot; `after_seq` is the last event it reflects.

    `landed_near` holds the numbers that landed near its places since its latest push, or since it began.
    """

    intent: IntentRow
    project: ProjectRow
    line_head: str | None
    line_stopped: str | None = None
    line_paused: str | None = None
    plan: PlanRow
    conflicts: list[ConflictRow]
    requests: list[RequestRow]
    pushed_paths: list[str]
    pushed: PushedWork = PushedWork()
    checks: list[CheckRow]
    decisions: list[DecisionRow]
    goes_after: list[Neighbour]
    followers: list[Neighbour]
    after_seq: int
    queue: QueueSight | None = None
    landed_near: list[int] = []
    people: dict[str, str] = {}
    extra: dict[str, Any] = {}
