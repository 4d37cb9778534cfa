"""An answer about an intent, as plain lines."""

from cli.lines import newest_of_each


def test_of_each_check_the_newest_run_is_shown() -> None:
    runs = [
        {"name": "unit", "state": "failed"},
        {"name": "lint", "state": "passed"},
        {"name": "unit", "state": "passed"},
    ]
    assert [(run["name"], run["state"]) for run in newest_of_each(runs)] == [
        ("unit", "failed"),
        ("lint", "passed"),
    ]
