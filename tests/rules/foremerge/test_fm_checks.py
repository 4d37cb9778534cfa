"""Checks, related work, warnings, claims, agreements: what calls are answered before anything is stored."""

import itertools
from datetime import timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from protocol.foremerge.changesets import DecisionInput, PublishChangeSetInput
from protocol.foremerge.claims import ClaimWorkInput
from protocol.foremerge.conflicts import CheckConflictsInput
from protocol.foremerge.intents import PublishIntentInput
from protocol.foremerge.scopes import PlainScope
from protocol.foremerge.words import ClaimStatus, ConflictKind, ConflictStatus, IntentStatus
from protocol.refusals import Refused
from rules.foremerge.advice import NO_SCOPES, publish_warnings, scope_warnings, symbol_to_search
from rules.foremerge.agents import AgentFacts, is_stale, is_stranded, must_adopt, twins_warning
from rules.foremerge.agreements import after_discard, after_message, must_assess, must_resolve
from rules.foremerge.checks import CheckKind, check_kind, must_be_stored, shown, stored_report, what_if
from rules.foremerge.claims import Held, lease_end, plan_claim, status_at
from rules.foremerge.findings import detect
from rules.foremerge.identity import Known, identity, stored_form, vanished
from rules.foremerge.lifecycle import ALLOWED, Step, must_allow, must_own, publication_moves
from rules.foremerge.publication import (
    checked_changeset,
    checked_intent,
    conflict_status,
    intent_status,
    is_sought,
    sought,
    task_key,
)
from rules.foremerge.related import Assessed, Neighbour, assessment_required, compare, in_order, unassessed
from rules.foremerge.scopes import parse_scope
from tests.rules.foremerge.samples import NOW, intent

HEX_ID = "int_" + "0123456789abcdef" * 2
ULID_ID = "int_01JBQ8M4ZK7V3XW9N2D5HT6RYE"


def ask(**fields: Any) -> CheckKind:
    return check_kind(CheckConflictsInput(**fields))


@pytest.mark.parametrize(
    "text", [HEX_ID, f"  {HEX_ID.upper().replace('INT_', 'int_')} ", ULID_ID, ULID_ID.lower()]
)
def test_an_id_given_as_text_is_refused_and_not_compared_as_prose(text: str) -> None:
    with pytest.raises(Refused, match=r"^INVALID_INPUT.*intent_id"):
        ask(intent=text)


def test_the_three_inputs_ask_for_three_checks() -> None:
    scope = {"kind": "symbol", "key": "Cart", "operation": "extend"}
    assert ask(intent_id=HEX_ID) is CheckKind.STORED
    assert ask(intent_id=HEX_ID, scopes=[scope]) is CheckKind.OTHER_SCOPES
    assert ask(intent="rework the cart", scopes=[scope]) is CheckKind.UNPUBLISHED
    assert ask(intent=f"undo {HEX_ID}") is CheckKind.UNPUBLISHED
    with pytest.raises(Refused, match="intent is blank"):
        ask(intent="  ")
    with pytest.raises(ValidationError, match="intent_id"):
        ask()


def test_a_what_if_has_new_ids_each_time_and_leaves_itself_out() -> None:
    numbers = itertools.count()
    asked = intent("int_b", "x", "symbol:Cart=replace")
    others = [asked, intent("int_a", "y", "symbol:Cart=extend"), intent("int_c", "z", "api:far=add")]
    first, second = (what_if(asked, others, lambda: f"eph_{next(numbers)}", NOW, 7) for _ in range(2))
    assert [c.id for c in (*first.conflicts, *second.conflicts)] == ["eph_0", "eph_1"]
    assert (first.ephemeral, first.as_of_event, first.checked_intents, first.blocking) == (True, 7, 2, True)
    found = first.conflicts[0]
    assert (found.source_intent_id, found.target_intent_id) == ("int_b", "int_a")
    assert found.evidence["ephemeral"] is True
    assert found.evidence["source_operation"] == "replace"


def test_work_that_was_not_published_has_no_intent_id_in_its_findings() -> None:
    report = what_if(
        intent("", "x", "symbol:Cart=add"), [intent("int_a", "y", "symbol:Cart=add")], lambda: "eph_1", NOW, 0
    )
    assert report.conflicts[0].source_intent_id is None
    assert not report.blocking


@pytest.mark.parametrize("act", ["coordinate", "resolve"])
def test_nothing_can_be_done_about_a_finding_of_a_what_if(act: str) -> None:
    with pytest.raises(Refused, match=r"^NOT_FOUND"):
        if act == "coordinate":
            must_be_stored("eph_1")
        else:
            must_resolve("eph_1", ConflictStatus.OPEN, "agt_a", {"agt_a"}, ("split", "msg_1"), True)


def test_the_stored_conflicts_come_newest_first_and_only_the_unsettled() -> None:
    (finding,) = detect(intent("int_a", "x", "symbol:Cart=add"), intent("int_b", "y", "symbol:Cart=add"))
    later = NOW + timedelta(seconds=1)
    rows = [
        shown(finding, "cfl_2", NOW),
        shown(finding, "cfl_1", NOW, ConflictStatus.COORDINATING),
        shown(finding, "cfl_3", later),
        shown(finding, "cfl_4", later, ConflictStatus.RESOLVED),
    ]
    report = stored_report(rows, 3, 12)
    assert [c.id for c in report.conflicts] == ["cfl_3", "cfl_1", "cfl_2"]
    assert (report.ephemeral, report.as_of_event, report.checked_intents, report.blocking) == (
        False,
        12,
        3,
        False,
    )
    assert "previously_settled" not in rows[0].model_dump()
    assert shown(finding, "cfl_4", NOW, previously_settled=True).model_dump()["previously_settled"] is True


def neighbour(intent_id: str, summary: str, *scopes: str) -> Neighbour:
    subject = intent(intent_id, summary, *scopes)
    return Neighbour(subject, f"agt_{intent_id}", "name", "task", summary, IntentStatus.CLAIMED)


def test_related_work_puts_what_is_asserted_first_and_says_why_the_rest_is_there() -> None:
    own = intent("int_me", "Add retry support to BillingClient", "symbol:BillingClient=extend", "api:pay=add")
    others = [
        neighbour("int_w", "Implement retry support for BillingClient"),
        neighbour("int_n", "one", "symbol:a.BillingClient=remove"),
        neighbour("int_2", "two", "symbol:billingclient=replace", "api:pay=add"),
        neighbour("int_1", "three", "symbol:BillingClient=extend"),
        neighbour("int_0", "four", "domain:elsewhere=add"),
    ]
    related = in_order(compare(own, others))
    assert [(entry.intent_id, entry.asserted) for entry in related] == [
        ("int_2", True),
        ("int_1", True),
        ("int_n", False),
        ("int_w", False),
    ]
    first = related[0].overlap[1]
    assert (first.your_operation, first.their_operation, first.interaction) == (
        "extend",
        "replace",
        "destructive_vs_additive",
    )
    assert "by name only" in str(related[2].why_surfaced)
    assert "similar wording" in str(related[3].why_surfaced)
    assert "why_surfaced" not in related[0].model_dump()


def test_an_assessment_is_required_until_it_is_made_and_again_after_the_other_changed_its_scopes() -> None:
    later = NOW + timedelta(minutes=5)
    assert assessment_required([("int_a", NOW)], [])
    assert not assessment_required([("int_a", NOW)], [Assessed("int_a", later)])
    assert unassessed(
        [("int_a", later), ("int_b", NOW)], [Assessed("int_a", NOW), Assessed("int_b", NOW)]
    ) == ["int_a"]
    assert not assessment_required([], [])


def test_an_intent_without_scopes_is_told_what_it_gives_up() -> None:
    assert publish_warnings([]) == [NO_SCOPES]
    assert "no scopes" in NO_SCOPES
    assert publish_warnings([parse_scope("api:pay")]) == []
    assert "nowhere" in publish_warnings([parse_scope("symbol:Cart")], unseen=["Cart"])[0]


@pytest.mark.parametrize(
    ("key", "alias", "better"),
    [
        ("CheckoutController.checkout", "symbol:checkout", "CheckoutController::checkout"),
        ("shop.CheckoutController.checkout", "symbol:checkout", "CheckoutController::checkout"),
        ("Outer.Inner", "symbol:inner", "Outer::Inner"),
        ("shop::Cart.add", "symbol:shop::add", "shop::Cart::add"),
        ("checkout.submit", "symbol:submit", "'::'"),
    ],
)
def test_a_dotted_symbol_is_told_its_alias_and_a_better_spelling(key: str, alias: str, better: str) -> None:
    (warning,) = scope_warnings([parse_scope(f"symbol:{key}")])
    assert alias in warning
    assert better in warning


@pytest.mark.parametrize(
    "scope", ["symbol:Cart::add", "symbol:shop.models.Cart", "file:a.py", r"symbol:App\Cart", "symbol:x."]
)
def test_a_key_that_keeps_its_class_gets_no_warning(scope: str) -> None:
    assert scope_warnings([parse_scope(scope)]) == []
    assert symbol_to_search("Cart::add") == "add"


def held(claim_id: str, intent_id: str, scope: str, seconds: int = 60, released: bool = False) -> Held:
    return Held(claim_id, intent_id, "s", parse_scope(scope), released, NOW + timedelta(seconds=seconds))


def test_two_may_claim_one_scope_and_the_second_is_told() -> None:
    pay = parse_scope("symbol:PaymentService")
    plan = plan_claim("int_b", "s", [pay], [held("clm_1", "int_a", "symbol:App.PaymentService")], 3600, NOW)
    assert [(step.scope, step.renews) for step in plan.steps] == [(pay, None)]
    conflict = shown(stored_form(plan.overlaps[0]), "cfl_1", NOW)
    assert (conflict.kind, conflict.severity, conflict.score) == ("overlapping_claim", "MEDIUM", 0.88)
    assert conflict.evidence == {
        "rule": "FM-C005",
        "soft_claim": True,
        "source_scope": "symbol:paymentservice",
        "target_scope": "symbol:paymentservice",
    }
    assert (conflict.source_intent_id, conflict.target_intent_id) == ("int_a", "int_b")


def test_a_second_claim_renews_the_first_also_after_it_expired_and_meets_the_same_conflict() -> None:
    known = [held("clm_1", "int_b", "symbol:Cart", -5), held("clm_2", "int_a", "symbol:cart")]
    plan = plan_claim("int_b", "s", [parse_scope("symbol:CART"), parse_scope("symbol:cart")], known, 120, NOW)
    assert plan.steps == [(parse_scope("symbol:CART"), "clm_1", NOW + timedelta(seconds=120))]
    again = plan_claim(
        "int_a",
        "s",
        [parse_scope("symbol:cart")],
        [*known[1:], held("clm_3", "int_b", "symbol:Cart")],
        60,
        NOW,
    )
    assert identity(plan.overlaps[0]) == identity(again.overlaps[0])


def test_claims_that_ran_out_or_were_released_warn_nobody() -> None:
    known = [held("clm_1", "int_a", "symbol:Cart", 0), held("clm_2", "int_c", "symbol:Cart", released=True)]
    assert plan_claim("int_b", "s", [parse_scope("symbol:Cart")], known, 60, NOW).overlaps == []
    assert [status_at(one, NOW) for one in known] == [ClaimStatus.EXPIRED, ClaimStatus.RELEASED]


@given(st.integers(-(10**9), 10**9))
def test_a_lease_is_taken_at_the_nearer_end_of_its_range(seconds: int) -> None:
    claimed = ClaimWorkInput.model_validate(
        {"agent_id": "a", "intent_id": "i", "scopes": [{"kind": "api", "key": "x"}], "lease_seconds": seconds}
    )
    assert 60 <= claimed.lease_seconds <= 86_400
    assert lease_end(NOW, seconds) == NOW + timedelta(seconds=claimed.lease_seconds)


def test_only_a_party_resolves_over_mcp_and_anybody_with_the_command() -> None:
    said = ("split scopes", "agreed in msg_1")
    parties = {"agt_a", "agt_b"}
    with pytest.raises(Refused, match=r"^FORBIDDEN"):
        must_resolve("cfl_1", ConflictStatus.OPEN, "agt_c", parties, said, True)
    assert must_resolve("cfl_1", ConflictStatus.OPEN, "agt_c", parties, said, False) == said
    assert (
        must_resolve(
            "cfl_1", ConflictStatus.COORDINATING, "agt_a", parties, (" split scopes ", said[1]), True
        )
        == said
    )
    with pytest.raises(Refused, match=r"^INVALID_TRANSITION"):
        must_resolve("cfl_1", ConflictStatus.RESOLVED, "agt_a", parties, said, True)
    with pytest.raises(Refused, match="rationale is blank"):
        must_resolve("cfl_1", ConflictStatus.OPEN, "agt_a", parties, ("split", " "), True)


def test_a_message_makes_an_open_conflict_coordinating_and_a_discard_dismisses_it() -> None:
    assert [after_message(s) for s in (ConflictStatus.OPEN, ConflictStatus.RESOLVED)] == [
        "COORDINATING",
        "RESOLVED",
    ]
    assert [after_discard(s) for s in (ConflictStatus.COORDINATING, ConflictStatus.OVERRIDDEN)] == [
        "DISMISSED",
        "OVERRIDDEN",
    ]


def test_only_the_owner_acts_on_an_intent_and_nobody_assesses_it_against_itself() -> None:
    must_own("int_a", "agt_a", "agt_a")
    with pytest.raises(Refused, match=r"^FORBIDDEN"):
        must_own("int_a", "agt_a", "agt_b")
    with pytest.raises(Refused, match=r"^INVALID_INPUT"):
        must_assess("int_a", "agt_a", "agt_a", "int_a", "because")
    assert must_assess("int_a", "agt_a", "agt_a", "int_b", " because ") == "because"


def test_each_step_needs_its_status_and_a_refusal_says_what_to_do_first() -> None:
    with pytest.raises(Refused, match=r"^INVALID_TRANSITION.*claim_work"):
        must_allow(Step.START, "int_a", IntentStatus.INTENT)
    for step, status in itertools.product(Step, IntentStatus):
        if status in ALLOWED[step]:
            must_allow(step, "int_a", status)
        else:
            with pytest.raises(Refused, match=r"^INVALID_TRANSITION"):
                must_allow(step, "int_a", status)
    assert [m.after for m in publication_moves(IntentStatus.CLAIMED)] == ["IN_PROGRESS", "PROVISIONAL"]
    assert publication_moves(IntentStatus.VALIDATED)[0].event == "changeset.revised"


def test_work_of_a_silent_agent_can_be_taken_over_when_no_claim_runs() -> None:
    silent = AgentFacts("agt_a", "pay", "/w", NOW - timedelta(seconds=7201))
    present = silent._replace(last_seen_at=NOW - timedelta(seconds=7200))
    assert is_stale(silent, NOW)
    assert not is_stale(present, NOW)
    assert is_stranded(IntentStatus.CLAIMED, silent, 0, NOW)
    assert not is_stranded(IntentStatus.INTENT, silent, 0, NOW)
    assert must_adopt("int_a", IntentStatus.CLAIMED, silent, "agt_b", 0, " gone ", NOW) == "gone"
    for owner, claims in ((present, 0), (silent, 1)):
        with pytest.raises(Refused, match=r"^FORBIDDEN"):
            must_adopt("int_a", IntentStatus.CLAIMED, owner, "agt_b", claims, "gone", NOW)
    with pytest.raises(Refused, match=r"^INVALID_TRANSITION"):
        must_adopt("int_a", IntentStatus.VALIDATED, silent, "agt_b", 0, "gone", NOW)
    assert "agt_a" in twins_warning("pay", "/w", [silent])[0]
    assert twins_warning("pay", "/other", [silent]) == []


def test_a_scope_in_a_claim_takes_no_operation() -> None:
    with pytest.raises(ValidationError, match="operation"):
        ClaimWorkInput.model_validate(
            {"agent_id": "a", "intent_id": "i", "scopes": [{"kind": "api", "key": "x", "operation": "add"}]}
        )
    assert PlainScope(kind="api", key="x").text == "api:x"


def test_a_query_finds_every_namespace_of_a_symbol() -> None:
    wanted = sought(parse_scope("symbol:Report::render"), False)
    assert is_sought(wanted, [parse_scope(r"symbol:App\Billing\Report::render")])
    assert is_sought(wanted, [parse_scope(r"symbol:App\Admin\Report::render")])
    assert not is_sought(wanted, [parse_scope("symbol:Report")])
    with pytest.raises(Refused, match="Send symbol:Cart;"):
        sought(parse_scope("symbol:Cart=replace"), False)
    assert (intent_status(" in_progress "), conflict_status(None)) == (IntentStatus.IN_PROGRESS, None)
    with pytest.raises(Refused, match="DISMISSED"):
        conflict_status("done")


def test_an_intent_is_published_in_its_normal_form_and_not_without_words() -> None:
    given = PublishIntentInput.model_validate(
        {
            "agent_id": "agt_1",
            "task": " pay ",
            "summary": " s ",
            "scopes": [{"kind": "API", "key": " x ", "operation": "add"}] * 2,
        }
    )
    checked = checked_intent(given)
    assert (checked.task, checked.summary) == ("pay", "s")
    assert [(scope.kind, scope.key, scope.operation) for scope in checked.scopes] == [("api", "x", "add")]
    assert checked.task_key == task_key(" pay ") != task_key("pay")
    with pytest.raises(Refused, match="task is blank"):
        checked_intent(given.model_copy(update={"task": " "}))


def test_a_changeset_names_each_thing_once_and_says_what_it_does() -> None:
    given = PublishChangeSetInput(agent_id="a", intent_id="i", summary=" s ", files=["b", "a", "b"])
    assert checked_changeset(given).files == ["b", "a"]
    bad = given.model_copy(update={"decisions": [DecisionInput(title="t", rationale=" ")]})
    with pytest.raises(Refused, match="rationale is blank"):
        checked_changeset(bad)


def test_what_a_changed_plan_no_longer_meets_is_dismissed() -> None:
    one, other = intent("int_a", "", "symbol:Cart=add"), intent("int_b", "", "symbol:Cart=add", "api:pay=add")
    (cart,) = detect(one, other)
    pay = identity(detect(intent("int_a", "", "api:pay=add"), other)[0])
    claims = identity(cart)._replace(kind=ConflictKind.OVERLAPPING_CLAIM)
    known = [
        Known("cfl_1", identity(cart), ConflictStatus.OPEN),
        Known("cfl_2", pay, ConflictStatus.OPEN),
        Known("cfl_3", pay, ConflictStatus.RESOLVED),
        Known("cfl_4", claims, ConflictStatus.OPEN),
    ]
    assert vanished(known, [cart]) == ["cfl_2"]
    assert vanished(known, []) == ["cfl_1", "cfl_2"]
