"""Whether a run of a check counts for a ChangeSet, and what all runs together say of it now."""

from collections.abc import Collection, Sequence
from typing import NamedTuple

from protocol.events import EventType
from protocol.foremerge.validations import CheckRegistry
from protocol.foremerge.words import (
    AcceptancePolicy,
    ChangeSetStatus,
    IntentStatus,
    Verification,
)
from protocol.refusals import Refusal
from rules.foremerge.fingerprint import UNAVAILABLE, Snapshot, fingerprint
from rules.foremerge.lifecycle import VALIDATABLE, must_be_validatable
from rules.foremerge.refusing import bad_input, check_failed, lost_race, stale

_RUN_AGAIN = "Publish the ChangeSet again from the worktree as it is, then run the check on it."
_SHOWN = 20


class NewestRun(NamedTuple):
    """The newest run that counts."""

    passed: bool
    fingerprint: str


def verification_of(newest: NewestRun | None, current: str) -> Verification:
    """What the newest counting run says of the fingerprint `current`."""
    if newest is None or newest.fingerprint != current:
        return Verification.UNVERIFIED
    return Verification.VERIFIED if newest.passed else Verification.FAILED


def acceptance_ready(registry: CheckRegistry, unrunnable: Collection[str], in_repository: bool) -> bool:
    """Whether a ChangeSet could get through the gate at all: strict acceptance needs a check that can be run."""
    runnable = registry.checks.keys() - set(unrunnable)
    return in_repository and (registry.acceptance_policy is AcceptancePolicy.ADVISORY or bool(runnable))


def difference(before: Snapshot, after: Snapshot) -> str:
    """What changed between two snapshots, in words."""
    new = sorted(set(after.changed) - set(before.changed))
    gone = sorted(set(before.changed) - set(after.changed))
    parts = [f"the fingerprint was {fingerprint(before)} and is {fingerprint(after)}"]
    if before.head != after.head:
        parts.append("HEAD is another commit")
    parts += [f"newly changed: {_listed(new)}"] if new else []
    parts += [f"no longer changed: {_listed(gone)}"] if gone else []
    parts += ["the exclusion rules changed"] if before.rules_digest != after.rules_digest else []
    parts += [f"excluded: {_listed(after.excluded)}"] if after.excluded else []
    return "; ".join(parts)


def _listed(paths: Sequence[str]) -> str:
    more = f" and {len(paths) - _SHOWN} more" if len(paths) > _SHOWN else ""
    return ", ".join(repr(path) for path in paths[:_SHOWN]) + more


def must_run(
    changeset_id: str, status: ChangeSetStatus, at_root: bool, published: Snapshot, now: Snapshot
) -> None:
    """Refuse a run on anything but the published state, at the root of its worktree, without old excluded output."""
    must_be_validatable(changeset_id, status)
    if not at_root:
        raise bad_input(
            "A check runs at the root of a worktree, not in a folder of it.",
            "Call it from the worktree's root.",
        )
    if fingerprint(published) != fingerprint(now):
        raise stale(
            f"ChangeSet {changeset_id} is not what the worktree holds: {difference(published, now)}.",
            _RUN_AGAIN,
        )
    if now.excluded:
        raise check_failed(
            f"Excluded output of an earlier run is still there: {_listed(now.excluded)}.",
            "Delete it and run the check again.",
        )


class RunFacts(NamedTuple):
    """A run that ended, and the record as it is now. `after` is None when no snapshot could be taken."""

    changeset_id: str
    is_current: bool
    changeset_status: ChangeSetStatus
    intent_status: IntentStatus
    passed: bool
    published: Snapshot
    after: Snapshot | None


class RunVerdict(NamedTuple):
    """What a run becomes. The attempt is kept in any case; `refusal` is what the caller is told if it does not count."""

    authoritative: bool
    observed_fingerprint: str
    stale_reason: str | None = None
    refusal: Refusal | None = None
    changeset_status: ChangeSetStatus | None = None
    intent_status: IntentStatus | None = None
    events: tuple[EventType, ...] = (EventType.VALIDATION_STALE,)


def judge_run(run: RunFacts) -> RunVerdict:
    """Decide, inside the transaction that keeps the run, whether it counts."""
    observed = fingerprint(run.after) if run.after else UNAVAILABLE
    if raced := _raced(run):
        return RunVerdict(False, observed, raced, lost_race(f"{raced}.").refusal)
    if run.after is None or observed != fingerprint(run.published):
        what = (
            difference(run.published, run.after) if run.after else "no snapshot could be taken after the run"
        )
        return RunVerdict(
            False,
            observed,
            what,
            stale(f"The worktree changed while the check ran: {what}.", _RUN_AGAIN).refusal,
        )
    if run.passed:
        return _counted(observed, ChangeSetStatus.VALIDATED, IntentStatus.VALIDATED)
    fell_back = run.intent_status is IntentStatus.VALIDATED
    return _counted(observed, ChangeSetStatus.PROVISIONAL, IntentStatus.PROVISIONAL, fell_back)


def _counted(
    observed: str, changeset: ChangeSetStatus, intent: IntentStatus, fell_back: bool = False
) -> RunVerdict:
    before = (EventType.VALIDATION_INVALIDATED,) if fell_back else ()
    return RunVerdict(
        True,
        observed,
        changeset_status=changeset,
        intent_status=intent,
        events=(*before, EventType.VALIDATION_COMPLETED),
    )


def _raced(run: RunFacts) -> str | None:
    if not run.is_current:
        return f"A newer revision took the place of ChangeSet {run.changeset_id} while the check ran"
    if run.changeset_status not in VALIDATABLE:
        return f"ChangeSet {run.changeset_id} became {run.changeset_status} while the check ran"
    if run.intent_status.value != run.changeset_status.value:
        return f"ChangeSet {run.changeset_id} is {run.changeset_status} while its intent became {run.intent_status}"
    return None
