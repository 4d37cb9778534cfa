"""What a check is, and what one run of it showed. Stored and sent: fields are added, never renamed."""

import hashlib
import json
from datetime import datetime
from enum import StrEnum
from typing import Annotated, ClassVar

from pydantic import BaseModel, Field, StringConstraints

from protocol.scopes import Path
from protocol.wire import Answer

# Raised whenever the same command could end otherwise than before: results kept under the old digest are then not reused.
RUNNER_VERSION = 1

MAX_TIMEOUT_SEC = 86_400
MAX_COMMAND = 10_000
MAX_CHECKS = 32
MAX_RETRIES = 5
MAX_CPU_SEC = 604_800
MAX_MEMORY_MB = 1_048_576

CheckName = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9][A-Za-z0-9 ._-]{0,63}$")]
Command = Annotated[str, StringConstraints(pattern=r"^[^\x00]*[^\x00\s][^\x00]*$", max_length=MAX_COMMAND)]
VariableName = Annotated[str, StringConstraints(pattern=r"^[A-Za-z_][A-Za-z0-9_]{0,127}$")]


class CheckFields(BaseModel):
    """One check of a project: `command` is run by `/bin/sh -c` at the root of a clean checkout."""

    name: CheckName = "test"
    command: Command
    paths: Annotated[
        tuple[Path, ...],
        Field(
            max_length=100,
            description="What the check reads: files, folders (ending in '/') or globs (`*`, `?`, `**/`). A change anywhere"
            " else reuses its result. Empty: everything.",
        ),
    ] = ()
    needs: Annotated[
        tuple[CheckName, ...],
        Field(max_length=MAX_CHECKS, description="Checks that have to pass before this one begins."),
    ] = ()
    timeout_sec: Annotated[int, Field(ge=1, le=MAX_TIMEOUT_SEC, description="Seconds one try may take.")] = (
        900
    )
    slots: Annotated[
        int,
        Field(ge=1, le=1024, description="How many of the host's check slots it takes; at most all of them."),
    ] = 1
    environment: Annotated[
        tuple[VariableName, ...],
        Field(max_length=64, description="Names of the server's variables that the check may see."),
    ] = ()
    network: Annotated[
        bool, Field(description="Let the check reach the network; off, it has loopback only.")
    ] = False
    cache: Annotated[
        tuple[Path, ...],
        Field(
            max_length=16,
            description="Folders of the checkout, or behind `~/` of its home, that are kept for its next run.",
        ),
    ] = ()
    artifacts: Annotated[
        tuple[Path, ...],
        Field(
            max_length=32, description="Files, folders or globs of the checkout that are kept after a run."
        ),
    ] = ()
    retries: Annotated[
        int,
        Field(ge=0, le=MAX_RETRIES, description="How often a red run is tried again on the same tree."),
    ] = 0
    cpu_sec: Annotated[
        int | None,
        Field(ge=1, le=MAX_CPU_SEC, description="Processor seconds that all its processes may use."),
    ] = None
    memory_mb: Annotated[
        int | None,
        Field(ge=16, le=MAX_MEMORY_MB, description="MiB of memory that all its processes may use."),
    ] = None


class CheckDefinition(CheckFields, Answer):
    """A check as it is stored, shown and run. `needs` and `slots` say when it runs, not how it ends."""

    def digest(self) -> str:
        """SHA-256 over all that says how it ends: equal digests on equal inputs and hosts end alike."""
        body = self.model_dump(mode="json", exclude={"needs", "slots"})
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


class FlakyTest(Answer):
    """A test that was seen red and green on the same tree; `test` is null for a check that names no test."""

    check: str
    test: str | None
    seen: int
    last_seen: datetime
    last_tree: str


class FlakyList(Answer):
    """The flaky tests of a project, the one seen last first."""

    flaky: list[FlakyTest]
