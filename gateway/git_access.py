"""What Git over HTTP asks the rest of gitring: who may read or push, what a push may do, and to record it."""

import base64
import binascii
from pathlib import Path
from typing import Literal, Protocol

from pydantic import BaseModel, ConfigDict

from storage.git.receive import RefUpdate


class GitAccess(BaseModel):
    """Leave to use one repository. `principal` is the caller's own word for who it is; it is handed back as it is."""

    model_config = ConfigDict(frozen=True)

    repository: Path
    project_id: str
    principal: str


class GitDenied(BaseModel):
    """No leave. `message` is one line that git shows to its user, ending with the next step."""

    model_config = ConfigDict(frozen=True)

    status: Literal[401, 403, 404]
    message: str


class Authorize(Protocol):
    """Decides whether a request may read (`write` False) or push to the project, named by id or slug."""

    async def __call__(
        self, project: str, authorization_header: str | None, write: bool
    ) -> GitAccess | GitDenied: ...


class Decide(Protocol):
    """Judges a push whose objects are in quarantine: None allows it, text refuses it and is shown to the pusher.

    Read the objects with `Repository(access.repository).with_env(quarantine_env)`. It may be cancelled when the
    client leaves; an exception refuses the push.
    """

    async def __call__(
        self, access: GitAccess, updates: list[RefUpdate], quarantine_env: dict[str, str]
    ) -> str | None: ...


class Record(Protocol):
    """Records the refs that moved. Called once per push that moved any, before the pusher hears of success,
    never cancelled. It must bear a repeat: a push found unrecorded later is recorded by the reconciliation."""

    async def __call__(self, access: GitAccess, updates: list[RefUpdate]) -> None: ...


def token_of(authorization_header: str | None) -> str | None:
    """The token of a request: of `Bearer <token>`, or the password of `Basic`, whatever the user name. Else None."""
    scheme, _, value = (authorization_header or "").strip().partition(" ")
    value = value.strip()
    if scheme.lower() == "bearer":
        return value or None
    if scheme.lower() != "basic":
        return None
    try:
        pair = base64.b64decode(value, validate=True).decode("utf-8")
    except (binascii.Error, UnicodeDecodeError):
        return None
    return pair.partition(":")[2] or None
