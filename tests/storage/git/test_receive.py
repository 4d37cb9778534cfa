import pytest

from storage.git.receive import MOST_UPDATES, RefUpdate, parse_updates

OLD, NEW, ZERO = "a" * 40, "b" * 40, "0" * 40


def test_each_line_is_one_update() -> None:
    lines = f"{OLD} {NEW} refs/heads/main\n{ZERO} {NEW} refs/intents/ü x\n{OLD} {ZERO} refs/tags/v1\n"
    updates = parse_updates(lines.encode())
    assert [(u.ref, u.creates, u.deletes) for u in updates] == [
        ("refs/heads/main", False, False),
        ("refs/intents/ü x", True, False),
        ("refs/tags/v1", False, True),
    ]
    assert updates[0] == RefUpdate.model_validate({"old": OLD, "new": NEW, "ref": "refs/heads/main"})


def test_a_ref_that_is_not_utf8_is_shown_in_percent_form() -> None:
    [update] = parse_updates(f"{ZERO} {NEW} refs/heads/".encode() + b"\xff\n")
    assert update.ref == "refs/heads/%FF"


@pytest.mark.parametrize(
    "line", ["nonsense", f"{OLD} {NEW}", f"{OLD} xyz refs/heads/a", f"{OLD} {NEW} {'r' * 2000}"]
)
def test_anything_else_is_refused_in_words(line: str) -> None:
    with pytest.raises(ValueError, match="cannot read the ref update"):
        parse_updates(line.encode())


def test_a_push_of_too_many_refs_is_refused() -> None:
    row = f"{ZERO} {NEW} refs/tags/t\n".encode()
    assert len(parse_updates(row * MOST_UPDATES)) == MOST_UPDATES
    with pytest.raises(ValueError, match="in several steps"):
        parse_updates(row * (MOST_UPDATES + 1))
