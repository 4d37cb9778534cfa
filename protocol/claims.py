"""Numbers and names that an intent reserves, so that no two live intents take the same one."""

import unicodedata
from typing import Annotated, Self

from pydantic import AfterValidator, Field, StringConstraints, model_validator

from protocol.wire import Input

MOST_OF_A_CLAIM = 10
MOST_NUMBERS = 50
MOST_CLAIMS = 50

# A prefix that ended in a digit would leave open where the number begins.
Prefix = Annotated[
    str,
    StringConstraints(pattern=r"^[A-Za-z](?:[A-Za-z0-9._:/-]{0,38}[A-Za-z._:/-])?$"),
    Field(
        description="What stands before the number, as in D560: a letter first, no digit last, 40 at most."
    ),
]


def claim_key(text: str) -> str:
    """What two claims have in common when they are the same: letters count alike whatever their case."""
    return unicodedata.normalize("NFKC", text).casefold()


def _one_word(name: str) -> str:
    if any(not char.isprintable() or char.isspace() or char == "," for char in name):
        raise ValueError("a name holds no spaces, commas or control characters")
    return name


ClaimName = Annotated[str, StringConstraints(min_length=1, max_length=200), AfterValidator(_one_word)]


class ClaimInput(Input):
    """One reservation, of one form: the next numbers of a series, or a name."""

    series: Annotated[Prefix | None, Field(description="The prefix of a series an owner created.")] = None
    count: Annotated[
        int | None,
        Field(ge=1, le=MOST_OF_A_CLAIM, description="How many numbers of the series; one when left out."),
    ] = None
    name: Annotated[
        ClaimName | None, Field(description="A name no other live intent holds, such as table:invoices.")
    ] = None

    @model_validator(mode="after")
    def _one_form(self) -> Self:
        if (self.series is None) == (self.name is None):
            raise ValueError("a claim has either `series` (with `count`) or `name`")
        if self.name is not None and self.count is not None:
            raise ValueError("`count` belongs to `series`; a name is reserved as it stands")
        return self

    @property
    def numbers(self) -> int:
        """How many numbers it asks for."""
        return 0 if self.series is None else self.count or 1


def _within_bounds(claims: list[ClaimInput]) -> list[ClaimInput]:
    if sum(claim.numbers for claim in claims) > MOST_NUMBERS:
        raise ValueError(f"one intent reserves at most {MOST_NUMBERS} numbers")
    keys = [claim_key(claim.name) for claim in claims if claim.name is not None]
    if len(set(keys)) < len(keys):
        raise ValueError("a name is there twice")
    return claims


Claims = Annotated[
    list[ClaimInput],
    Field(
        max_length=MOST_CLAIMS,
        description="Numbers and names to reserve: {series, count} or {name}. All of them, or nothing is declared.",
    ),
    AfterValidator(_within_bounds),
]
