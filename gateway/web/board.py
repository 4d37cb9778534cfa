"""The board of a project: who works where, who waits for whom and why, and each line's queue as it runs."""

from typing import NamedTuple

import asyncpg
from starlette.responses import Response

from gateway.access import Seen, see_project
from gateway.web.graph import BOX_HEIGHT, BOX_WIDTH, graph_of
from gateway.web.inputs import checked, text
from gateway.web.queues import QueueOfLine, queues_of
from gateway.web.reasons import why_asked, why_held
from gateway.web.router import PageRoutes
from gateway.web.visit import Visit, go
from protocol.answers import BoardEntry
from protocol.intents import BoardInput
from protocol.projects import Line, PauseLine
from protocol.states import State
from protocol.watch import OpenFinding
from storage.sql import ask_pages, boards, intents, watch
from storage.sql.boards import LandedRow

_FOUND_SHOWN = 50
_LANDED_SHOWN = 8
_MOST_PAIRS = 50


class Looked(NamedTuple):
    """What the board shows beside the entries."""

    seen: Seen
    why: dict[str, list[str]]
    queues: list[QueueOfLine]
    landed: list[LandedRow]
    open_asks: int
    found: list[OpenFinding]


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
        open_asks=looked.open_asks,
        found=looked.found,
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
    queues = await queues_of(connection, project.id, lines)
    landed = await boards.landed(connection, project.id, project.default_line, None, _LANDED_SHOWN)
    whose = None if seen.role == "owner" else visit.caller.person_id
    asks = await ask_pages.counts(connection, project.id, whose)
    found = await watch.of_project(connection, project.id, _FOUND_SHOWN)
    return Looked(seen, why, queues, landed, asks["open"], found)


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


async def drain(visit: Visit) -> Response:
    """`POST /p/{slug}/drain`: land what is queued by now, then stand still."""
    given = checked(PauseLine, reason=text(visit, "reason") or "")
    await visit.web.surface.drain_line(visit.caller, visit.slug, text(visit, "line") or "", given)
    return go(f"/p/{visit.slug}", done="draining")


async def resume(visit: Visit) -> Response:
    """`POST /p/{slug}/resume`."""
    await visit.web.surface.resume_line(visit.caller, visit.slug, text(visit, "line") or "")
    return go(f"/p/{visit.slug}", done="resumed")


def add_board(routes: PageRoutes) -> None:
    """The board and what owners do there."""
    routes.get("/p/{slug}", board)
    routes.post("/p/{slug}/pause", pause, board)
    routes.post("/p/{slug}/drain", drain, board)
    routes.post("/p/{slug}/resume", resume, board)
