"""Risk: high with the sentence that made it so, and when a person is asked."""

import pytest

from protocol.records import PushedWork
from protocol.states import Risk, When
from rules.places import Place
from rules.risk import asks_person, mass_deletion, risk_of


@pytest.mark.parametrize(
    ("path", "reason"),
    [
        ("pyproject.toml", "changes a dependency manifest or lock file (pyproject.toml)"),
        ("web/package-lock.json", "changes a dependency manifest or lock file (web/package-lock.json)"),
        ("db/migrations/0004_add.sql", "changes a database migration (db/migrations/0004_add.sql)"),
        (".github/workflows/ci.yml", "changes CI or deploy configuration (.github/workflows/ci.yml)"),
        ("Dockerfile", "changes CI or deploy configuration (Dockerfile)"),
        ("src/", "changes a whole folder (src/)"),
    ],
)
def test_a_risky_place_makes_the_risk_high_and_is_named(path: str, reason: str) -> None:
    assert risk_of([Place(path)], 25) == (Risk.HIGH, [reason])


def test_ordinary_files_are_low_risk() -> None:
    assert risk_of([Place("src/cart.py"), Place("src/migrating.py", "Cart")], 25) == (Risk.LOW, [])


def test_more_places_than_the_limit_are_high_risk() -> None:
    risk, reasons = risk_of([Place(f"src/f{n}.py") for n in range(4)], 3)
    assert risk is Risk.HIGH
    assert reasons == ["changes 4 places, more than the project's limit of 3"]


@pytest.mark.parametrize(
    ("rule", "low", "high"), [(When.NEVER, False, False), (When.HIGH, False, True), (When.ALWAYS, True, True)]
)
def test_a_project_chooses_when_a_person_is_asked(rule: When, low: bool, high: bool) -> None:
    assert asks_person(rule, Risk.LOW) is low
    assert asks_person(rule, Risk.HIGH) is high


def test_a_mass_deletion_outside_the_plan_comes_first_and_asks_a_person() -> None:
    gone = PushedWork(paths=[f"lib/f{n}.py" for n in range(12)], deleted=[f"lib/f{n}.py" for n in range(12)])
    assert (
        mass_deletion([Place("src/cart.py")], gone)
        == "deletes 12 files outside its plan (lib/f0.py and others)"
    )
    assert mass_deletion([Place("lib/")], gone) is None
    risk, reasons = risk_of([Place("src/cart.py")], 25, (), gone)
    assert (risk, reasons[0]) == (Risk.HIGH, "deletes 12 files outside its plan (lib/f0.py and others)")
