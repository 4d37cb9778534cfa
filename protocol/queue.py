"""The merge queue's words: what is queued, what a candidate is, what a round found."""

from datetime import datetime
from enum import StrEnum

from protocol.checks import TestFailure
from protocol.wire import Record


class QueueEntry(Record):
    """One intent in the queue of a line, in landing order; `goes_after` are its dependencies in the same queue.

    `meets` are those in the queue whose places or imports meet its own. `at` (Unix seconds) dates its merge
    commit, so that the same chain always has the same commits. `emergency`: an owner lands it before all
    others, `checked` or `unchecked`. `outside` are the files that it changes outside its plan, and `since` the
    line's head when it was declared: what landed since then it must not undo there.
    """

    intent_id: str
    number: int
    head: str
    title: str
    message: str
    author_name: str
    author_email: str
    goes_after: list[str] = []
    meets: list[str] = []
    at: int = 0
    emergency: str | None = None
    outside: list[str] = []
    since: str | None = None


class QueueSnapshot(Record):
    """One line's queue at one moment.

    `red_since`: red results from before then are not trusted, because the line itself failed at that time.
    `line_failed`: the queue stands still because the line fails by itself. `untested`: the line's head landed
    without checks. `drained`: the last of what was to land before a pause has landed.
    """

    project_id: str
    line: str
    head: str | None
    entries: list[QueueEntry]
    paused: str | None = None
    open_landing: str | None = None
    slots: int = 1
    red_since: datetime | None = None
    line_failed: bool = False
    untested: bool = False
    drained: bool = False


class Merged(Record):
    """One member of a candidate: the merge commit made for it, and its tree."""

    intent_id: str
    number: int
    head: str
    commit: str
    tree: str


class Conflicting(Record):
    """A member that does not merge, with the files named; or one that would undo in them what `undoes` landed."""

    intent_id: str
    number: int
    paths: list[str]
    message: str
    undoes: int | None = None


class Candidate(Record):
    """A chain of merge commits on a line's head; its last tree is what gets tested and landed."""

    line_head: str
    members: list[Merged]
    conflicting: list[Conflicting]
    line_tree: str | None = None

    def prefix(self, count: int) -> "Candidate":
        """The chain of the first `count` members alone; its commits are the same."""
        return self.model_copy(update={"members": self.members[:count], "conflicting": []})

    @property
    def tree(self) -> str:
        """The tree that lands when this candidate does; without members, the line's own."""
        return self.members[-1].tree if self.members else str(self.line_tree)

    @property
    def commit(self) -> str:
        """The line's head after landing."""
        return self.members[-1].commit if self.members else self.line_head


class CheckRunOutcome(Record):
    """How one check did on a tree. `flaky` names what was red first and green on a later try."""

    name: str
    check_id: str
    state: str
    summary: str
    failure: TestFailure | None = None
    reused: bool = False
    tries: int = 1
    flaky: list[str] = []


class CheckOutcome(Record):
    """How one tree did: the verdict of all its checks, told by the first that failed, and each of them in `runs`."""

    check_id: str
    state: str
    summary: str
    failure: TestFailure | None = None
    reused: bool = False
    runs: list[CheckRunOutcome] = []

    @property
    def good(self) -> bool:
        """True when the tree may land: checks passed, or there are none."""
        return self.state in ("passed", "skipped")


class BuildCandidate(Record):
    """Merge these entries, in order, onto the line's head.

    `at` (Unix seconds) dates the commits of entries that bring no date of their own.
    """

    project_id: str
    line: str
    line_head: str
    entries: list[QueueEntry]
    at: int


class Member(Record):
    """An intent that a check speaks of, and the head that was submitted."""

    intent_id: str
    number: int
    head: str


class CheckRequest(Record):
    """Run the project's checks on one tree, or find what is remembered of it.

    Red results from before `red_since` are not taken. Without members it is the line itself that is tested.
    """

    check_id: str
    project_id: str
    line: str
    line_head: str
    commit: str
    tree: str
    members: list[Member]
    red_since: datetime | None = None


class LandCandidate(Record):
    """Move the line to a tested candidate and record its members as merged.

    `unchecked`: an owner lands it without checks; the line is tested afterwards.
    """

    landing_id: str
    project_id: str
    line: str
    candidate: Candidate
    unchecked: bool = False


class LandingState(StrEnum):
    """How a landing ended: `stale` and `changed` mean that nothing landed and the queue looks again."""

    LANDED = "landed"
    STALE = "stale"
    CHANGED = "changed"


class Landed(Record):
    """What a landing did, and whom to wake."""

    state: LandingState
    merged: list[Merged] = []
    wake_intents: list[str] = []


class Returned(Record):
    """Intents that went back to their agents, and whom to wake."""

    wake_intents: list[str] = []
    wake_line: bool = False
