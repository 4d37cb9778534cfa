"""The gate before a ChangeSet is accepted. The order of its checks is part of the protocol: it decides what is told.

The caller runs it twice on the same facts: with Git's answers before the transaction, and, for what the record
holds, once more inside it (`must_still_hold`).
"""

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from protocol.foremerge.changesets import AcceptChangeSetInput
from protocol.foremerge.errors import ErrorCode, foremerge_refusal
from protocol.foremerge.scopes import ScopeClaim
from protocol.foremerge.words import (
    AcceptancePolicy,
    ChangeSetStatus,
    ConflictStatus,
    IntentStatus,
    Operation,
    Severity,
    Verification,
)
from protocol.refusals import Refused
from rules.foremerge.fingerprint import Snapshot, fingerprint
from rules.foremerge.lifecycle import must_be_validatable
from rules.foremerge.persons import asked_of_a_person, persons_word, require_person
from rules.foremerge.refusing import bad_input, check_failed, forbidden, lost_race, stale, wrong_status
from rules.foremerge.verification import NewestRun, difference, verification_of

ADVISORY_REASON = "No validation was recorded; the project's acceptance policy is advisory."
_LANDABLE = frozenset({IntentStatus.ACCEPTED, IntentStatus.COMMITTED})
_REVISE = "Publish the ChangeSet again from the worktree as it is, and validate it."


class Overrides(NamedTuple):
    """What an operator lets pass, and why. `person` is the name of the person who calls, None for an agent."""

    high_conflicts: bool = False
    unverified: bool = False
    reason: str = ""
    person: str | None = None


NO_OVERRIDES = Overrides()


class ConflictFacts(NamedTuple):
    """A stored conflict that touches the intent."""

    id: str
    severity: Severity
    status: ConflictStatus


class DependencyFacts(NamedTuple):
    """An intent that a ChangeSet depends on; `ref_commit` is what its accepted ref names now."""

    intent_id: str
    status: IntentStatus | None
    accepted_commit: str | None
    ref_commit: str | None
    is_ancestor: bool = True


class Recorded(NamedTuple):
    """What the record says, and the published snapshot. A person alone accepts what `person_accepts` does to `scopes`."""

    changeset_id: str
    changeset_status: ChangeSetStatus
    intent_status: IntentStatus
    policy: AcceptancePolicy
    newest_run: NewestRun | None
    published: Snapshot
    conflicts: tuple[ConflictFacts, ...] = ()
    dependencies: tuple[DependencyFacts, ...] = ()
    scopes: tuple[ScopeClaim, ...] = ()
    person_accepts: tuple[Operation, ...] = ()


class Seen(NamedTuple):
    """What Git says now: the worktree, and the commit that the caller's ref (or the recorded one) names."""

    snapshot: Snapshot
    candidate: str | None


class Accepted(NamedTuple):
    """The way through: what is recorded of it. `overridden` conflicts become OVERRIDDEN.

    `asked` is what a person has to accept, such as `remove symbol:Cart`.
    """

    verification: Verification
    reason: str | None
    overridden: tuple[str, ...]
    asked: tuple[str, ...] = ()


def refuse_overrides(given: AcceptChangeSetInput) -> None:
    """FORBIDDEN when an agent asks for what only an operator may let pass; a false or empty one asks nothing."""
    asked = [
        name
        for name in ("allow_high_conflicts", "allow_unverified", "override_reason")
        if getattr(given, name)
    ]
    if asked:
        raise forbidden(
            f"Agents cannot override the gate ({', '.join(asked)}).",
            "Resolve the conflict or validate the ChangeSet; else ask the operator to accept it.",
        )


def may_accept(record: Recorded, seen: Seen, overrides: Overrides = NO_OVERRIDES) -> Accepted:
    """The whole gate, in its order. Raises the first refusal; nothing has changed then."""
    accepted = must_still_hold(record, overrides)
    _require_clean(seen.snapshot)
    _require_unchanged(record, seen.snapshot)
    _require_head(record.changeset_id, seen)
    _require_contained(record.dependencies)
    # The last of all, so that a person is asked only for what would pass.
    require_person(record.changeset_id, accepted.asked, overrides.person)
    return accepted


def must_still_hold(
    record: Recorded, overrides: Overrides = NO_OVERRIDES, before: Accepted | None = None
) -> Accepted:
    """The part that the record decides. With `before`, STATE_RACE when it would now go another way."""
    _require_status(record)
    verification, unverified_reason = _verified(record, overrides)
    overridden = _unblocked(record.conflicts, overrides)
    _require_dependencies(record.dependencies)
    asked = asked_of_a_person(record.scopes, record.person_accepts)
    overriding = overrides.reason.strip() if overridden else None
    reasons = dict.fromkeys([overriding, unverified_reason, persons_word(asked, overrides.person)])
    accepted = Accepted(verification, " ".join(filter(None, reasons)) or None, overridden, asked)
    if before is not None and before != accepted:
        raise lost_race(f"The state of ChangeSet {record.changeset_id} changed while it was being accepted.")
    return accepted


def _require_status(record: Recorded) -> None:
    must_be_validatable(record.changeset_id, record.changeset_status)
    if record.intent_status not in (IntentStatus.PROVISIONAL, IntentStatus.VALIDATED):
        raise wrong_status(
            f"The intent of ChangeSet {record.changeset_id} is {record.intent_status}.",
            "Read it with get_intent and go on from there.",
        )


def _verified(record: Recorded, overrides: Overrides) -> tuple[Verification, str | None]:
    found = verification_of(record.newest_run, fingerprint(record.published))
    if found is Verification.VERIFIED:
        return found, None
    if overrides.unverified:
        return found, _reason(overrides, "allow_unverified")
    if found is Verification.UNVERIFIED and record.policy is AcceptancePolicy.ADVISORY:
        return found, ADVISORY_REASON
    failed = (
        "its newest validation failed"
        if found is Verification.FAILED
        else "no validation passed for it as it is"
    )
    raise check_failed(
        f"ChangeSet {record.changeset_id} cannot be accepted: {failed}.",
        "Run a check on it with run_verification.",
    )


def _reason(overrides: Overrides, flag: str) -> str:
    reason = overrides.reason.strip()
    if not reason:
        raise bad_input(f"{flag} needs a reason.", "Say in override_reason why this may pass.")
    return reason


def _unblocked(conflicts: Iterable[ConflictFacts], overrides: Overrides) -> tuple[str, ...]:
    blocking = tuple(c.id for c in conflicts if c.severity is Severity.HIGH and not c.status.settled)
    if blocking and not overrides.high_conflicts:
        raise foremerge_refusal(
            ErrorCode.BLOCKING_CONFLICT,
            f"Unresolved HIGH conflicts touch this work: {', '.join(blocking[:20])}.",
            "Agree with the other party (coordinate_with_agent) and record it with resolve_conflict.",
        )
    if blocking:
        _reason(overrides, "allow_high_conflicts")
    return blocking


def _require_dependencies(dependencies: Sequence[DependencyFacts]) -> None:
    for one in dependencies:
        if one.status is None:
            raise _unsatisfied(one, "is not known here")
        if one.status not in _LANDABLE or one.accepted_commit is None:
            raise _unsatisfied(one, f"is {one.status}, not accepted")
        if one.ref_commit != one.accepted_commit:
            raise _unsatisfied(one, "no longer has its accepted ref where it was put")


def _require_contained(dependencies: Sequence[DependencyFacts]) -> None:
    for one in dependencies:
        if not one.is_ancestor:
            raise _unsatisfied(one, "was accepted with a commit that this work does not contain")


def _unsatisfied(dependency: DependencyFacts, why: str) -> Refused:
    return foremerge_refusal(
        ErrorCode.UNSATISFIED_DEPENDENCY,
        f"Dependency {dependency.intent_id[:100]} {why}.",
        "Accept it first and merge its commit into your branch; then publish the ChangeSet again.",
    )


def _require_clean(now: Snapshot) -> None:
    if now.dirty:
        raise check_failed(
            f"The worktree has changes that are not committed, such as {now.changed[0]!r}.",
            "Commit or remove them; a commit needs the ChangeSet published again.",
        )
    if now.excluded:
        raise check_failed(
            f"Excluded output is still there, such as {now.excluded[0]!r}.", "Delete it, then accept again."
        )


def _require_unchanged(record: Recorded, now: Snapshot) -> None:
    if fingerprint(record.published) != fingerprint(now):
        raise stale(
            f"ChangeSet {record.changeset_id} has changed: {difference(record.published, now)}.", _REVISE
        )


def _require_head(changeset_id: str, seen: Seen) -> None:
    if seen.candidate is None or seen.candidate != seen.snapshot.head:
        raise stale(
            f"The commit to accept for ChangeSet {changeset_id} is not the HEAD of its worktree.",
            "Check that commit out, or accept HEAD.",
        )


def acceptance_event(accepted: Accepted, commit: str, ref: str, by: str) -> dict[str, Any]:
    """The payload of `changeset.accepted`; `accepted_by` and `asked` where a person had to accept."""
    person = {"accepted_by": by, "asked": list(accepted.asked)} if accepted.asked else {}
    return {
        "git_ref": commit,
        "accepted_commit": commit,
        "accepted_ref": ref,
        "verification": accepted.verification.value,
        "acceptance_reason": accepted.reason,
        **person,
    }
