"""What gitring refuses, in one place: each code, its HTTP status, its words and the next step.

Refused (Exception)
└── carries a Refusal: code, message, next, status
    400  invalid_input · unknown_line · unknown_series · invalid_scope
    401  unauthenticated
    403  people_only · folder_write_refused · bare_repository_refused · forbidden · project_not_in_token
    404  not_found
    409  wrong_state · stale_head · open_change_requests · nothing_pushed · dependency_cycle ·
         idempotency_key_reused · idempotency_in_progress · already_done · exists · claim_held · ask_taken
    413  too_large
    503  busy · outcome_unknown            (the world was slow: the same call may work later)
"""

from protocol.wire import Answer


class Refusal(Answer):
    """A refusal as the wire shows it: `{"error": {"code", "message", "next"}}`."""

    code: str
    message: str
    next: str
    status: int = 409
    retry_after_sec: float | None = None

    @property
    def text(self) -> str:
        """The whole refusal for reading: `code: message next`."""
        return f"{self.code}: {self.message} {self.next}"


class Refused(Exception):
    """Raised anywhere a call ends in a refusal; the edge turns it into its protocol's error."""

    def __init__(self, refusal: Refusal) -> None:
        super().__init__(refusal.text)
        self.refusal = refusal


def refused(code: str, message: str, next_step: str, status: int = 409) -> Refused:
    """A `Refused` made from its parts."""
    return Refused(Refusal(code=code, message=message, next=next_step, status=status))


def invalid_input(message: str, next_step: str = "Correct the call and send it again.") -> Refused:
    """400: the call's arguments cannot be used."""
    return refused("invalid_input", message, next_step, 400)


def not_found(what: str, next_step: str) -> Refused:
    """404: there is no such thing, or the token may not know of it."""
    return refused("not_found", f"There is no {what} that this token can see.", next_step, 404)


def unauthenticated() -> Refused:
    """401: the token is missing, unknown, expired or revoked."""
    return refused(
        "unauthenticated",
        "The token was not accepted: it is missing, revoked or expired.",
        "Ask the person you act for to make a new one with `gitring tokens create`, and send it as `Authorization: Bearer …`.",
        401,
    )


def people_only(person: str, number: int | None) -> Refused:
    """403: an agent tried to decide."""
    where = f"intent #{number}" if number is not None else "it"
    return refused(
        "people_only", "Only a person can decide.", f"Ask {person} to open {where} in gitring.", 403
    )


def busy(what: str, retry_after_sec: float = 2.0) -> Refused:
    """503: nothing was done because `what` did not answer in time."""
    return Refused(
        Refusal(
            code="busy",
            message=f"{what} did not answer in time, and nothing was changed.",
            next=f"Send the same call again in {retry_after_sec:g} seconds.",
            status=503,
            retry_after_sec=retry_after_sec,
        )
    )


def outcome_unknown(tool: str, with_request_id: bool) -> Refused:
    """503: the write may or may not have been saved; the text is the rule for repeating it."""
    if with_request_id:
        next_step = (
            f"Call {tool} again with the same requestId and the same arguments: you get the first call's answer "
            "if it was saved, and otherwise it is done now. It is never done twice."
        )
    else:
        next_step = (
            "This call had no requestId, so a repeat could do it twice: call gitring_status (or gitring_board) first, "
            f"and call {tool} again only if it did not happen. Send a new requestId with every write."
        )
    return Refused(
        Refusal(
            code="outcome_unknown",
            message="gitring's engine did not answer while it handled this change, so whether it was saved is not known yet.",
            next=next_step,
            status=503,
            retry_after_sec=2.0,
        )
    )


def request_reused() -> Refused:
    """409: the requestId stands for another call."""
    return refused(
        "idempotency_key_reused",
        "This requestId was used for a different call in the last 24 hours.",
        "Use a new requestId for each operation.",
    )


def request_in_progress(tool: str) -> Refused:
    """409: the first call with this requestId may still be running."""
    return refused(
        "idempotency_in_progress",
        "A call with this requestId is still running.",
        f"Wait a second, then call {tool} again with the same requestId to get its answer.",
    )


def already_done(tool: str) -> Refused:
    """409: the write was saved, but its answer cannot be shown any more."""
    return refused(
        "already_done",
        "The first call with this requestId was saved, but its answer was lost.",
        f"Call gitring_status on the intent to see the result; do not call {tool} again.",
    )
