"""What this face refuses: each code, its HTTP status and the exit code of the command.

A refusal is the same `Refused` as everywhere in gitring, so commands, workflows and saved answers carry it
unchanged; only its code is a word of this protocol. Every refusal has one: nothing hides behind a 500.
"""

from enum import StrEnum
from typing import NamedTuple

from protocol.refusals import Refusal, Refused


class ErrorCode(StrEnum):
    """The codes, as they stand before the first colon of a failure's text."""

    INVALID_INPUT = "INVALID_INPUT"
    UNAUTHORIZED = "UNAUTHORIZED"
    FORBIDDEN = "FORBIDDEN"
    NOT_FOUND = "NOT_FOUND"
    METHOD_NOT_ALLOWED = "METHOD_NOT_ALLOWED"
    STATE_RACE = "STATE_RACE"
    RESOURCE_LIMIT = "RESOURCE_LIMIT"
    INVALID_TRANSITION = "INVALID_TRANSITION"
    CHECK_FAILED = "CHECK_FAILED"
    STALE_CHANGESET = "STALE_CHANGESET"
    BLOCKING_CONFLICT = "BLOCKING_CONFLICT"
    UNSATISFIED_DEPENDENCY = "UNSATISFIED_DEPENDENCY"
    TARGET_DIVERGED = "TARGET_DIVERGED"
    NOT_READY = "NOT_READY"
    CONFLICT = "CONFLICT"
    UNSUPPORTED_SCHEMA = "UNSUPPORTED_SCHEMA"
    CORRUPT_STORE = "CORRUPT_STORE"
    LEDGER_REPLACED = "LEDGER_REPLACED"
    INTERNAL_ERROR = "INTERNAL_ERROR"
    ERROR = "ERROR"
    LEDGER_IN_USE = "LEDGER_IN_USE"
    NOT_INITIALIZED = "NOT_INITIALIZED"
    NOT_A_REPOSITORY = "NOT_A_REPOSITORY"
    GIT_UNAVAILABLE = "GIT_UNAVAILABLE"
    REPOSITORY_UNREADABLE = "REPOSITORY_UNREADABLE"
    REFUSED_BIND = "REFUSED_BIND"
    GIT_ERROR = "GIT_ERROR"
    API_ERROR = "API_ERROR"
    ALREADY_EXISTS = "ALREADY_EXISTS"


class Facts(NamedTuple):
    """HTTP status (None: told by the command or over MCP alone) and exit code of the command."""

    http: int | None
    exit: int = 1


_E = ErrorCode
ERRORS: dict[ErrorCode, Facts] = {
    _E.INVALID_INPUT: Facts(400),
    _E.UNAUTHORIZED: Facts(401),
    _E.FORBIDDEN: Facts(403),
    _E.NOT_FOUND: Facts(404),
    _E.METHOD_NOT_ALLOWED: Facts(405),
    _E.STATE_RACE: Facts(409),
    _E.RESOURCE_LIMIT: Facts(413),
    _E.INVALID_TRANSITION: Facts(422),
    _E.CHECK_FAILED: Facts(422),
    _E.STALE_CHANGESET: Facts(422),
    _E.BLOCKING_CONFLICT: Facts(422),
    _E.UNSATISFIED_DEPENDENCY: Facts(422),
    _E.TARGET_DIVERGED: Facts(422),
    _E.NOT_READY: Facts(503),
    _E.CONFLICT: Facts(500),
    _E.UNSUPPORTED_SCHEMA: Facts(500),
    _E.CORRUPT_STORE: Facts(500),
    _E.LEDGER_REPLACED: Facts(500),
    _E.INTERNAL_ERROR: Facts(500),
    _E.ERROR: Facts(None),
    _E.LEDGER_IN_USE: Facts(None),
    _E.NOT_INITIALIZED: Facts(None),
    _E.NOT_A_REPOSITORY: Facts(None),
    _E.GIT_UNAVAILABLE: Facts(None),
    _E.REPOSITORY_UNREADABLE: Facts(None),
    _E.REFUSED_BIND: Facts(None),
    _E.GIT_ERROR: Facts(None),
    _E.API_ERROR: Facts(None),
    _E.ALREADY_EXISTS: Facts(None),
}

USAGE_EXIT = 2
"""Exit code of the command when its arguments cannot be read."""

_OF_GITRING: dict[str, ErrorCode] = {
    "invalid_input": _E.INVALID_INPUT,
    "invalid_scope": _E.INVALID_INPUT,
    "unknown_line": _E.INVALID_INPUT,
    "unknown_series": _E.INVALID_INPUT,
    "dependency_cycle": _E.INVALID_INPUT,
    "unauthenticated": _E.UNAUTHORIZED,
    "people_only": _E.FORBIDDEN,
    "folder_write_refused": _E.FORBIDDEN,
    "forbidden": _E.FORBIDDEN,
    "project_not_in_token": _E.FORBIDDEN,
    "not_found": _E.NOT_FOUND,
    "method_not_allowed": _E.METHOD_NOT_ALLOWED,
    "wrong_state": _E.INVALID_TRANSITION,
    "open_change_requests": _E.INVALID_TRANSITION,
    "nothing_pushed": _E.INVALID_TRANSITION,
    "stale_head": _E.STALE_CHANGESET,
    "idempotency_key_reused": _E.STATE_RACE,
    "idempotency_in_progress": _E.STATE_RACE,
    "already_done": _E.STATE_RACE,
    "claim_held": _E.STATE_RACE,
    "exists": _E.ALREADY_EXISTS,
    "too_large": _E.RESOURCE_LIMIT,
    "busy": _E.NOT_READY,
    "outcome_unknown": _E.NOT_READY,
}


def foremerge_refusal(code: ErrorCode, message: str, next_step: str) -> Refused:
    """A refusal in this protocol's words; one without an HTTP status of its own is a 500 there."""
    return Refused(Refusal(code=code.value, message=message, next=next_step, status=ERRORS[code].http or 500))


def in_foremerge_words(refusal: Refusal) -> Refusal:
    """A refusal from anywhere in gitring with the code this face knows it by."""
    if refusal.code in ErrorCode.__members__:
        return refusal
    code = _OF_GITRING.get(refusal.code, _E.INTERNAL_ERROR)
    status = ERRORS[code].http or refusal.status
    return refusal.model_copy(update={"code": code.value, "status": status})
