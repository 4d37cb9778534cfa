"""Claims: advisory, leased, never a lock."""

from datetime import datetime
from typing import Annotated, ClassVar, Literal

from pydantic import Field

from protocol.foremerge.agents import AgentRef
from protocol.foremerge.conflicts import Conflict
from protocol.foremerge.intents import IntentRef
from protocol.foremerge.scopes import PlainScope, Scope
from protocol.foremerge.wire import MOST_SCOPES, ForemergeAnswer, ForemergeInput, Lease, Text
from protocol.foremerge.words import ClaimStatus


class ClaimWorkInput(ForemergeInput):
    """`claim_work`."""

    agent_id: AgentRef
    intent_id: IntentRef
    scopes: Annotated[
        list[Scope],
        Field(
            min_length=1,
            max_length=MOST_SCOPES,
            description="The scopes to claim; they take no operation, the intent declared it.",
        ),
    ]
    reason: Annotated[Text | None, Field(description="What you need them for.")] = None
    lease_seconds: Lease = 3_600


class ReleaseBody(ForemergeInput):
    """Body of `POST /v1/work/{intent_id}/release`."""

    agent_id: AgentRef
    scopes: Annotated[
        list[Scope],
        Field(
            max_length=MOST_SCOPES,
            description="The claimed scopes to give back; none stands for all of them.",
        ),
    ] = []


class ReleaseClaimsInput(ReleaseBody):
    """`release_claims`."""

    intent_id: IntentRef


class Claim(ForemergeAnswer):
    """One claimed scope."""

    id: str
    agent_id: str
    intent_id: str
    scope: PlainScope
    status: ClaimStatus
    reason: str | None = None
    lease_expires_at: datetime
    created_at: datetime


class ClaimedWork(ForemergeAnswer):
    """`claim_work`: what was claimed, and who else holds the same scopes. Nobody is kept out."""

    left_out: ClassVar[frozenset[str]] = frozenset({"scope_warnings"})

    claims: list[Claim]
    warnings: list[Conflict]
    advisory_only: Literal[True] = True
    scope_warnings: list[str] = []


class ReleasedClaims(ForemergeAnswer):
    """`release_claims`: what this call gave back, and what the intent still claims."""

    released: list[Claim]
    held: list[Claim]
