"""Refusals that several rules of this face share, each with the next step."""

from protocol.foremerge.errors import ErrorCode, foremerge_refusal
from protocol.refusals import Refused


def bad_input(message: str, next_step: str = "Correct the call and send it again.") -> Refused:
    """INVALID_INPUT."""
    return foremerge_refusal(ErrorCode.INVALID_INPUT, message, next_step)


def forbidden(message: str, next_step: str) -> Refused:
    """FORBIDDEN."""
    return foremerge_refusal(ErrorCode.FORBIDDEN, message, next_step)


def missing(what: str, next_step: str) -> Refused:
    """NOT_FOUND."""
    return foremerge_refusal(ErrorCode.NOT_FOUND, f"There is no {what}.", next_step)


def wrong_status(message: str, next_step: str) -> Refused:
    """INVALID_TRANSITION."""
    return foremerge_refusal(ErrorCode.INVALID_TRANSITION, message, next_step)


def check_failed(message: str, next_step: str) -> Refused:
    """CHECK_FAILED."""
    return foremerge_refusal(ErrorCode.CHECK_FAILED, message, next_step)


def stale(message: str, next_step: str) -> Refused:
    """STALE_CHANGESET."""
    return foremerge_refusal(ErrorCode.STALE_CHANGESET, message, next_step)


def lost_race(message: str, next_step: str = "Read it again, then repeat what still applies.") -> Refused:
    """STATE_RACE."""
    return foremerge_refusal(ErrorCode.STATE_RACE, message, next_step)


def filled(text: str, field: str) -> str:
    """`text` without the spaces around it; refuses a blank one by the field's name."""
    trimmed = text.strip()
    if not trimmed:
        raise bad_input(f"{field} is blank.", f"Say it in words in {field} and send the call again.")
    return trimmed
