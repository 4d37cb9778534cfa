"""Identifiers: a short prefix and a ULID, as the gitring document writes them (`int_01JBQ8…`)."""

from typing import Annotated, NewType

from pydantic import StringConstraints
from ulid import ULID

ULID_PATTERN = "[0-9A-HJKMNP-TV-Z]{26}"


def _pattern(prefix: str) -> StringConstraints:
    return StringConstraints(pattern=f"^{prefix}_{ULID_PATTERN}$")


ProjectId = NewType("ProjectId", str)
IntentId = NewType("IntentId", str)
CommitId = NewType("CommitId", str)

IntentIdField = Annotated[IntentId, _pattern("int")]
AskIdField = Annotated[str, _pattern("ask")]
ChangeRequestIdField = Annotated[str, _pattern("chq")]

Sha = Annotated[CommitId, StringConstraints(pattern="^[0-9a-f]{40}$")]


def new_id(prefix: str) -> str:
    """A fresh identifier with `prefix` (`int`, `prj`, `chq`, …); sorts by creation time."""
    return f"{prefix}_{ULID()}"


def short(commit: str) -> str:
    """The first seven digits of a commit, as texts show it."""
    return commit[:7]
