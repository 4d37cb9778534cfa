"""The promised place and time in a queue."""

from datetime import UTC, datetime, timedelta

import pytest

from protocol.records import IntentRecords, QueueSight
from rules.queue_eta import queue_place
from tests.rules.records import records

NOW = datetime(2026, 1, 1, tzinfo=UTC)


def sight(**fields: object) -> IntentRecords:
    base = records()
    own = base.intent.id
    values = {
        "queued": [("int_a", 1), (own, base.intent.number), ("int_z", 9)],
        "goes_after": {},
        "read_at": NOW,
        "check_sec": 60.0,
        "tested_since": None,
        "tested_with": [],
        "running_since": None,
        **fields,
    }
    return base.model_copy(update={"queue": QueueSight(**values), "line_paused": None})


@pytest.mark.parametrize(
    ("fields", "eta"),
    [
        ({}, 60),
        ({"tested_since": NOW - timedelta(seconds=50), "tested_with": [1]}, 10),
        ({"tested_since": NOW - timedelta(seconds=500)}, 1),
        ({"running_since": NOW - timedelta(seconds=20)}, 100),
        ({"check_sec": None}, None),
    ],
)
def test_the_estimate_counts_its_own_test_and_what_runs_before_it(
    fields: dict[str, object], eta: int | None
) -> None:
    place = queue_place(sight(**fields))
    assert place is not None
    assert (place.position, place.of, place.eta_sec) == (2, 3, eta)


def test_one_that_goes_after_something_not_queued_has_no_place_and_a_paused_queue_promises_nothing() -> None:
    own = records().intent.id
    waiting = queue_place(sight(goes_after={own: ["int_elsewhere"]}))
    assert waiting is not None
    assert (waiting.position, waiting.eta_sec) == (None, None)
    still = queue_place(sight().model_copy(update={"line_paused": "a release"}))
    assert still is not None
    assert (still.position, still.eta_sec) == (2, None)


def test_one_outside_the_queue_has_no_place() -> None:
    assert queue_place(records()) is None
