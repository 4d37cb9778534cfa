"""The merge queue's words: what is queued, what a candidate is, what a round found."""

from enum import StrEnum

from protocol.checks import TestFailure
from protocol.wire import Record


class QueueEntry(Record):
    """One intent in the queue of a line, in landing order; `goes_after` are its dependencies in the same queue."""

    intent_id: str
    number: int
    head: str
    title: str
    message: str
    author_name: str
    author_email: str
    goes_after: list[str] = []


class QueueSnapshot(Record):
    """One line's queue at one moment."""

    project_id: str
    line: str
    head: str | None
    entries: list[QueueEntry]
    paused: str | None = None
    open_landing: str | None = None
    slots: int = 1


class Merged(Record):
    """One member of a candidate: the merge commit made for it, and its tree."""

    intent_id: str
    number: int
    head: str
    commit: str
    tree: str


class Conflicting(Record):
    """A member that does not merge, with the files named."""

    intent_id: str
    number: int
    paths: list[str]
    message: str


class Candidate(Record):
    """A chain of merge commits on a line's head; its last tree is what gets tested and landed."""

    line_head: str
    members: list[Merged]
    conflicting: list[Conflicting]

    def prefix(self, count: int) -> "Candidate":
        """The chain of the first `count` members alone; its commits are the same."""
        return self.model_copy(update={"members": self.members[:count], "conflicting": []})

    @property
    def tree(self) -> str:
        """The tree that lands when this candidate does."""
        return self.members[-1].tree

    @property
    def commit(self) -> str:
        """The line's head after landing."""
        return self.members[-1].commit


class CheckOutcome(Record):
    """How one tree did: the run's id and its verdict."""

    check_id: str
    state: str
    summary: str
    failure: TestFailure | None = None
    reused: bool = False

    @property
    def good(self) -> bool:
        """True when the tree may land: checks passed, or there are none."""
        return self.state in ("passed", "skipped")


class BuildCandidate(Record):
    """Merge these entries, in order, onto the line's head. `at` (Unix seconds) dates the commits."""

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
    """Run the project's checks on one tree, or find what is remembered of it."""

    check_id: str
    project_id: str
    line: str
    line_head: str
    commit: str
    tree: str
    members: list[Member]


class LandCandidate(Record):
    """Move the line to a tested candidate and record its members as merged."""

    landing_id: str
    project_id: str
    line: str
    candidate: Candidate


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
