"""Subjects: what is written is read back, and no id can widen a filter."""

import pytest

from bus.subjects import EventSubject, filter_for, parse, subject
from protocol.events import EventType
from protocol.ids import new_id

PROJECT, INTENT = new_id("prj"), new_id("int")


@pytest.mark.parametrize("event_type", list(EventType))
@pytest.mark.parametrize("intent_id", [INTENT, None], ids=["an intent", "none"])
def test_a_subject_reads_back_as_it_was_written(event_type, intent_id):
    written = subject(PROJECT, intent_id, event_type)
    assert written == f"gitring.v1.{PROJECT}.{intent_id or '_'}.{event_type.value}"
    assert parse(written) == EventSubject(PROJECT, intent_id, event_type)


def test_filters_name_one_project_or_one_intent():
    assert filter_for(PROJECT) == f"gitring.v1.{PROJECT}.>"
    assert filter_for(PROJECT, INTENT) == f"gitring.v1.{PROJECT}.{INTENT}.>"


@pytest.mark.parametrize("token", ["", "*", ">", "a.b", "a b", "a\r\nPUB x 0", "é", "x" * 65])
def test_an_id_that_is_no_plain_token_is_refused(token):
    for make in (
        lambda: subject(token, INTENT, "intent.pushed"),
        lambda: subject(PROJECT, token, "intent.pushed"),
        lambda: filter_for(token),
        lambda: filter_for(PROJECT, token),
    ):
        with pytest.raises(ValueError, match="token"):
            make()


def test_the_sign_for_no_intent_is_not_taken_for_an_intent():
    with pytest.raises(ValueError, match="no intent"):
        filter_for(PROJECT, "_")


@pytest.mark.parametrize(
    "event_type", ["", "intent.", ".pushed", "intent.*", "Intent.Pushed", "intent pushed"]
)
def test_an_event_type_that_is_no_dotted_word_is_refused(event_type):
    with pytest.raises(ValueError, match="event type"):
        subject(PROJECT, INTENT, event_type)


@pytest.mark.parametrize(
    "name",
    [
        "",
        "gitring.v1",
        "gitring.v2.prj.int.a",
        "gitring.v1.prj.int",
        "gitring.v1.p*.int.a",
        "gitring.v1.prj.int.A B",
    ],
)
def test_a_foreign_subject_is_not_parsed(name):
    with pytest.raises(ValueError, match="no event subject"):
        parse(name)
