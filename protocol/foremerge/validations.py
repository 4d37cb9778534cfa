"""Validations: named checks that were run on one exact fingerprint, and the attempts that were too late."""

from datetime import datetime
from typing import Annotated

from pydantic import Field, StringConstraints

from protocol.foremerge.changesets import ChangeSetRef
from protocol.foremerge.wire import ForemergeAnswer, ForemergeInput
from protocol.foremerge.words import AcceptancePolicy

CHECK_NAME = "^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$"
MOST_OUTPUT = 16_384
"""Bytes kept of the end of each output stream."""

CheckName = Annotated[
    str,
    StringConstraints(pattern=CHECK_NAME, min_length=1, max_length=64),
    Field(description="The name of a check that an operator registered; commands are not taken here."),
]


class ValidationRequest(ForemergeInput):
    """Body of `POST /v1/changesets/{id}/validate`: a name and nothing else."""

    check: CheckName


class RunVerificationInput(ValidationRequest):
    """`run_verification`."""

    changeset_id: ChangeSetRef


class Validation(ForemergeAnswer):
    """A run that counts; `exit_code` is null for one that timed out or could not start."""

    id: str
    changeset_id: str
    command: list[str]
    passed: bool
    exit_code: int | None = None
    stdout: str
    stderr: str
    duration_ms: int
    fingerprint: str
    run_at: datetime


class ValidationAttempt(ForemergeAnswer):
    """Any run that ended, also one that cannot gate acceptance (`stale_reason` says why)."""

    id: str
    changeset_id: str
    command: list[str]
    passed: bool
    exit_code: int | None = None
    stdout: str
    stderr: str
    duration_ms: int
    run_at: datetime
    expected_fingerprint: str
    observed_fingerprint: str
    authoritative: bool
    stale_reason: str | None = None
    changed_files: list[str] = []
    excluded_paths: list[str] = []
    exclusion_ruleset_digest: str


class RegisteredCheck(ForemergeAnswer):
    """One check an operator registered: an argument list, run without a shell."""

    command: Annotated[list[str], Field(min_length=1, max_length=128)]
    timeout_seconds: Annotated[int, Field(ge=1, le=3_600)] = 300


class CheckRegistry(ForemergeAnswer):
    """The checks of a project and how strict acceptance is. One that cannot be read counts as strict."""

    version: int = 1
    checks: dict[str, RegisteredCheck] = {}
    acceptance_policy: AcceptancePolicy = AcceptancePolicy.STRICT
    verify_symbol_scopes: bool = False


class ExclusionRules(ForemergeAnswer):
    """Untracked outputs of checks that do not count as changes; only an operator sets them."""

    version: int = 1
    paths: list[str] = []
