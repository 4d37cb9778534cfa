"""What a run of a check means: an attempt that is kept in any case, and for one that counts the move of the ChangeSet."""

import hashlib
from dataclasses import dataclass
from typing import Any

from activities.change import Change
from activities.foremerge.frame import finish_foremerge, set_status, transitioned, work_of
from activities.foremerge.kept import kept_changeset, name_actor, published, refused_for_good
from activities.foremerge.runs import Ran
from protocol.checks import CheckDefinition
from protocol.commands import Outcome
from protocol.events import EventType
from protocol.foremerge.commands import ForemergeCommand
from protocol.foremerge.records import WorkRow
from protocol.foremerge.validations import ExclusionRules, Validation, ValidationAttempt
from protocol.foremerge.words import IntentStatus
from rules.foremerge.fingerprint import Snapshot, fingerprint
from rules.foremerge.refusing import lost_race
from rules.foremerge.verification import RunFacts, RunVerdict, judge_run
from storage.sql.foremerge import changesets
from storage.sql.foremerge.changesets import StoredChangeSet


@dataclass(frozen=True)
class Asked:
    """A run that may begin, as the record has it. `id` is the run's own."""

    id: str
    stored: StoredChangeSet
    definition: CheckDefinition
    rules: ExclusionRules
    common_dir: str | None


@dataclass(frozen=True)
class Done:
    """A run that ended; `after` is None where no snapshot could be taken then."""

    ran: Ran
    after: Snapshot | None


async def record_attempt(change: Change, command: ForemergeCommand, *, asked: Asked, done: Done) -> Outcome:
    """Keep the run, and move ChangeSet and intent where it takes them; in the transaction of the command."""
    stored = await kept_changeset(change.connection, command, asked.stored.changeset.id)
    found = await work_of(change, command.intent_id)
    current = (await changesets.current(change.connection, [found.id])).get(found.id)
    changeset = stored.changeset
    await name_actor(change, command, changeset.agent_id)
    verdict = judge_run(
        RunFacts(
            changeset.id,
            current is not None and current.changeset.id == changeset.id,
            changeset.status,
            found.status,
            done.ran.passed,
            published(stored),
            done.after,
        )
    )
    attempt = _attempt(asked, done, verdict)
    await changesets.add_attempt(change.connection, attempt, change.now)
    _emit(change, found, attempt, verdict)
    if verdict.refusal is not None:
        return await refused_for_good(change, command, verdict.refusal)
    await _move(change, stored, found, verdict)
    fields = attempt.model_dump(include=set(Validation.model_fields))
    answer = Validation(**fields, fingerprint=attempt.observed_fingerprint)
    return await finish_foremerge(change, command, answer)


def _attempt(asked: Asked, done: Done, verdict: RunVerdict) -> ValidationAttempt:
    ran, before = done.ran, published(asked.stored)
    seen = done.after or before
    return ValidationAttempt(
        id=asked.id,
        changeset_id=asked.stored.changeset.id,
        command=ran.command,
        passed=ran.passed,
        exit_code=ran.exit_code,
        stdout=ran.stdout,
        stderr=ran.stderr,
        duration_ms=ran.duration_ms,
        run_at=ran.run_at,
        expected_fingerprint=fingerprint(before),
        observed_fingerprint=verdict.observed_fingerprint,
        authoritative=verdict.authoritative,
        stale_reason=verdict.stale_reason,
        changed_files=list(seen.changed),
        excluded_paths=list(seen.excluded),
        exclusion_ruleset_digest=seen.rules_digest,
    )


def _emit(change: Change, found: WorkRow, attempt: ValidationAttempt, verdict: RunVerdict) -> None:
    said: dict[str, Any] = {
        "changeset_id": attempt.changeset_id,
        "passed": attempt.passed,
        "exit_code": attempt.exit_code,
        "duration_ms": attempt.duration_ms,
        "fingerprint": attempt.observed_fingerprint,
        "stdout_sha256": hashlib.sha256(attempt.stdout.encode()).hexdigest(),
        "stderr_sha256": hashlib.sha256(attempt.stderr.encode()).hexdigest(),
    }
    for event in verdict.events:
        if event is EventType.VALIDATION_INVALIDATED:
            change.emit(
                EventType.VALIDATION_INVALIDATED,
                "Intent",
                found.id,
                found.id,
                **{"from": found.status.value},
                to=IntentStatus.PROVISIONAL.value,
                changeset_id=attempt.changeset_id,
                validation_id=attempt.id,
            )
            continue
        why = {} if verdict.stale_reason is None else {"stale_reason": verdict.stale_reason}
        change.emit(EventType(event.value), "Result", attempt.id, found.id, **said, **why)


async def _move(change: Change, stored: StoredChangeSet, found: WorkRow, verdict: RunVerdict) -> None:
    """ChangeSet and intent go where the run takes them; both may be there already."""
    changeset = stored.changeset
    after = verdict.changeset_status
    if after is not None and after is not changeset.status:
        moved = await changesets.move(change.connection, changeset.id, changeset.status, after, change.now)
        if not moved:
            raise lost_race(f"ChangeSet {changeset.id} was changed by somebody else at this moment.")
    if verdict.intent_status is None or verdict.intent_status is found.status:
        return
    if verdict.intent_status is IntentStatus.VALIDATED:
        await transitioned(change, found, IntentStatus.VALIDATED)
    else:
        await set_status(change, found, verdict.intent_status)
