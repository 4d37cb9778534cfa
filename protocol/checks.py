"""What a check is, and what one run of it showed. Stored and sent: fields are added, never renamed."""

import hashlib
import json
from enum import StrEnum
from typing import Annotated, ClassVar

from pydantic import Field, StringConstraints

from protocol.wire import Answer

# Raised whenever the same command could end otherwise than before: results kept under the old digest are then not reused.
RUNNER_VERSION = 1

MAX_TIMEOUT_SEC = 86_400
MAX_COMMAND = 10_000

CheckName = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9][A-Za-z0-9 ._-]{0,63}$")]
Command = Annotated[str, StringConstraints(pattern=r"^[^\x00]*[^\x00\s][^\x00]*$", max_length=MAX_COMMAND)]
VariableName = Annotated[str, StringConstraints(pattern=r"^[A-Za-z_][A-Za-z0-9_]{0,127}$")]


class CheckDefinition(Answer):
    """One check of a project: `command` is run by `/bin/sh -c` at the root of a checkout.

    `timeout_sec` is seconds of wall time; `environment` names the server's variables that the command may see.
    Without `network` it reaches loopback only, where the kernel can see to that.
    """

    name: CheckName = "test"
    command: Command
    timeout_sec: int = Field(default=900, ge=1, le=MAX_TIMEOUT_SEC)
    environment: tuple[VariableName, ...] = Field(default=(), max_length=64)
    network: bool = False

    def digest(self) -> str:
        """SHA-256 over this definition and the runner's version: equal digests on equal trees end alike."""
        body = {**self.model_dump(mode="json"), "runner_version": RUNNER_VERSION}
        text = json.dumps(body, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
        return hashlib.sha256(text.encode()).hexdigest()


class CheckState(StrEnum):
    """`failed`: the command ran and said no. `error`: it could not be run, so it says nothing about the work."""

    RUNNING = "running"
    PASSED = "passed"
    FAILED = "failed"
    ERROR = "error"
    SKIPPED = "skipped"
    CANCELLED = "cancelled"


class TestFailure(Answer):
    """The first failing test, read from untrusted output: each text is one bounded line without control characters.

    `expected` and `actual` are written as the test tool wrote them (a string keeps its quotes).
    """

    __test__: ClassVar[bool] = False  # pytest would take the name for a test class

    test: str
    expected: str | None = None
    actual: str | None = None
    message: str | None = None
    file: str | None = None
    line: int | None = None


class RunResult(Answer):
    """How one run ended. `summary` is one line; `last_lines` and `failure` are the project's own text: data only.

    `log_bytes` counts what the command wrote, also what the kept log leaves out (`truncated`). `isolation` says
    in words what held while it ran. A `timed_out` run is `failed`, yet says less about the tree than its exit code would.
    """

    state: CheckState
    exit_code: int | None = None
    signal: str | None = None
    summary: str
    failure: TestFailure | None = None
    last_lines: tuple[str, ...] = ()
    log_bytes: int = 0
    truncated: bool = False
    seconds: float = 0.0
    isolation: tuple[str, ...] = ()
    timed_out: bool = False
