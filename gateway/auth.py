"""Who is calling: the bearer token of a request, what its kind may open, and a short memory of accepted ones."""

import hashlib
import time
from collections import OrderedDict
from collections.abc import Awaitable, Callable
from enum import Enum
from typing import Protocol

from protocol.projects import Caller, TokenKind
from protocol.refusals import Refused, refused, unauthenticated

REMEMBER_SEC = 2.0
REMEMBER_MOST = 10_000


class Door(Enum):
    """Where a call came in; the value is the kinds of token it opens to."""

    MCP = frozenset({TokenKind.PERSON, TokenKind.AGENT, TokenKind.MCP})
    REST = frozenset({TokenKind.PERSON, TokenKind.AGENT})


def bearer_token(authorization: str | None) -> str:
    """The token of an `Authorization` header; refuses `unauthenticated` when there is none to read."""
    scheme, _, token = (authorization or "").partition(" ")
    token = token.strip()
    if (
        scheme.lower() != "bearer"
        or not token.startswith("gitring_")
        or len(token) > 200
        or not token.isascii()
    ):
        raise unauthenticated()
    return token


class Knows(Protocol):
    """Whoever can tell whose token it is."""

    async def authenticate(self, raw_token: str) -> Caller:
        """Whose token this is; refuses `unauthenticated`."""
        ...


async def admit(surface: Knows, authorization: str | None, door: Door) -> Caller:
    """The caller behind `authorization`, if its token opens `door`; refuses `unauthenticated` or `forbidden`."""
    raw = bearer_token(authorization)
    if raw.startswith("gitring_git_"):
        raise _wrong_door(TokenKind.GIT)
    caller = await surface.authenticate(raw)
    if caller.kind not in door.value:
        raise _wrong_door(caller.kind)
    return caller


def _wrong_door(kind: TokenKind) -> Refused:
    if kind is TokenKind.GIT:
        return refused(
            "forbidden",
            "A git token opens Git only.",
            "Call with your agent token (gitring_agent_…); keep the git token in GITRING_GIT_TOKEN for git push.",
            403,
        )
    return refused(
        "forbidden",
        f"A token of kind {kind} works at /mcp only.",
        "Call the tool of the same name at /mcp, or use an agent token (gitring_agent_…).",
        403,
    )


class AcceptedTokens:
    """Remembers accepted tokens for `REMEMBER_SEC` seconds, in this process, so that calls in a row ask the record once.

    A revoked or expired token is therefore refused at the latest `REMEMBER_SEC` seconds after its revocation,
    in every process. Refusals are not remembered. Only hashes of tokens are kept.
    """

    def __init__(
        self,
        find: Callable[[str], Awaitable[Caller | None]],
        *,
        remember_sec: float = REMEMBER_SEC,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._find = find
        self._remember_sec = remember_sec
        self._clock = clock
        self._accepted: OrderedDict[bytes, tuple[float, Caller]] = OrderedDict()

    async def caller(self, raw_token: str) -> Caller:
        """The caller of `raw_token`; refuses `unauthenticated`."""
        key = hashlib.sha256(raw_token.encode("utf-8", "surrogatepass")).digest()
        known = self._accepted.get(key)
        asked_at = self._clock()
        if known is not None and asked_at < known[0]:
            return known[1]
        found = await self._find(raw_token)
        if found is None:
            self._accepted.pop(key, None)
            raise unauthenticated()
        self._keep(key, asked_at + self._remember_sec, found)
        return found

    def forget(self, token_id: str) -> None:
        """Stop trusting a token at once in this process: it was revoked here (a git token dies with its parent)."""
        gone = [key for key, (_, caller) in self._accepted.items() if caller.token_id == token_id]
        for key in gone:
            del self._accepted[key]

    def _keep(self, key: bytes, until: float, caller: Caller) -> None:
        self._accepted[key] = (until, caller)
        self._accepted.move_to_end(key)
        while len(self._accepted) > REMEMBER_MOST:
            self._accepted.popitem(last=False)
