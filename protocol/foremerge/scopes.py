"""Scopes on the wire. What two of them have in common is judged in `rules/foremerge`."""

from typing import Annotated, ClassVar

from pydantic import BeforeValidator, Field, StringConstraints

from protocol.foremerge.wire import MOST_SCOPES, ForemergeAnswer, ForemergeInput
from protocol.foremerge.words import Operation, ScopeKind

MOST_KEY = 1_000


def _lowered(value: object) -> object:
    return value.strip().lower() if isinstance(value, str) else value


def _trimmed(value: object) -> object:
    return value.strip() if isinstance(value, str) else value


Kind = Annotated[
    ScopeKind,
    BeforeValidator(_lowered),
    Field(description="What the scope names: a symbol, an api, a schema, a file and so on."),
]
Key = Annotated[
    str,
    BeforeValidator(_trimmed),
    StringConstraints(min_length=1, max_length=MOST_KEY),
    Field(
        description="Its name; a method of a class is written Class::method, a file from the repository root."
    ),
]


class Scope(ForemergeInput):
    """A named piece of the software: `symbol:PaymentService`."""

    kind: Kind
    key: Key

    @property
    def text(self) -> str:
        """`kind:key`, the key as it was spelt."""
        return f"{self.kind}:{self.key}"


class DeclaredScope(Scope):
    """A scope with the operation that the intent declares on it."""

    operation: Annotated[
        Operation,
        Field(
            description="What you do to it. add, extend and modify keep what others rely on; "
            "replace, remove, rename and migrate do not."
        ),
    ]


class ScopeClaim(ForemergeAnswer):
    """A scope of an intent as kept and shown; `inferred` when the operation was read from the summary."""

    left_out: ClassVar[frozenset[str]] = frozenset({"inferred"})

    kind: ScopeKind
    key: str
    operation: Operation
    inferred: bool = False

    @property
    def text(self) -> str:
        """`kind:key`, the key as it was spelt."""
        return f"{self.kind}:{self.key}"


class PlainScope(ForemergeAnswer):
    """A scope as shown in claims and conflicts."""

    kind: ScopeKind
    key: str

    @property
    def text(self) -> str:
        """`kind:key`, the key as it was spelt."""
        return f"{self.kind}:{self.key}"


DeclaredScopes = Annotated[
    list[DeclaredScope],
    Field(max_length=MOST_SCOPES, description="The scopes, each with the operation on it."),
]
