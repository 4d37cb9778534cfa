"""ChangeSets: bases, fingerprints, runs that count, and the gate before acceptance with its order of checks."""

import hashlib
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from protocol.foremerge.changesets import AcceptChangeSetInput
from protocol.foremerge.validations import CheckRegistry, ExclusionRules, RegisteredCheck
from protocol.foremerge.words import (
    AcceptancePolicy,
    ChangeSetStatus,
    ConflictStatus,
    IntentStatus,
    Severity,
    Verification,
)
from protocol.refusals import Refused
from rules.foremerge.acceptance import (
    ADVISORY_REASON,
    ConflictFacts,
    DependencyFacts,
    Overrides,
    Recorded,
    Seen,
    may_accept,
    must_still_hold,
    refuse_overrides,
)
from rules.foremerge.bases import DiffFrom, base_of
from rules.foremerge.exclusions import digest, is_excluded, normal_rules
from rules.foremerge.fingerprint import (
    Paths,
    Snapshot,
    UntrackedKind,
    add_untracked,
    begin_content,
    diff_hash,
    fingerprint,
    snapshot_of,
    sorted_out,
)
from rules.foremerge.lifecycle import must_be_landable
from rules.foremerge.verification import (
    NewestRun,
    RunFacts,
    acceptance_ready,
    judge_run,
    must_run,
    verification_of,
)

HEAD = "a" * 40
CLEAN = Snapshot("prj_1", HEAD, "b" * 40, "c" * 64, (), (), digest(ExclusionRules()))
PASSED = NewestRun(True, fingerprint(CLEAN))
RECORD = Recorded(
    "chg_1", ChangeSetStatus.VALIDATED, IntentStatus.VALIDATED, AcceptancePolicy.STRICT, PASSED, CLEAN
)
SEEN = Seen(CLEAN, HEAD)
HIGH = ConflictFacts("cfl_1", Severity.HIGH, ConflictStatus.OPEN)
MET = DependencyFacts("int_d", IntentStatus.ACCEPTED, "d" * 40, "d" * 40)


def refusal(record: Recorded = RECORD, seen: Seen = SEEN, **overrides: Any) -> str | None:
    try:
        may_accept(record, seen, Overrides(**overrides))
    except Refused as problem:
        return problem.refusal.code
    return None


def test_a_validated_change_of_a_clean_tree_passes_verified() -> None:
    assert may_accept(RECORD, SEEN) == (Verification.VERIFIED, None, (), ())


UNVERIFIED = RECORD._replace(newest_run=None)
DIRTY = Seen(CLEAN._replace(changed=("a.py",)), HEAD)
WORSE: list[tuple[str, Recorded, Seen]] = [
    ("INVALID_TRANSITION", RECORD._replace(changeset_status=ChangeSetStatus.ACCEPTED), SEEN),
    ("CHECK_FAILED", UNVERIFIED, SEEN),
    ("BLOCKING_CONFLICT", RECORD._replace(conflicts=(HIGH,)), SEEN),
    ("UNSATISFIED_DEPENDENCY", RECORD._replace(dependencies=(MET._replace(status=None),)), SEEN),
    ("CHECK_FAILED", RECORD, DIRTY),
    ("STALE_CHANGESET", RECORD, Seen(CLEAN._replace(head="e" * 40), "e" * 40)),
    ("STALE_CHANGESET", RECORD, Seen(CLEAN, "f" * 40)),
    ("UNSATISFIED_DEPENDENCY", RECORD._replace(dependencies=(MET._replace(is_ancestor=False),)), SEEN),
]


@pytest.mark.parametrize("at", range(len(WORSE)))
def test_each_check_refuses_by_its_own_code(at: int) -> None:
    code, record, seen = WORSE[at]
    assert refusal(record, seen) == code


@pytest.mark.parametrize("first", range(len(WORSE) - 1))
def test_of_two_things_wrong_the_earlier_check_is_told(first: int) -> None:
    code, record, seen = WORSE[first]
    for _, other, other_seen in WORSE[first + 1 :]:
        changed = {k: v for k, v in record._asdict().items() if v != RECORD._asdict()[k]}
        snapshot = {**other_seen.snapshot._asdict(), **_difference(seen.snapshot)}
        candidate = seen.candidate if seen.candidate != HEAD else other_seen.candidate
        both = Seen(Snapshot(**snapshot), candidate)
        assert refusal(other._replace(**changed), both) == code


def _difference(snapshot: Snapshot) -> dict[str, Any]:
    return {k: v for k, v in snapshot._asdict().items() if v != CLEAN._asdict()[k]}


def test_what_is_not_verified_needs_an_override_with_a_reason_or_an_advisory_policy() -> None:
    assert refusal(UNVERIFIED, unverified=True) == "INVALID_INPUT"
    accepted = may_accept(UNVERIFIED, SEEN, Overrides(unverified=True, reason=" hotfix "))
    assert accepted == (Verification.UNVERIFIED, "hotfix", (), ())
    advisory = UNVERIFIED._replace(policy=AcceptancePolicy.ADVISORY)
    assert may_accept(advisory, SEEN) == (Verification.UNVERIFIED, ADVISORY_REASON, (), ())
    failed = advisory._replace(newest_run=NewestRun(False, fingerprint(CLEAN)))
    assert refusal(failed) == "CHECK_FAILED"
    assert may_accept(failed, SEEN, Overrides(unverified=True, reason="x")).verification == "FAILED"


def test_a_high_conflict_blocks_while_it_is_open_or_coordinating() -> None:
    for status in ConflictStatus:
        record = RECORD._replace(conflicts=(HIGH._replace(status=status),))
        assert refusal(record) == (None if status.settled else "BLOCKING_CONFLICT")
    assert refusal(RECORD._replace(conflicts=(HIGH._replace(severity=Severity.MEDIUM),))) is None
    blocked = RECORD._replace(conflicts=(HIGH,))
    assert refusal(blocked, high_conflicts=True, reason=" ") == "INVALID_INPUT"
    assert may_accept(blocked, SEEN, Overrides(high_conflicts=True, reason="agreed")).overridden == ("cfl_1",)
    both = may_accept(blocked._replace(newest_run=None), SEEN, Overrides(True, True, "both known"))
    assert both == (Verification.UNVERIFIED, "both known", ("cfl_1",), ())


@pytest.mark.parametrize(
    "dependency",
    [
        MET._replace(status=IntentStatus.VALIDATED),
        MET._replace(accepted_commit=None),
        MET._replace(ref_commit=None),
        MET._replace(ref_commit="e" * 40),
    ],
)
def test_a_dependency_must_be_accepted_and_its_ref_where_it_was_put(dependency: DependencyFacts) -> None:
    assert refusal(RECORD._replace(dependencies=(MET, dependency))) == "UNSATISFIED_DEPENDENCY"
    assert refusal(RECORD._replace(dependencies=(MET, MET._replace(status=IntentStatus.COMMITTED)))) is None


def test_excluded_output_must_be_gone_before_acceptance() -> None:
    assert refusal(seen=Seen(CLEAN._replace(excluded=("out/log",)), HEAD)) == "CHECK_FAILED"


def test_a_conflict_that_came_up_meanwhile_is_told_inside_the_transaction() -> None:
    accepted = may_accept(RECORD, SEEN)
    assert must_still_hold(RECORD, before=accepted) == accepted
    with pytest.raises(Refused, match=r"^BLOCKING_CONFLICT"):
        must_still_hold(RECORD._replace(conflicts=(HIGH,)), before=accepted)
    with pytest.raises(Refused, match=r"^STATE_RACE"):
        must_still_hold(RECORD._replace(newest_run=None, policy=AcceptancePolicy.ADVISORY), before=accepted)


@pytest.mark.parametrize(
    "asked", [{"allow_high_conflicts": True}, {"allow_unverified": True}, {"override_reason": "x"}]
)
def test_an_agent_cannot_override_the_gate(asked: dict[str, Any]) -> None:
    with pytest.raises(Refused, match=r"^FORBIDDEN"):
        refuse_overrides(AcceptChangeSetInput(changeset_id="chg_1", **asked))
    refuse_overrides(AcceptChangeSetInput(changeset_id="chg_1", **dict.fromkeys(asked, False)))


def run(**changed: Any) -> RunFacts:
    facts = RunFacts("chg_1", True, ChangeSetStatus.PROVISIONAL, IntentStatus.PROVISIONAL, True, CLEAN, CLEAN)
    return facts._replace(**changed)


def test_a_run_on_the_published_state_counts_for_both_ways_it_can_end() -> None:
    passed = judge_run(run())
    assert (passed.authoritative, passed.changeset_status, passed.intent_status) == (
        True,
        "VALIDATED",
        "VALIDATED",
    )
    assert passed.events == ("validation.completed",)
    failed = judge_run(
        run(passed=False, changeset_status=ChangeSetStatus.VALIDATED, intent_status=IntentStatus.VALIDATED)
    )
    assert (failed.changeset_status, failed.events) == (
        "PROVISIONAL",
        ("validation.invalidated", "validation.completed"),
    )


@pytest.mark.parametrize(
    ("changed", "code", "reason"),
    [
        ({"is_current": False}, "STATE_RACE", "newer revision"),
        ({"changeset_status": ChangeSetStatus.ACCEPTED}, "STATE_RACE", "became ACCEPTED"),
        ({"intent_status": IntentStatus.VALIDATED}, "STATE_RACE", "its intent became VALIDATED"),
        ({"after": CLEAN._replace(changed=("out.log",))}, "STALE_CHANGESET", "newly changed: 'out.log'"),
        ({"after": None}, "STALE_CHANGESET", "no snapshot"),
        ({"is_current": False, "after": None}, "STATE_RACE", "newer revision"),
    ],
)
def test_a_run_that_came_too_late_is_kept_and_gates_nothing(
    changed: dict[str, Any], code: str, reason: str
) -> None:
    verdict = judge_run(run(**changed))
    assert (verdict.authoritative, verdict.events) == (False, ("validation.stale",))
    assert verdict.refusal is not None
    assert verdict.refusal.code == code
    assert reason in str(verdict.stale_reason)
    assert (verdict.observed_fingerprint == "unavailable") is (
        "after" in changed and changed["after"] is None
    )


def test_a_run_begins_at_the_root_on_the_published_state_without_old_output() -> None:
    def code(
        at_root: bool = True, now: Snapshot = CLEAN, status: ChangeSetStatus = ChangeSetStatus.VALIDATED
    ) -> str:
        with pytest.raises(Refused) as problem:
            must_run("chg_1", status, at_root, CLEAN, now)
        return problem.value.refusal.code

    must_run("chg_1", ChangeSetStatus.PROVISIONAL, True, CLEAN, CLEAN)
    assert code(status=ChangeSetStatus.SUPERSEDED) == "INVALID_TRANSITION"
    assert code(at_root=False) == "INVALID_INPUT"
    assert code(now=CLEAN._replace(tree="e" * 40)) == "STALE_CHANGESET"
    assert code(now=CLEAN._replace(excluded=("out/log",))) == "CHECK_FAILED"


def test_only_the_newest_run_on_the_same_fingerprint_says_anything() -> None:
    assert verification_of(None, "sha256:x") == "UNVERIFIED"
    assert verification_of(NewestRun(True, "sha256:y"), "sha256:x") == "UNVERIFIED"
    assert verification_of(NewestRun(False, "sha256:x"), "sha256:x") == "FAILED"


def test_only_an_accepted_change_lands() -> None:
    must_be_landable("chg_1", ChangeSetStatus.ACCEPTED)
    with pytest.raises(Refused, match=r"^INVALID_TRANSITION"):
        must_be_landable("chg_1", ChangeSetStatus.COMMITTED)


def test_the_base_is_the_callers_or_follows_from_the_candidate() -> None:
    assert base_of("c1", "b1", ["p1"], False) == ("caller_supplied", "b1", DiffFrom.BASE)
    assert base_of("c1", None, ["p1", "p2"], False) == ("first_parent", "p1", DiffFrom.BASE)
    assert base_of("c1", None, [], True) == ("shallow_boundary", None, DiffFrom.SNAPSHOT)
    assert base_of("c1", None, [], False) == ("root_commit", None, DiffFrom.EMPTY_TREE)
    assert base_of(None, None, [], False) == ("unborn_worktree", None, DiffFrom.SNAPSHOT)
    for candidate, given_base in (("c1", "c1"), (None, "b1")):
        with pytest.raises(Refused, match=r"^INVALID_INPUT"):
            base_of(candidate, given_base, [], False)


def test_a_fingerprint_covers_all_that_a_validation_rests_on_and_no_folder_of_a_machine() -> None:
    changes: list[dict[str, Any]] = [
        {"project_id": "prj_2"},
        {"head": None},
        {"tree": None},
        {"content_hash": "d" * 64},
        {"changed": ("a", "b")},
        {"changed": ("a|b",)},
        {"rules_digest": digest(ExclusionRules(paths=["out/"]))},
    ]
    prints = {fingerprint(CLEAN), *(fingerprint(CLEAN._replace(**change)) for change in changes)}
    assert len(prints) == len(changes) + 1
    assert fingerprint(CLEAN._replace(excluded=("x",))) == fingerprint(CLEAN)
    text = f"prj_1|{HEAD}|{'b' * 40}|{'c' * 64}||{CLEAN.rules_digest}"
    assert fingerprint(CLEAN) == "sha256:" + hashlib.sha256(text.encode()).hexdigest()


@given(
    st.lists(
        st.tuples(st.text(st.characters(exclude_characters="\0", codec="utf-8"), min_size=1), st.binary()),
        max_size=4,
    )
)
def test_untracked_files_cannot_be_taken_for_one_another(files: list[tuple[str, bytes]]) -> None:
    def content(named: list[tuple[str, bytes]]) -> str:
        hashed = begin_content([b"patch"])
        for path, data in named:
            add_untracked(hashed, path, UntrackedKind.FILE, [data])
        return hashed.hexdigest()

    swallowed = [(path, data + b"x") for path, data in files]
    assert (content(files) == content(swallowed)) is (not files)
    assert diff_hash([b"pa", b"tch"]) == hashlib.sha256(b"patch").hexdigest()


def test_a_status_of_git_is_sorted_into_changed_untracked_and_excluded() -> None:
    rules = normal_rules(["out/", " report.xml ", "out/"])
    fields = [
        b" M a.py",
        b"R  new.py",
        b"old.py",
        b"?? out/log",
        b"?? report.xml",
        b"?? b.txt",
        b"M  out/kept",
        b"",
    ]
    paths = sorted_out(fields, rules)
    assert paths == Paths(
        ("a.py", "b.txt", "new.py", "old.py", "out/kept"), ("b.txt",), ("out/log", "report.xml")
    )
    snapshot = snapshot_of("prj_1", HEAD, None, "c", paths, rules)
    assert (snapshot.dirty, snapshot.excluded) == (True, ("out/log", "report.xml"))


@pytest.mark.parametrize("path", ["", "/abs", "../up", "a//b", "a\\b", ".git/x", "a/./b", "a\nb", "/"])
def test_an_exclusion_that_could_hide_more_than_output_is_refused(path: str) -> None:
    with pytest.raises(Refused, match=r"^INVALID_INPUT"):
        normal_rules([path])


def test_rules_have_one_digest_in_whatever_order_they_were_given() -> None:
    assert digest(normal_rules(["b", "a/"])) == digest(normal_rules(["a/", "b", "b"]))
    assert digest(ExclusionRules()) == "sha256:" + hashlib.sha256(b'{"version":1,"paths":[]}').hexdigest()
    assert not is_excluded("outer", normal_rules(["out/"]))
    with pytest.raises(Refused):
        normal_rules(f"p{n}" for n in range(257))


def test_strict_acceptance_needs_a_check_that_can_run() -> None:
    checks = {"unit": RegisteredCheck(command=["make", "test"])}
    strict = CheckRegistry(checks=checks)
    assert acceptance_ready(strict, [], True)
    assert not acceptance_ready(strict, ["unit"], True)
    assert not acceptance_ready(strict, [], False)
    assert acceptance_ready(CheckRegistry(acceptance_policy=AcceptancePolicy.ADVISORY), [], True)
