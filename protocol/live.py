"""A check while it runs: what it printed so far, how far it is, and the files it left."""

from enum import StrEnum

from protocol.wire import Answer

LOG_LIMIT = 1024 * 1024
"""Bytes of a log that are kept: all of a shorter one, the two halves at the ends of a longer one."""


class Progress(Answer):
    """Read from the project's own output, so a help and no promise. Tests are counted where the output tells of them."""

    lines: int = 0
    passed: int = 0
    failed: int = 0
    skipped: int = 0
    total: int | None = None
    percent: int | None = None

    @property
    def tests(self) -> int:
        """Tests that have ended."""
        return self.passed + self.failed + self.skipped


class LiveProgress(Progress):
    """Progress with the run's clock: `elapsed_sec` since this try of it began, `bytes` printed so far."""

    elapsed_sec: float
    bytes: int
    said: str


class LogPiece(Answer):
    """A piece of a log; `offset` is where it ends, and where the next one begins."""

    text: str
    offset: int


class LogNews(StrEnum):
    """The events of a followed log. `restart`: the run began again, and so does its log, at offset 0."""

    OUTPUT = "output"
    PROGRESS = "progress"
    RESTART = "restart"
    END = "end"


class ArtifactView(Answer):
    """A file that a run handed over. `name` is its path below the checkout: the project's own words."""

    number: int
    name: str
    bytes: int
    url: str


class ArtifactList(Answer):
    """The files of one run, in the order of its check's patterns, and how many more the patterns named.

    `isolation` says in words what held while it ran.
    """

    artifacts: list[ArtifactView]
    left_out: int = 0
    isolation: list[str] = []
