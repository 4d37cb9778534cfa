"""The checks of a project, as its settings take and show them."""

from typing import Annotated, Self

from pydantic import Field, model_validator

from protocol.checks import MAX_CHECKS, CheckDefinition, CheckFields, Command, VariableName
from protocol.wire import Answer, Input


class NamedCheck(CheckFields, Input):
    """One named check, as callers give it."""


class ChecksInput(Input):
    """The project's checks: `test`, the check of that name, and any number of named ones beside it.

    Where settings are changed, `test` goes together with the three fields after it, and what is left out stays.
    """

    test: Annotated[
        Command | None,
        Field(description="A shell command, run at the root of the checkout; null removes it."),
    ] = None
    timeout_sec: Annotated[int, Field(ge=1, le=86_400)] = 900
    environment: Annotated[
        list[VariableName],
        Field(max_length=50, description="Names of the server's variables that the check may see."),
    ] = []
    network: Annotated[
        bool, Field(description="Let the check reach the network; off, it has loopback only.")
    ] = False
    named: Annotated[
        list[NamedCheck], Field(max_length=MAX_CHECKS, description="All the named checks; [] removes them.")
    ] = []

    @model_validator(mode="after")
    def _says_something(self) -> Self:
        if not self.model_fields_set & {"test", "named"}:
            raise ValueError(
                "give the command as `test`, or checks in `named`; null in its place removes all"
            )
        return self


class Checks(Answer):
    """The project's checks as shown."""

    test: str | None
    timeout_sec: int
    environment: list[str] = []
    network: bool = False
    named: list[CheckDefinition] = []
