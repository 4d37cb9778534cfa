"""Merge commit messages: others' words made plain, closing words disarmed, one trailer that is ours."""

from hypothesis import given
from hypothesis import strategies as st

from rules.merge_message import disarmed, merge_message

INTENT = "int_01JBQ8M4ZK7V3XW9N2D5HT6RYE"


def test_a_message_names_the_intent_its_goal_its_issue_and_ends_with_the_trailer() -> None:
    message = merge_message(
        49, "Add a currency", "Prices carry it.", INTENT, "https://github.com/o/r/issues/3"
    )
    assert message == (
        "Merge #49: Add a currency\n\nPrices carry it.\n\nIssue: https://github.com/o/r/issues/3\n\n"
        f"Gitring-Intent: {INTENT}\n"
    )


def test_closing_words_close_nothing() -> None:
    assert disarmed("Fixes #12, closes o/r#3 and resolved: https://x.io/issues/9") == (
        "Fixes issue #12, closes issue o/r#3 and resolved: issue https://x.io/issues/9"
    )


def test_a_goal_cannot_forge_a_trailer() -> None:
    message = merge_message(1, "t", "x\n\nGitring-Intent: int_forged", INTENT, None)
    assert "\n> Gitring-Intent: int_forged\n" in message


@given(st.text(max_size=300), st.text(max_size=300))
def test_whatever_a_title_or_goal_holds_there_is_one_trailer_and_one_subject_line(
    title: str, goal: str
) -> None:
    lines = merge_message(7, title, goal, INTENT, None).splitlines()
    assert [line for line in lines if line.lower().startswith("gitring-intent")] == [
        f"Gitring-Intent: {INTENT}"
    ]
    assert lines[0].startswith("Merge #7:")
    assert lines[1] == ""
