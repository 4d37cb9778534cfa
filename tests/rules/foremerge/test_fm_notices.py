"""What each face is told of the other, in the words that it plans in."""

from rules.foremerge.faces import declared_by_gitring
from rules.foremerge.findings import detect, evidence
from rules.foremerge.subjects import subject
from rules.foremerge.texts import explanation, explanation_by_place, suggestion
from rules.places import Place
from tests.rules.foremerge.samples import intent, only

OURS = subject("int_g", "Round what is paid", declared_by_gitring([Place("src/payments.py", "Payment.pay")]))


def test_gitring_hears_of_its_places_and_foremerge_of_scopes() -> None:
    theirs = intent("int_f", "Throw it away", "file:src/payments.py=remove")
    for finding in (only(theirs, OURS), only(OURS, theirs)):
        assert explanation_by_place(finding, "int_g") == (
            "What you change at src/payments.py#Payment.pay meets its remove of file:src/payments.py: "
            "one takes away what the other builds on."
        )
        assert "symbol:Payment::pay" in explanation(finding)
        assert evidence(finding)["overlap"] == "places that meet"
        assert "such as PaymentsProvider" in suggestion(finding)


def test_what_names_no_place_is_told_as_it_is() -> None:
    again = intent("int_f", "Round what is paid")
    (finding,) = detect(again, OURS)
    assert explanation_by_place(finding, "int_g") == explanation(finding)
