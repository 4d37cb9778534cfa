"""What the watchdog looks at, and what it finds: whatever stands still though it should move."""

from datetime import datetime
from enum import StrEnum

from protocol.projects import ProjectSettings
from protocol.states import State
from protocol.wire import Answer, Record


class WatchKind(StrEnum):
    """The kinds of findings. Stored and sent: kinds are added, never renamed."""

    GREEN_NOT_LANDED = "green_not_landed"
    NOT_TESTED = "not_tested"
    CHECK_SILENT = "check_silent"
    QUEUE_WAITS_ON_ITSELF = "queue_waits_on_itself"
    NOBODY_MOVES = "nobody_moves"
    PAUSED_LONG = "paused_long"
    WORKFLOW_MISSING = "workflow_missing"


class Heal(StrEnum):
    """What the watchdog itself can do about a finding: wake or rebuild a workflow, or close a run that nobody ends."""

    LINE = "line"
    INTENT = "intent"
    CHECK = "check"


class Finding(Record):
    """One finding of one look. `subject` tells it from others of its kind in the project."""

    project_id: str
    kind: WatchKind
    subject: str
    line: str
    since: datetime
    said: str
    intent_id: str | None = None
    number: int | None = None
    check_id: str | None = None
    heal: Heal | None = None


class OpenFinding(Record):
    """A finding that was told and has not ended."""

    id: str
    project_id: str
    kind: WatchKind
    subject: str
    line: str
    since: datetime
    said: str
    intent_id: str | None
    number: int | None
    check_id: str | None
    heals: int
    healed_at: datetime | None
    opened_at: datetime


class WatchFinding(Answer):
    """One open finding: what stands still, since when, and what to do. `heals` counts how often gitring tried itself."""

    id: str
    kind: WatchKind
    line: str
    number: int | None = None
    intent_id: str | None = None
    check_id: str | None = None
    since: datetime
    opened_at: datetime
    said: str
    heals: int = 0


class WatchList(Answer):
    """`GET /api/v1/projects/{id}/watch`: what is found now, the longest first; and when the watchdog last looked."""

    findings: list[WatchFinding]
    looked_at: datetime | None = None


class QueuedFact(Record):
    """One intent in a queue, as queued. `green_at`: the newest results that it has for the line as it is now are
    green, and those of `green` came in by then; the candidate that they speak of still stands in the queue as it was."""

    id: str
    number: int
    state: State
    queued_at: datetime
    state_since: datetime
    emergency: bool = False
    goes_after: list[str] = []
    green: list[str] = []
    green_at: datetime | None = None


class LineFact(Record):
    """A line with something to land. `switched_at`: it was last paused, drained or resumed; `tested_at`: a run of its checks
    last ended; `landing_since`: a landing is under way; `lost`: no workflow serves it (None when the engine did not say)."""

    project_id: str
    host: str
    name: str
    settings: ProjectSettings
    paused: str | None
    stopped_by: str | None
    draining_since: datetime | None = None
    switched_at: datetime | None
    moved_at: datetime | None
    landing_since: datetime | None
    tested_at: datetime | None = None
    queue: list[QueuedFact] = []
    running: int = 0
    lost: bool | None = None


class CheckFact(Record):
    """A run without a verdict. `began_at` is the beginning of its latest try, `wrote_at` of its latest output."""

    id: str
    project_id: str
    host: str
    line: str
    name: str
    settings: ProjectSettings
    started_at: datetime
    began_at: datetime | None
    wrote_at: datetime | None
    numbers: list[int]


class StandFact(Record):
    """Where an intent stands that queued ones wait for, directly or not: what it goes after, who holds it."""

    id: str
    number: int
    state: State
    queued: bool
    goes_after: list[str] = []
    held_by: list[str] = []


class LiveFact(Record):
    """A live intent that its agent has to move and that may have none. `moved_at`: its agent or a person last did something
    with it. `gone_at` and `gone`: since when and why nobody holds it; `lost`: no workflow runs for it."""

    id: str
    project_id: str
    number: int
    line: str
    state: State
    state_since: datetime
    moved_at: datetime
    gone: str | None = None
    gone_at: datetime | None = None
    sent_back: bool = False
    checked_at: datetime | None = None
    checks_running: bool = False
    waited_on_by: list[int] = []


class LostFact(Record):
    """A live intent without a running workflow."""

    id: str
    project_id: str
    number: int
    line: str
    since: datetime


class WatchFacts(Record):
    """All that one look is judged by, read at `now`. `heard`: when each host's worker was last heard of."""

    now: datetime
    lines: list[LineFact] = []
    checks: list[CheckFact] = []
    stands: list[StandFact] = []
    lives: list[LiveFact] = []
    lost: list[LostFact] = []
    heard: dict[str, datetime] = {}
