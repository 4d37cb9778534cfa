"""Where an intent stands in its line's queue, and in about how many seconds it lands if all goes well."""

from protocol.answers import QueuePlace
from protocol.records import IntentRecords, QueueSight
from rules.landing_order import landing_order
from rules.queue_plan import FIRST_WINDOW

# Merging, recording and moving the ref, for each member of a candidate.
LANDING_SEC = 0.06
MOST_SHOWN = 20


def queue_place(records: IntentRecords) -> QueuePlace | None:
    """The place of an intent that stands in the queue; None for one that does not.

    `eta_sec` is None while the queue stands still, while something that it goes after is not queued, and before any
    check of this line ever ended.
    """
    sight = records.queue
    if sight is None:
        return None
    numbers = dict(sight.queued)
    order = landing_order([intent_id for intent_id, _ in sight.queued], sight.goes_after)
    if records.intent.id not in order:
        missing = sorted(set(sight.goes_after.get(records.intent.id, ())) - set(order))
        return QueuePlace(
            position=None, of=len(sight.queued), waits_for=[numbers[i] for i in missing if i in numbers]
        )
    place = order.index(records.intent.id) + 1
    return QueuePlace(
        position=place,
        of=len(order),
        ahead=[numbers[i] for i in order[: place - 1]][-MOST_SHOWN:],
        tested_with=sight.tested_with[:MOST_SHOWN],
        eta_sec=None if records.line_paused else eta_sec(place, sight),
    )


def eta_sec(place: int, sight: QueueSight) -> int | None:
    """In how many seconds the intent at a place lands: its own test, or what is left of it, and one test for each full
    candidate ahead of it. None before any check of the line ever ended."""
    if sight.check_sec is None:
        return None
    batches = (place - 1) // FIRST_WINDOW
    if sight.tested_since is not None:
        own = max(sight.check_sec - (sight.read_at - sight.tested_since).total_seconds(), 0.0)
    elif sight.running_since is not None:
        # What runs now ends first; its own test follows.
        own = 2 * sight.check_sec - (sight.read_at - sight.running_since).total_seconds()
        own = max(own, sight.check_sec)
    else:
        own = sight.check_sec
    return max(1, round(own + batches * sight.check_sec + place * LANDING_SEC))
