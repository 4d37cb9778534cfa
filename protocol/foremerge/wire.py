"""How Foremerge models look on the wire: frozen, snake_case, text kept as it was sent, bounded."""

import math
from collections.abc import Callable
from typing import Annotated, Any, ClassVar

from pydantic import (
    AfterValidator,
    ConfigDict,
    Field,
    SerializerFunctionWrapHandler,
    StringConstraints,
    field_validator,
    model_serializer,
)

from protocol.wire import Answer, Input

MOST_SCOPES = 200
MOST_ITEMS = 500
MOST_JSON_NODES = 2_000
MOST_JSON_DEPTH = 50

Id = Annotated[str, StringConstraints(min_length=1, max_length=100)]
Line = Annotated[str, StringConstraints(max_length=1_000)]
Text = Annotated[str, StringConstraints(max_length=10_000)]
Item = Annotated[str, StringConstraints(min_length=1, max_length=1_000)]
PathText = Annotated[str, StringConstraints(max_length=4_096)]


def _bounded_json(value: Any) -> None:
    """Refuse what the record cannot keep, or what would cost too much to look through."""
    waiting, seen = [(value, 0)], 0
    while waiting:
        seen += 1
        if seen > MOST_JSON_NODES:
            raise ValueError(f"holds more than {MOST_JSON_NODES} values; send less")
        one, depth = waiting.pop()
        if depth > MOST_JSON_DEPTH:
            raise ValueError(f"is nested more than {MOST_JSON_DEPTH} deep; make it flatter")
        if isinstance(one, dict):
            waiting += [(inner, depth + 1) for inner in (*one.keys(), *one.values())]
        elif isinstance(one, (list, tuple)):
            waiting += [(inner, depth + 1) for inner in one]
        elif isinstance(one, float) and not math.isfinite(one):
            raise ValueError("holds a number that JSON does not have")
        elif isinstance(one, str) and any(char == "\0" or "\ud800" <= char <= "\udfff" for char in one):
            raise ValueError("holds a NUL or half a character; leave it out")


class ForemergeInput(Input):
    """What a caller says. A field that is not known is refused; text keeps its spaces, rules trim it."""

    model_config = ConfigDict(alias_generator=None, str_strip_whitespace=False)

    @field_validator("*")
    @classmethod
    def _storable(cls, value: Any) -> Any:
        if isinstance(value, (dict, list)):
            _bounded_json(value)
        return value


class ForemergeAnswer(Answer):
    """What this face says. Fields of `left_out` are not there at all while they hold nothing."""

    model_config = ConfigDict(alias_generator=None)

    left_out: ClassVar[frozenset[str]] = frozenset()

    @model_serializer(mode="wrap")
    def _without_the_empty(self, handler: SerializerFunctionWrapHandler) -> dict[str, Any]:
        shown: dict[str, Any] = handler(self)
        return {name: value for name, value in shown.items() if value or name not in self.left_out}


def clamped(low: int, high: int) -> Callable[[int], int]:
    """A number outside the range is taken as the nearer end of it, as the protocol has it."""
    return lambda value: min(max(value, low), high)


def _range(low: int, high: int) -> dict[str, Any]:
    return {"minimum": low, "maximum": high}


LEASE_SECONDS = (60, 86_400)
WORK_LIMIT = (1, 500)
EVENT_LIMIT = (1, 1_000)
AUDIT_PAGE = (1, 10_000)

Lease = Annotated[
    int,
    AfterValidator(clamped(*LEASE_SECONDS)),
    Field(
        description="How long the claim is held, in seconds; a number outside the range counts as its nearer end.",
        json_schema_extra=_range(*LEASE_SECONDS),
    ),
]
WorkLimit = Annotated[
    int,
    AfterValidator(clamped(*WORK_LIMIT)),
    Field(description="The most entries to answer.", json_schema_extra=_range(*WORK_LIMIT)),
]
EventLimit = Annotated[
    int,
    AfterValidator(clamped(*EVENT_LIMIT)),
    Field(description="The most events to answer.", json_schema_extra=_range(*EVENT_LIMIT)),
]
AuditPage = Annotated[
    int,
    AfterValidator(clamped(*AUDIT_PAGE)),
    Field(description="How many events one look at the record reads.", json_schema_extra=_range(*AUDIT_PAGE)),
]
