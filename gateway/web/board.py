"""The board of a project: who works where, who waits for whom and why, and each line's queue as it runs."""

from typing import NamedTuple

import asyncpg
from starlette.responses import Response

from gateway.access import Seen, see_project
from gateway.web.graph import BOX_HEIGHT, BOX_WIDTH, graph_of
from gateway.web.inputs import checked, text
from gateway.web.reasons import why_asked, why_held
from gateway.web.router import PageRoutes
from gateway.web.visit import Visit, go
from protocol.answers import BoardEntry
from protocol.intents import BoardInput
from protocol.projects import Line, PauseLine
from protocol.records import IntentRow
from protocol.states import State
from storage.sql import boards, intents, pages, queue
from storage.sql.boards import LandedRow
from storage.sql.pages import RunningCheck

_QUEUE_SHOWN = 50
_LANDED_SHOWN = 8
_MOST_PAIRS = 50


class QueueOfLine(NamedTuple):
    """One line's queue: who stands in it, what is being tested, and who is landing at this moment."""

    line: Line
    entries: list[IntentRow]
    running: list[RunningCheck]
    landing: list[int]


class Looked(NamedTuple):
    """What the board shows beside the entries."""

    seen: Seen
    why: dict[str, list[str]]
    queues: list[QueueOfLine]
    landed: list[LandedRow]


async def board(visit: Visit) -> Response:
    """`/p/{slug}`."""
    web, caller = visit.web, visit.caller
    cursor = visit.request.query_params.get("cursor")
    found = await web.surface.board(caller, checked(BoardInput, project_id=visit.slug, cursor=cursor))
    lines = (await web.surface.lines(caller, visit.slug)).lines
    async with web.reads.snapshot() as connection:
        looked = await _look(connection, visit, found.entries, lines)
    slug = looked.seen.project.slug
    return await visit.show(
        "board.html",
        slug=slug,
        role=looked.seen.role,
        project=looked.seen.project,
        groups=_by_line(found.entries),
        why=looked.why,
        graph=graph_of(found.entries),
        box=(BOX_WIDTH, BOX_HEIGHT),
        queues=looked.queues,
        landed=looked.landed,
        cursor=found.cursor,
        stream=f"/p/{slug}/live?after={found.after_seq}",
        address=f"/p/{slug}",
    )


async def _look(
    connection: asyncpg.Connection, visit: Visit, entries: list[BoardEntry], lines: list[Line]
) -> Looked:
    seen = await see_project(connection, visit.caller, visit.slug)
    project = seen.project
    rows = await intents.many(connection, [entry.id for entry in entries])
    pairs = await boards.holding_pairs(connection, list(rows), _MOST_PAIRS)
    why = {
        row.id: why_held(row.id, pairs) if row.state is State.HELD else why_asked(row, project.settings)
        for row in rows.values()
    }
    running = await pages.running_checks(connection, project.id)
    queues = [await _queue(connection, project.id, line, running) for line in lines]
    landed = await boards.landed(connection, project.id, project.default_line, None, _LANDED_SHOWN)
    return Looked(seen, why, queues, landed)


async def _queue(
    connection: asyncpg.Connection, project_id: str, line: Line, running: list[RunningCheck]
) -> QueueOfLine:
    landing = await queue.open_landing(connection, project_id, line.name)
    return QueueOfLine(
        line,
        await queue.queued(connection, project_id, line.name, _QUEUE_SHOWN),
        [check for check in running if check.line == line.name],
        [member.number for member in landing.members] if landing else [],
    )


def _by_line(entries: list[BoardEntry]) -> list[tuple[str, list[BoardEntry]]]:
    found: dict[str, list[BoardEntry]] = {}
    for entry in entries:
        found.setdefault(entry.line, []).append(entry)
    return list(found.items())


async def pause(visit: Visit) -> Response:
    """`POST /p/{slug}/pause`: the line is a field, since its name may hold slashes."""
    given = checked(PauseLine, reason=text(visit, "reason") or "")
    await visit.web.surface.pause_line(visit.caller, visit.slug, text(visit, "line") or "", given)
    return go(f"/p/{visit.slug}", done="paused")


async def resume(visit: Visit) -> Response:
    """`POST /p/{slug}/resume`."""
    await visit.web.surface.resume_line(visit.caller, visit.slug, text(visit, "line") or "")
    return go(f"/p/{visit.slug}", done="resumed")


def add_board(routes: PageRoutes) -> None:
    """The board and what owners do there."""
    routes.get("/p/{slug}", board)
    routes.post("/p/{slug}/pause", pause, board)
    routes.post("/p/{slug}/resume", resume, board)
