"""When a push supports the acknowledgement of a change request (`docs/rules.md`, Change requests)."""

import re

from protocol.ids import short
from protocol.records import IntentRecords, IntentRow, RequestRow
from rules.places import Place, covers, parse_place

_LINES = re.compile(r"^(?P<path>.+) lines \d+-\d+$")


def not_applied(request: RequestRow, records: IntentRecords) -> str | None:
    """What is still missing before `request` can close, or None when it can.

    A conflict's closes after a push since it came; a person's on a place only after a push that changes
    that file; a request that blocks nothing is closed by being acknowledged. What failed checks ask is
    answered by submitting a new head, what a plan review asks by a new plan.
    """
    row = records.intent
    if not request.blocking:
        return None
    if request.kind in ("check", "merge"):
        return "it closes when you submit a new head; push your fix and call gitring_submit."
    if request.kind == "plan":
        return "it closes with a new plan version; call gitring_update_plan."
    if row.head is None or row.head == request.head:
        return "nothing was pushed since it came. Push a change that applies it, then call gitring_ack again."
    place = _place(request)
    if request.from_kind == "person" and place is not None and not _changed(place, records):
        return f"your pushes do not change {place.path}. Push a change there, then call gitring_ack again."
    return None


def _place(request: RequestRow) -> Place | None:
    if request.place is None:
        return None
    found = _LINES.match(request.place)
    return Place(found["path"]) if found else parse_place(request.place)


def _changed(place: Place, records: IntentRecords) -> bool:
    return any(covers(place.file, Place(path)) for path in records.pushed_paths)


def applied_by(request: RequestRow, row: IntentRow) -> str:
    """How it was closed: `commit 9c1b2a3 applies it`."""
    return f"commit {short(row.head)} applies it" if request.blocking and row.head else "acknowledged"
