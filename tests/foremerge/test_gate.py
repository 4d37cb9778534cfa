"""The gate before acceptance on real git and the real engine: checks, conflicts, worktrees, dependencies, landings."""

import asyncio
import os
import shutil
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime

import pytest

from protocol.foremerge.queries import ConflictsQuery
from protocol.foremerge.words import AcceptancePolicy, ChangeSetStatus, ConflictStatus, IntentStatus, Severity
from protocol.refusals import Refused
from storage.sql import intents
from storage.sql.pool import transaction
from tests.foremerge.work import FILES, Bench, SlowCheck, Work
from tests.support.engine import Engine, git


async def test_an_open_high_conflict_stops_acceptance_until_an_operator_overrides_it(engine: Engine) -> None:
    bench = await Bench.of(engine)
    one = await bench.work("one", "symbol:Cart=replace")
    two = await bench.work("two", "symbol:Cart=extend")
    known = (await bench.face.shown(two.intent)).open_conflicts
    (conflict,) = [one for one in known if one.severity is Severity.HIGH]
    changeset = await one.published()
    assert changeset.open_conflicts is not None
    assert set(changeset.open_conflicts.ids) == {one.id for one in known}
    await bench.verify(changeset)
    with pytest.raises(Refused, match="BLOCKING_CONFLICT"):
        await bench.accept(changeset)
    await bench.face.say(two.agent, one.agent, "wait for me", conflict.id)
    with pytest.raises(Refused, match="BLOCKING_CONFLICT"):
        await bench.accept(changeset)
    with pytest.raises(Refused, match="FORBIDDEN"):
        await bench.accept(changeset, allow_high_conflicts=True, override_reason="let me")
    with pytest.raises(Refused, match="INVALID_INPUT"):
        await bench.accept(changeset, operator=True, allow_high_conflicts=True)
    accepted = await bench.accept(
        changeset, operator=True, allow_high_conflicts=True, override_reason="both agreed by phone"
    )
    assert (accepted.status, accepted.acceptance_reason) == (
        ChangeSetStatus.ACCEPTED,
        "both agreed by phone",
    )
    known = await bench.face.reads.conflicts(bench.face.visit, ConflictsQuery())
    assert {one.severity: one.status for one in known} == {
        Severity.HIGH: ConflictStatus.OVERRIDDEN,
        Severity.MEDIUM: ConflictStatus.OPEN,
    }
    assert "conflict.overridden" in await bench.types()


async def test_a_failed_check_is_an_answer_and_keeps_the_gate_shut(engine: Engine) -> None:
    bench = await Bench.of(engine)
    work = await bench.work()
    changeset = await work.published()
    branch = git(bench.repository, "rev-parse", "one")
    failed = await bench.verify(changeset, "no")
    assert (failed.passed, failed.exit_code, failed.stdout, failed.stderr) == (False, 3, "out\n", "err\n")
    assert failed.command == ["sh", "-c", "echo out; echo err >&2; exit 3"]
    with pytest.raises(Refused, match=r"CHECK_FAILED.*failed"):
        await bench.accept(changeset)
    await bench.settle(AcceptancePolicy.ADVISORY)
    with pytest.raises(Refused, match="CHECK_FAILED"):
        await bench.accept(changeset)
    assert git(bench.repository, "rev-parse", "one") == branch
    assert (await bench.now(changeset)).status is ChangeSetStatus.PROVISIONAL
    (attempt,) = await bench.attempts(changeset)
    assert (attempt.passed, attempt.authoritative) == (False, True)
    await bench.verify(changeset)
    await bench.verify(changeset, "no")
    assert (await bench.face.shown(work.intent)).intent.status is IntentStatus.PROVISIONAL
    assert (await bench.types())[-2:] == ["validation.invalidated", "validation.completed"]
    with pytest.raises(Refused, match="NOT_FOUND"):
        await bench.verify(changeset, "unknown")


async def test_a_check_that_never_ends_or_never_begins_fails_with_words(engine: Engine) -> None:
    bench = await Bench.of(engine, timeout=1)
    changeset = await (await bench.work()).published()
    late = await bench.verify(changeset, "late")
    assert (late.passed, late.exit_code) == (False, None)
    assert "timed out after 1 seconds" in late.stderr
    absent = await bench.verify(changeset, "absent")
    assert (absent.passed, absent.exit_code) == (False, None)
    assert "failed to run" in absent.stderr


async def test_litter_of_a_check_makes_its_run_stale_unless_it_is_excluded(engine: Engine) -> None:
    bench = await Bench.of(engine)
    work = await bench.work()
    changeset = await work.published()
    with pytest.raises(Refused, match=r"STALE_CHANGESET.*report\.txt"):
        await bench.verify(changeset, "litter")
    (attempt,) = await bench.attempts(changeset)
    assert (attempt.authoritative, attempt.passed) == (False, True)
    assert attempt.changed_files == ["out/report.txt"]
    assert attempt.observed_fingerprint != attempt.expected_fingerprint
    assert "validation.stale" in await bench.types()
    shutil.rmtree(work.root / "out")
    await bench.settle(exclusions=("out/",))
    with pytest.raises(Refused, match=r"STALE_CHANGESET.*exclusion rules"):
        await bench.verify(changeset, "litter")
    changeset = await work.publish()
    await bench.verify(changeset, "litter")
    assert (await bench.now(changeset)).status is ChangeSetStatus.VALIDATED
    with pytest.raises(Refused, match=r"CHECK_FAILED.*Excluded output"):
        await bench.verify(changeset, "litter")
    with pytest.raises(Refused, match=r"CHECK_FAILED.*Excluded output"):
        await bench.accept(changeset)
    shutil.rmtree(work.root / "out")
    assert (await bench.accept(changeset)).status is ChangeSetStatus.ACCEPTED


async def test_what_changed_after_its_validation_is_not_accepted(engine: Engine) -> None:
    bench = await Bench.of(engine)
    work = await bench.work()
    changeset = await work.published()
    await bench.verify(changeset)
    (work.root / "README.md").write_text("open edit\n")
    with pytest.raises(Refused, match=r"CHECK_FAILED.*not committed"):
        await bench.accept(changeset)
    work.commit()
    with pytest.raises(Refused, match="STALE_CHANGESET"):
        await bench.accept(changeset)
    with pytest.raises(Refused, match="STALE_CHANGESET"):
        await bench.verify(changeset)
    work.git("reset", "-q", "--hard", "HEAD~1")
    with pytest.raises(Refused, match=r"STALE_CHANGESET.*HEAD"):
        await bench.accept(changeset, git_ref="main")
    assert (await bench.accept(changeset)).status is ChangeSetStatus.ACCEPTED
    with pytest.raises(Refused, match="INVALID_TRANSITION"):
        await bench.accept(changeset)


async def test_a_worktree_that_became_a_folder_of_another_is_refused(engine: Engine) -> None:
    bench = await Bench.of(engine)
    inside = bench.repository / "inside"
    git(bench.repository, "worktree", "add", "-q", "-b", "inside", str(inside))
    work = await bench.work("inside", folder=inside)
    changeset = await work.published()
    (inside / ".git").unlink()
    with pytest.raises(Refused, match=r"INVALID_INPUT.*root"):
        await bench.verify(changeset)


async def test_the_policy_says_whether_work_without_a_validation_passes(engine: Engine) -> None:
    bench = await Bench.of(engine)
    one, two = await bench.work("one"), await bench.work("two")
    strict = await one.published()
    with pytest.raises(Refused, match="CHECK_FAILED"):
        await bench.accept(strict)
    overridden = await bench.accept(strict, operator=True, allow_unverified=True, override_reason="urgent")
    assert (overridden.acceptance_verification, overridden.acceptance_reason) == ("UNVERIFIED", "urgent")
    await bench.settle(AcceptancePolicy.ADVISORY)
    advisory = await bench.accept(await two.published())
    assert advisory.acceptance_verification == "UNVERIFIED"
    assert "advisory" in str(advisory.acceptance_reason)


async def test_a_dependency_must_be_accepted_and_contained(engine: Engine) -> None:
    bench = await Bench.of(engine)
    first, later = await bench.work("first"), await bench.work("later")
    changeset = await later.published({"later.md": "later\n"}, dependencies=[first.intent])
    await bench.verify(changeset)
    with pytest.raises(Refused, match=r"UNSATISFIED_DEPENDENCY.*not accepted"):
        await bench.accept(changeset)
    needed = await first.accepted()
    with pytest.raises(Refused, match=r"UNSATISFIED_DEPENDENCY.*does not contain"):
        await bench.accept(changeset)
    later.git("merge", "-q", "--no-edit", "first")
    changeset = await later.publish(dependencies=[first.intent])
    await bench.verify(changeset)
    ref = f"refs/foremerge/accepted/{needed.id}"
    git(bench.repository, "update-ref", "-d", ref)
    with pytest.raises(Refused, match=r"UNSATISFIED_DEPENDENCY.*ref"):
        await bench.accept(changeset)
    git(bench.repository, "update-ref", ref, str(needed.accepted_commit))
    assert (await bench.accept(changeset)).status is ChangeSetStatus.ACCEPTED
    unknown = await bench.work("unknown", start="later")
    other = await unknown.published({"unknown.md": "x\n"}, dependencies=["int_nobody"])
    await bench.verify(other)
    with pytest.raises(Refused, match=r"UNSATISFIED_DEPENDENCY.*not known"):
        await bench.accept(other)


async def test_work_may_depend_on_what_gitring_itself_landed(engine: Engine) -> None:
    bench = await Bench.of(engine)
    work = await bench.work()
    own = (await bench.face.project.declare("README.md")).intent.id
    changeset = await work.published(dependencies=[own])
    await bench.verify(changeset)
    with pytest.raises(Refused, match=r"UNSATISFIED_DEPENDENCY.*not accepted"):
        await bench.accept(changeset)
    git(bench.repository, "commit", "-q", "--allow-empty", "-m", "landed by gitring")
    landed = git(bench.repository, "rev-parse", "main")
    async with transaction(engine.found.pool) as connection:
        await intents.set_merged(connection, {own: landed}, datetime.now(UTC))
    with pytest.raises(Refused, match=r"UNSATISFIED_DEPENDENCY.*does not contain"):
        await bench.accept(changeset)
    work.git("merge", "-q", "--no-edit", "main")
    changeset = await work.publish(dependencies=[own])
    await bench.verify(changeset)
    assert (await bench.accept(changeset)).status is ChangeSetStatus.ACCEPTED


async def test_a_run_that_ends_after_a_revision_is_kept_and_does_not_count(engine: Engine) -> None:
    bench = await Bench.of(engine)
    work = await bench.work()
    changeset = await work.published()
    slow = SlowCheck(work.root)
    async with asyncio.timeout(60):
        running = asyncio.create_task(bench.verify(changeset, "slow"))
        await slow.began()
        revised = await work.publish()  # nobody waits for the check
        await slow.go_on()
        with pytest.raises(Refused, match="STATE_RACE"):
            await running
        await slow.ended()
    (attempt,) = await bench.attempts(changeset)
    assert (attempt.authoritative, attempt.passed) == (False, True)
    assert "newer revision" in str(attempt.stale_reason)
    assert (await bench.now(revised)).status is ChangeSetStatus.PROVISIONAL
    assert (await bench.types())[-1] == "validation.stale"


async def _landed(bench: Bench, work: Work, how: str) -> str:
    git(bench.repository, "commit", "-q", "--allow-empty", "-m", "meanwhile")
    if how == "squash":
        git(bench.repository, "merge", "-q", "--squash", "one")
        git(bench.repository, "commit", "-q", "-m", "squashed")
    else:
        git(bench.repository, "cherry-pick", "one")
    return git(bench.repository, "rev-parse", "main")


@pytest.mark.parametrize("how", ["squash", "cherry-pick"])
async def test_a_landing_is_recognised_by_its_content(engine: Engine, how: str) -> None:
    bench = await Bench.of(engine)
    work = await bench.work()
    changeset = await work.accepted()
    with pytest.raises(Refused, match=r"TARGET_DIVERGED.*app/cart\.py"):
        await bench.land(changeset, "main")
    with pytest.raises(Refused, match="INVALID_INPUT"):
        await bench.land(changeset, "no-such-branch")
    landing = await _landed(bench, work, how)
    ref = f"refs/foremerge/accepted/{changeset.id}"
    git(bench.repository, "update-ref", "-d", ref)
    with pytest.raises(Refused, match="CHECK_FAILED"):
        await bench.land(changeset, "main")
    git(bench.repository, "update-ref", ref, str(changeset.accepted_commit))
    landed = await bench.land(changeset, "main")
    assert (landed.integration_commit, landed.provenance["integration"]["method"]) == (landing, "content")
    last = (await bench.face.events())[-1]
    assert (last.event_type, last.payload["method"]) == ("changeset.committed", "content")
    with pytest.raises(Refused, match="INVALID_TRANSITION"):
        await bench.land(changeset, "main")


async def test_a_root_commit_lands_by_content_too(engine: Engine) -> None:
    bench = await Bench.of(engine)
    work = await bench.work()
    work.git("checkout", "-q", "--orphan", "fresh")
    work.commit({**FILES, "NEW.md": "new\n"})
    changeset = await work.publish()
    await bench.verify(changeset)
    await bench.accept(changeset)
    with pytest.raises(Refused, match=r"TARGET_DIVERGED.*NEW\.md"):
        await bench.land(changeset, "main")
    git(bench.repository, "merge", "-q", "--squash", "--allow-unrelated-histories", "fresh")
    git(bench.repository, "commit", "-q", "-m", "squashed")
    assert (await bench.land(changeset, "main")).provenance["integration"]["method"] == "content"


async def test_a_worktree_that_vanished_stops_what_needs_it_and_nothing_else(engine: Engine) -> None:
    bench = await Bench.of(engine)
    one, two = await bench.work("one"), await bench.work("two")
    accepted = await one.accepted()
    pending = await two.published()
    with pytest.raises(Refused, match=r"STALE_CHANGESET.*no snapshot"):
        await bench.verify(pending, "gone")
    (attempt,) = await bench.attempts(pending)
    assert (attempt.authoritative, attempt.observed_fingerprint) == (False, "unavailable")
    with pytest.raises(Refused, match=r"STALE_CHANGESET.*not there any more"):
        await bench.verify(pending)
    with pytest.raises(Refused, match=r"STALE_CHANGESET.*not there any more"):
        await bench.accept(pending, operator=True, allow_unverified=True, override_reason="urgent")
    with pytest.raises(Refused, match="INVALID_INPUT"):
        await two.publish()
    git(bench.repository, "merge", "-q", "--squash", "one")
    git(bench.repository, "commit", "-q", "-m", "squashed")
    git(bench.repository, "worktree", "remove", "--force", str(one.root))
    assert (await bench.land(accepted, "main")).status is ChangeSetStatus.COMMITTED


@asynccontextmanager
async def broken_commits(engine: Engine, changeset: str) -> AsyncIterator[None]:
    """While it lasts, no transaction commits that accepts this ChangeSet; all before its COMMIT is done."""
    async with engine.found.pool.acquire() as connection:
        await connection.execute(
            f"""
            CREATE FUNCTION fm_test_broken() RETURNS trigger LANGUAGE plpgsql AS
                $$ BEGIN RAISE EXCEPTION 'the disk of the record is full'; END $$;
            CREATE CONSTRAINT TRIGGER fm_test_broken AFTER UPDATE ON fm_changeset DEFERRABLE INITIALLY DEFERRED
                FOR EACH ROW WHEN (NEW.id = '{changeset}' AND NEW.status = 'ACCEPTED')
                EXECUTE FUNCTION fm_test_broken();
            """
        )
        try:
            yield
        finally:
            await connection.execute(
                "DROP TRIGGER fm_test_broken ON fm_changeset; DROP FUNCTION fm_test_broken()"
            )


def _has(bench: Bench, ref: str) -> bool:
    return bool(git(bench.bare, "for-each-ref", ref))


async def test_a_crash_between_the_ref_and_the_record_ends_in_one_acceptance(engine: Engine) -> None:
    bench = await Bench.of(engine)
    work = await bench.work()
    changeset = await work.published()
    await bench.verify(changeset)
    ref = f"refs/foremerge/accepted/{changeset.id}"
    async with asyncio.timeout(60):
        async with broken_commits(engine, changeset.id):
            running = asyncio.create_task(bench.accept(changeset))
            while not _has(bench, ref):
                await asyncio.to_thread(os.sched_yield)
            assert (await bench.now(changeset)).status is ChangeSetStatus.VALIDATED
        accepted = await running
    assert accepted.accepted_commit == git(bench.repository, "rev-parse", ref)
    assert (await bench.types()).count("changeset.accepted") == 1


async def test_a_ref_that_somebody_put_elsewhere_is_never_moved(engine: Engine) -> None:
    bench = await Bench.of(engine)
    changeset = await (await bench.work()).published()
    await bench.verify(changeset)
    ref = f"refs/foremerge/accepted/{changeset.id}"
    git(bench.repository, "update-ref", ref, "main")
    with pytest.raises(Refused, match=r"CHECK_FAILED.*another commit"):
        await bench.accept(changeset)
    assert git(bench.repository, "rev-parse", ref) == git(bench.repository, "rev-parse", "main")
    assert (await bench.now(changeset)).status is ChangeSetStatus.VALIDATED


async def test_a_check_ends_with_the_work_that_it_was_for(engine: Engine) -> None:
    bench = await Bench.of(engine)
    work = await bench.work()
    changeset = await work.published()
    slow = SlowCheck(work.root)
    async with asyncio.timeout(60):
        running = asyncio.create_task(bench.verify(changeset, "slow"))
        await slow.began()
        await bench.face.discard(work.agent, work.intent)
        with pytest.raises(Refused, match="STATE_RACE"):
            await running
        await slow.ended()
    assert await bench.attempts(changeset) == []


async def test_a_worktree_that_git_cannot_read_is_told_and_blocks_nothing(engine: Engine) -> None:
    bench = await Bench.of(engine)
    work = await bench.work()
    work.commit(work.edited())
    index = bench.repository / ".git" / "worktrees" / "tree" / "index"
    index.write_bytes(b"no index\n" * 10)
    with pytest.raises(Refused, match=r"REPOSITORY_UNREADABLE.*index"):
        await work.publish()
    assert (await bench.face.discard(work.agent, work.intent)).status is IntentStatus.DISCARDED
