"""What the face does beyond the protocol: claims given back, and operations that only a person accepts."""

from datetime import UTC, datetime, timedelta

import pytest

from protocol.foremerge.scopes import PlainScope, ScopeClaim
from protocol.foremerge.words import Operation, ScopeKind
from protocol.refusals import Refused
from rules.foremerge.acceptance import (
    Overrides,
    Recorded,
    Seen,
    acceptance_event,
    may_accept,
    must_still_hold,
)
from rules.foremerge.claims import Held, given_back, plan_release
from tests.rules.foremerge.test_fm_gate import DIRTY, RECORD, SEEN

NOW = datetime(2026, 1, 1, tzinfo=UTC)
TAKES = ScopeClaim(kind=ScopeKind.SYMBOL, key="Cart", operation=Operation.REMOVE)
KEEPS = ScopeClaim(kind=ScopeKind.SYMBOL, key="Till", operation=Operation.EXTEND)
ASKED = RECORD._replace(scopes=(KEEPS, TAKES), person_accepts=(Operation.REMOVE, Operation.RENAME))
ADA = Overrides(person="Ada Lovelace")


def symbol(key: str) -> PlainScope:
    return PlainScope(kind=ScopeKind.SYMBOL, key=key)


def held(one: str, key: str, released: bool = False) -> Held:
    return Held(one, "int_1", "Work", symbol(key), released, NOW + timedelta(hours=1))


OWN = [held("clm_0", "Cart", released=True), held("clm_1", "Cart"), held("clm_2", "app/Till::pay")]


def test_a_release_without_scopes_ends_all_that_run_and_one_with_scopes_those_alone() -> None:
    assert plan_release([], OWN) == ["clm_1", "clm_2"]
    assert plan_release([symbol("cart")], OWN) == ["clm_1"]
    assert plan_release([], []) == []


def test_a_second_release_ends_nothing_and_one_of_another_scope_is_not_found() -> None:
    assert plan_release([symbol("Cart")], OWN[:1]) == []
    with pytest.raises(Refused, match=r"NOT_FOUND.*symbol:Tills"):
        plan_release([symbol("Cart"), symbol("Tills")], OWN)


def test_a_name_is_free_only_when_no_other_claim_stands_for_it() -> None:
    both = [symbol("a/Till::pay"), symbol("Cart")]
    assert given_back(both, []) == {"symbol:till::pay", "symbol:cart"}
    assert given_back(both, [symbol("b/Till::pay")]) == {"symbol:cart"}


def test_an_agent_is_told_which_operation_waits_for_a_person_and_what_to_do() -> None:
    with pytest.raises(Refused) as told:
        may_accept(ASKED, SEEN)
    refusal = told.value.refusal
    assert refusal.code == "FORBIDDEN"
    assert "remove symbol:Cart" in refusal.message and "Till" not in refusal.message
    assert "foremerge changeset accept chg_1 --as-person" in refusal.next


def test_a_persons_acceptance_is_recorded_with_the_name_and_what_was_asked() -> None:
    accepted = may_accept(ASKED, SEEN, ADA)
    assert accepted.reason == "Ada Lovelace accepted: remove symbol:Cart."
    event = acceptance_event(accepted, "c", "ref", "Ada Lovelace")
    assert (event["accepted_by"], event["asked"]) == ("Ada Lovelace", ["remove symbol:Cart"])
    plain = may_accept(RECORD, SEEN, ADA)
    assert plain.reason is None and "accepted_by" not in acceptance_event(plain, "c", "ref", "Ada Lovelace")


@pytest.mark.parametrize(("record", "seen"), [(ASKED, DIRTY), (ASKED._replace(newest_run=None), SEEN)])
def test_a_person_is_asked_only_for_what_would_pass_and_lets_nothing_else_through(
    record: Recorded, seen: Seen
) -> None:
    for who in (Overrides(), ADA):
        with pytest.raises(Refused, match="CHECK_FAILED"):
            may_accept(record, seen, who)


def test_a_setting_that_changes_during_an_acceptance_is_a_race() -> None:
    before = may_accept(RECORD._replace(scopes=(TAKES,)), SEEN)
    with pytest.raises(Refused, match="STATE_RACE"):
        must_still_hold(ASKED, before=before)
