"""Claims: leased, advisory, renewed in place. Who else holds the same scope is told, and nobody is kept out."""

from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta
from typing import NamedTuple

from protocol.foremerge.scopes import PlainScope, Scope, ScopeClaim
from protocol.foremerge.wire import LEASE_SECONDS, clamped
from protocol.foremerge.words import ClaimStatus, Operation
from rules.foremerge.findings import Finding, Side, claimed_by_both
from rules.foremerge.refusing import missing
from rules.foremerge.scopes import alias, fold_plain, precise
from rules.foremerge.subjects import declared


class Held(NamedTuple):
    """A claim as the record has it; `released` only by an event, never by time."""

    id: str
    intent_id: str
    summary: str
    scope: PlainScope
    released: bool
    lease_expires_at: datetime


class ClaimStep(NamedTuple):
    """One scope to write: a new claim (`renews` is None), or the same one with a new lease, reason and spelling."""

    scope: PlainScope
    renews: str | None
    lease_expires_at: datetime


class ClaimPlan(NamedTuple):
    """What a claim writes, and whom it meets."""

    steps: list[ClaimStep]
    overlaps: list[Finding]


def lease_end(now: datetime, seconds: int) -> datetime:
    """When a lease of `seconds` ends; a number outside 60 to 86,400 counts as the nearer end."""
    return now + timedelta(seconds=clamped(*LEASE_SECONDS)(seconds))


def status_at(claim: Held, now: datetime) -> ClaimStatus:
    """The status shown at `now`: a lease that has passed is EXPIRED, and the record still says ACTIVE."""
    if claim.released:
        return ClaimStatus.RELEASED
    return ClaimStatus.ACTIVE if claim.lease_expires_at > now else ClaimStatus.EXPIRED


def plan_claim(
    intent_id: str,
    summary: str,
    scopes: Sequence[Scope | PlainScope],
    known: Iterable[Held],
    seconds: int,
    now: datetime,
) -> ClaimPlan:
    """Claim `scopes` for an intent, seeing every claim of the project in `known`.

    A claim of the same intent on the same precise scope is renewed, also one that has expired. Each other intent with
    a running claim on the same alias gives one finding for each scope.
    """
    held = list(known)
    own = {precise(one.scope): one.id for one in held if one.intent_id == intent_id and not one.released}
    others = [one for one in held if one.intent_id != intent_id and status_at(one, now) is ClaimStatus.ACTIVE]
    folded = fold_plain(scopes)
    steps = [ClaimStep(scope, own.get(precise(scope)), lease_end(now, seconds)) for scope in folded]
    overlaps = [found for scope in folded for found in _met(intent_id, summary, scope, others)]
    return ClaimPlan(steps, overlaps)


def plan_release(scopes: Sequence[Scope | PlainScope], own: Iterable[Held]) -> list[str]:
    """The ids of the claims that giving `scopes` back ends, of `own`: all that the intent ever held.

    No scope stands for all of them. A scope that was given back already ends nothing; NOT_FOUND for one never claimed.
    """
    known = list(own)
    held = {precise(one.scope) for one in known}
    for scope in scopes:
        if precise(scope) not in held:
            raise missing(
                f"claim of this intent on {scope.text[:200]}", "Read what it claims with query_work."
            )
    wanted = {precise(scope) for scope in scopes} or held
    return [one.id for one in known if not one.released and precise(one.scope) in wanted]


def given_back(released: Iterable[PlainScope], held: Iterable[PlainScope]) -> frozenset[str]:
    """The aliases on which nothing is claimed any more."""
    return frozenset(map(alias, released)) - frozenset(map(alias, held))


def _met(intent_id: str, summary: str, scope: PlainScope, others: Iterable[Held]) -> list[Finding]:
    mine = _side(intent_id, summary, scope)
    first: dict[str, Held] = {}
    for one in sorted(others, key=lambda held: (precise(held.scope) != precise(scope), held.id)):
        if alias(one.scope) == alias(scope):
            first.setdefault(one.intent_id, one)
    return [
        claimed_by_both(mine, _side(one.intent_id, one.summary, one.scope))
        for _, one in sorted(first.items())
    ]


def _side(intent_id: str, summary: str, scope: PlainScope) -> Side:
    # A claim carries no operation; the finding says nothing about one.
    return Side(
        intent_id,
        summary,
        declared(ScopeClaim(kind=scope.kind, key=scope.key, operation=Operation.MODIFY)),
    )
