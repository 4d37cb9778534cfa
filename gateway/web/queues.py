"""A line's queue as it runs, for the board: what lands, what is tested together, who waits where, why it stands still."""

from collections.abc import Collection, Mapping, Sequence
from datetime import UTC, datetime
from typing import NamedTuple

import asyncpg

from protocol.projects import Line
from protocol.records import IntentRow, QueueSight
from rules.landing_order import landing_order
from rules.queue_eta import eta_sec
from storage.sql import intents, queue
from storage.sql.queue_page import Batch, Stop, batches, latest_stop
from storage.sql.queue_sight import typical_sec

# So many are ordered, and so many of them shown.
_MOST = 200
_SHOWN = 50


class Trial(NamedTuple):
    """A candidate under test. `what`: `batch`, `line` (the line itself), `search` (who clashes with a suspect), or `alone`
    (work that a person decides about next, outside the queue)."""

    what: str
    batch: Batch


class Waiting(NamedTuple):
    """One in the queue: its place (None while it goes after others that are not queued), and when it may land."""

    row: IntentRow
    position: int | None
    eta_sec: int | None
    goes_after: list[int]
    tested: bool
    suspect: bool


class QueueOfLine(NamedTuple):
    """One line's queue. `beyond` counts those that are not shown."""

    line: Line
    stop: Stop | None
    landing: list[int]
    tests: list[Trial]
    waiting: list[Waiting]
    beyond: int


async def queues_of(
    connection: asyncpg.Connection, project_id: str, lines: Sequence[Line]
) -> list[QueueOfLine]:
    """The queues of a project's lines at one moment."""
    running = await batches(connection, project_id)
    return [
        await _queue(connection, project_id, line, [one for one in running if one.line == line.name])
        for line in lines
    ]


async def _queue(
    connection: asyncpg.Connection, project_id: str, line: Line, running: Sequence[Batch]
) -> QueueOfLine:
    now = datetime.now(UTC)
    marker = await queue.open_landing(connection, project_id, line.name)
    landing = [member.number for member in marker.members] if marker else []
    stop = await latest_stop(connection, project_id, line.name) if line.paused or line.draining else None
    queued = await queue.order(connection, project_id, line.name, _MOST, now)
    standing = {number for _, number in queued}
    tests = [Trial(what_is_tested(batch, line.head, standing), batch) for batch in running]
    if not queued:
        return QueueOfLine(line, stop, landing, tests, [], 0)
    ids = [intent_id for intent_id, _ in queued]
    sight = QueueSight(
        queued=queued,
        goes_after={i: sorted(on) for i, on in (await queue.open_dependencies(connection, ids)).items()},
        read_at=now,
        check_sec=await typical_sec(connection, project_id, line.name),
        tested_since=None,
        tested_with=[],
        running_since=min((batch.since for batch in running), default=None),
    )
    waiting = await _waiting(connection, line, sight, tests)
    waiting = [one for one in waiting if one.row.number not in landing]
    return QueueOfLine(line, stop, landing, tests, waiting[:_SHOWN], max(line.queued - _SHOWN, 0))


def what_is_tested(batch: Batch, head: str | None, queued: Collection[int]) -> str:
    """What a test is for, told from what it holds: see `Trial`."""
    if not batch.members:
        return "line"
    if not any(number in queued for number in batch.numbers):
        return "alone"
    # A suspect is tested alone, behind what the line was before others landed.
    return "search" if batch.members == 1 and batch.line_head != head else "batch"


async def _waiting(
    connection: asyncpg.Connection, line: Line, sight: QueueSight, tests: Sequence[Trial]
) -> list[Waiting]:
    order = landing_order([intent_id for intent_id, _ in sight.queued], sight.goes_after)
    outside = [intent_id for intent_id, _ in sight.queued if intent_id not in order]
    shown = [*order, *outside][: _SHOWN + _SHOWN]
    missing = {on for intent_id in outside for on in sight.goes_after.get(intent_id, ())}
    rows = await intents.many(connection, [*shown, *missing])
    since = _tested_since(tests)
    suspects = {number for test in tests if test.what == "search" for number in test.batch.numbers}
    found = []
    for place, intent_id in enumerate(shown, 1):
        row = rows[intent_id]
        placed = intent_id in order
        mine = sight.model_copy(update={"tested_since": since.get(row.number)})
        seconds = eta_sec(place, mine) if placed and line.paused is None else None
        needs = () if placed else sight.goes_after.get(intent_id, ())
        found.append(
            Waiting(
                row=row,
                position=place if placed else None,
                eta_sec=seconds,
                goes_after=sorted(rows[on].number for on in needs if on in rows),
                tested=row.number in since,
                suspect=row.number in suspects,
            )
        )
    return found


def _tested_since(tests: Sequence[Trial]) -> Mapping[int, datetime]:
    """By number, since when the first candidate that holds it is tested."""
    found: dict[int, datetime] = {}
    for test in tests:
        for number in test.batch.numbers:
            found[number] = min(test.batch.since, found.get(number, test.batch.since))
    return found
