"""The two faces: statuses, scopes, and intents of both kinds compared with each other."""

import pytest
from hypothesis import given

from protocol.foremerge.words import IntentStatus
from protocol.states import State
from rules.foremerge.faces import (
    declared_by_gitring,
    place_of_scope,
    places_of,
    scope_of_name,
    scope_of_place,
    state_of,
    status_of,
)
from rules.foremerge.findings import detect
from rules.foremerge.overlap import tier_of
from rules.foremerge.subjects import Subject, subject
from rules.places import Place, meet
from tests.rules.foremerge.samples import claim, found, intent
from tests.rules.test_places import PLACES


def of_gitring(*places: Place, names: tuple[str, ...] = ()) -> Subject:
    return subject("int_g", "some work", declared_by_gitring(places, names))


def test_every_status_has_its_counterpart_and_finality_is_the_same() -> None:
    assert {state.final: status_of(state).active for state in State} == {False: True, True: False}
    final = {status for status in IntentStatus if state_of(status).final}
    assert final == {IntentStatus.COMMITTED, IntentStatus.DISCARDED}
    # Nothing of gitring's own way to a line begins for work that lands elsewhere.
    assert {state_of(s) for s in IntentStatus} == {State.ACTIVE, State.QUEUED, State.MERGED, State.WITHDRAWN}
    assert [s for s in IntentStatus if state_of(s) is State.QUEUED] == [IntentStatus.ACCEPTED]


def test_places_become_scopes_that_are_modified() -> None:
    assert scope_of_place(Place("src/a.py")) == claim("file:src/a.py=modify")
    assert scope_of_place(Place("src/")) == claim("file:src/=modify")
    assert scope_of_place(Place("src/a.py", "Cart.add")) == claim("symbol:Cart::add=modify")


def test_files_become_places_and_other_scopes_none() -> None:
    scopes = [
        claim(text)
        for text in ("file:src/b.py=add", "file:./src/a.py=add", "symbol:Cart=add", "file:../x=add")
    ]
    assert places_of(scopes) == [Place("src/a.py"), Place("src/b.py")]
    assert place_of_scope(claim("file:/etc/passwd=remove")) is None


@given(PLACES)
def test_a_file_or_folder_comes_back_from_its_scope(place: Place) -> None:
    back = place_of_scope(scope_of_place(place))
    assert back == (None if place.symbol else place)


@pytest.mark.parametrize(
    ("place", "scope", "expected"),
    [
        (Place("src/pay.py"), "file:src/pay.py=replace", ("destructive_vs_additive", "HIGH", 0.97)),
        (Place("src/"), "file:src/pay.py=add", ("shared_contract", "MEDIUM", 0.97)),
        (Place("src/pay.py", "Pay"), "file:src/=remove", ("destructive_vs_additive", "HIGH", 0.97)),
        (
            Place("src/pay.py", "Pay.charge"),
            "symbol:pay::charge=replace",
            ("destructive_vs_additive", "HIGH", 0.97),
        ),
        (
            Place("src/pay.py", "Pay.charge"),
            "symbol:App.Pay::charge=replace",
            ("destructive_vs_additive", "MEDIUM", 0.873),
        ),
    ],
)
def test_an_intent_of_each_face_meets_the_other(
    place: Place, scope: str, expected: tuple[str, str, float]
) -> None:
    foremerge = intent("int_f", "x", scope)
    assert found(of_gitring(place), foremerge) == [expected]
    assert found(foremerge, of_gitring(place)) == [expected]


@given(PLACES, PLACES)
def test_places_that_meet_are_found_near_each_other(one: Place, other: Place) -> None:
    (ours,) = declared_by_gitring([one])
    (theirs,) = declared_by_gitring([other])
    assert (tier_of(ours, theirs) is not None) is meet(one, other)
    if meet(one, other):
        assert of_gitring(other).near(ours) == [theirs]


def test_two_paths_are_never_taken_for_one_because_of_their_words() -> None:
    assert (
        detect(of_gitring(Place("src/money.ts")), intent("int_f", "x", "file:src/money.test.ts=replace"))
        == []
    )
    assert detect(of_gitring(Place("Makefile")), intent("int_f", "x", "file:makefile=replace")) == []
    one, other = (
        intent(key, "x", f"file:src/{name}.ts=add") for key, name in (("a", "money"), ("b", "money.test"))
    )
    assert [kind for kind, *_ in found(one, other)] == ["shared_contract"]


def test_a_reserved_name_that_reads_as_a_scope_is_one() -> None:
    assert scope_of_name("Config:retry_policy") == claim("config:retry_policy=modify")
    assert [scope_of_name(name) for name in ("table:invoices", "D560", "file:a.py", "api:", "symbol:x")] == [
        None
    ] * 5
    both = of_gitring(names=("schema:users.email", "table:invoices"))
    assert found(both, intent("int_f", "x", "schema:users.email=rename"))[0][:2] == (
        "destructive_vs_additive",
        "HIGH",
    )


def test_one_symbol_in_two_files_stays_two_places() -> None:
    both = declared_by_gitring([Place("a.py", "Cart"), Place("b.py", "Cart"), Place("a.py", "Cart")])
    assert [one.place for one in both] == [Place("a.py", "Cart"), Place("b.py", "Cart")]
    found_at = detect(subject("int_g", "", both), intent("int_f", "", "symbol:Cart=replace"))
    assert len(found_at) == 1
