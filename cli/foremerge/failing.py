"""How a command of this face ends badly: a code of the protocol, a text with the next step, an exit code."""

from typing import Any

from protocol.foremerge.errors import ERRORS, ErrorCode, in_foremerge_words
from protocol.refusals import Refusal


class Failure(Exception):
    """A command cannot go on. `data` is what there is to show all the same."""

    def __init__(self, code: ErrorCode, message: str, data: Any = None) -> None:
        super().__init__(f"{code}: {message}")
        self.code = code
        self.message = message
        self.data = data

    @property
    def exit_code(self) -> int:
        """The process's exit code."""
        return ERRORS[self.code].exit

    @property
    def envelope(self) -> dict[str, Any]:
        """The failure as `--json` prints it."""
        body: dict[str, Any] = {"ok": False, "error": {"code": self.code.value, "message": self.message}}
        return body if self.data is None else {**body, "data": self.data}


def bad(message: str) -> Failure:
    """INVALID_INPUT."""
    return Failure(ErrorCode.INVALID_INPUT, message)


def of_gitring(error: dict[str, Any], status: int) -> Failure:
    """A failure that gitring's own doors told, in this protocol's words."""
    refusal = Refusal(
        code=str(error.get("code", "internal_error")),
        message=str(error.get("message", "")),
        next=str(error.get("next", "")),
        status=status,
    )
    told = in_foremerge_words(refusal)
    return Failure(ErrorCode(told.code), f"{told.message} {told.next}".strip())
