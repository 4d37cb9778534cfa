"""The page of a check's run: its log, live while it runs, and the files it handed over."""

import asyncio
from collections.abc import Sequence
from contextlib import aclosing
from typing import NamedTuple

from markupsafe import Markup
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Send

from gateway.access import see_project
from gateway.held import EVENTS, HeldAnswer, part, start
from gateway.live_logs import END, live_progress
from gateway.rest.checks import download
from gateway.rest.context import Rest
from gateway.web.router import PageRoutes
from gateway.web.shown import output
from gateway.web.visit import Visit, html
from protocol.answers import CheckView
from protocol.live import LogNews
from protocol.records import CheckRow
from protocol.refusals import Refused, not_found
from storage.sql import artifacts, checks, live_log
from storage.sql.artifacts import ArtifactRow

LOG_BYTES = 512 * 1024
# A browser opens few streams to one server, and the page's own is one of them.
MOST_LIVE = 3
LINES_ON_INTENT = 15
LINES_ON_PAGE = 300
_LONGEST_SEC = 600.0
_RETRY_MS = 2000

Shown = CheckRow | CheckView


class Running(NamedTuple):
    """A check that runs, as its block shows it: how far it is, and the last lines it printed."""

    id: str
    name: str
    ended: bool
    said: str
    tail: Markup
    lines: int


async def running(visit: Visit, rows: Sequence[Shown], lines: int = LINES_ON_INTENT) -> list[Running]:
    """The blocks of those runs among `rows` (of a project that the person sees) that run, a few at most."""
    found = []
    for row in [row for row in rows if row.state == "running"][:MOST_LIVE]:
        async with visit.web.reads.snapshot() as connection:
            live = await live_log.live(connection, row.id)
        said = live_progress(live).said if live else "starting"
        found.append(Running(row.id, row.name, False, said, _tail(live.tail if live else b"", lines), lines))
    return found


async def files_of(visit: Visit, rows: Sequence[Shown]) -> dict[str, list[ArtifactRow]]:
    """The files that these runs handed over, by run; the person sees their project."""
    async with visit.web.reads.snapshot() as connection:
        return await artifacts.of_checks(connection, [row.id for row in rows])


def _tail(printed: bytes, lines: int) -> Markup:
    last = b"\n".join(printed.rstrip(b"\n").split(b"\n")[-lines:])
    return output(last, live_log.TAIL_BYTES)


async def check_page(visit: Visit) -> Response:
    """`/p/{slug}/checks/{check_id}`: what a run printed, as text."""
    row = await _row(visit)
    found = await visit.web.surface.check(visit.caller, row.id)
    blocks = await running(visit, [row], LINES_ON_PAGE)
    log = b"" if blocks else await visit.web.surface.check_log(visit.caller, row.id)
    return await visit.show(
        "log.html",
        slug=visit.slug,
        check=found,
        failure=row.failure,
        run=blocks[0] if blocks else None,
        kept=await visit.web.surface.artifacts(visit.caller, row.id),
        log=await asyncio.to_thread(output, log, LOG_BYTES),
        address=f"/p/{visit.slug}/checks/{row.id}",
        stream="/live" if row.state == "running" else None,
    )


async def lately(visit: Visit) -> Response:
    """`…/lately`: the block of a running check by itself."""
    row = await _row(visit)
    lines = (
        LINES_ON_PAGE if visit.request.query_params.get("lines") == str(LINES_ON_PAGE) else LINES_ON_INTENT
    )
    blocks = await running(visit, [row], lines)
    run = blocks[0] if blocks else Running(row.id, row.name, True, row.summary, Markup(), lines)
    return await asyncio.to_thread(html, visit.web, "check_live.html", 200, slug=visit.slug, run=run)


async def output_stream(visit: Visit) -> Response:
    """`…/output`: says that there is more to see, never what. The block then asks for itself."""
    row = await _row(visit)
    rest: Rest = visit.request.app.state.rest
    news = visit.web.surface.follow_log(visit.caller, row.id, _after(visit.request))

    async def work(send: Send) -> None:
        try:
            async with rest.stop.open_until(_LONGEST_SEC), aclosing(news):
                await send(start(EVENTS))
                await send(part(f"retry: {_RETRY_MS}\n\n".encode()))
                async for heard in news:
                    kind = "ended" if heard.news is LogNews.END else "output"
                    await send(part(f"id: {heard.at}\nevent: {kind}\ndata: \n\n".encode()))
        except (TimeoutError, Refused):
            # Its time is over, or the person's session or membership is: the browser asks again, and is told.
            pass
        await send(start(EVENTS))
        await send(part(b"", more=False))

    return HeldAnswer(work, EVENTS, rest.limits)


async def artifact(visit: Visit) -> Response:
    """`…/files/{number}`: one of the run's files, as a download."""
    row = await _row(visit)
    number = str(visit.request.path_params["number"])
    if not (number.isascii() and number.isdigit() and len(number) < 6):
        raise not_found("file of this check", "Take it from the page of the check.")
    return download(*await visit.web.surface.artifact(visit.caller, row.id, int(number)))


async def _row(visit: Visit) -> CheckRow:
    """The run of the address, in a project that the person may see."""
    check_id = str(visit.request.path_params["check_id"])[:100]
    async with visit.web.reads.snapshot() as connection:
        seen = await see_project(connection, visit.caller, visit.slug)
        row = await checks.get(connection, check_id)
    if row is None or row.project_id != seen.project.id:
        raise not_found("check of this project", "Take it from the page of an intent.")
    return row


def _after(request: Request) -> str:
    given = request.headers.get("last-event-id", "")
    offset, _, began = given.partition(".")
    fine = given.isascii() and offset.isdigit() and len(given) < 35 and (began.isdigit() or not began)
    return given if fine else END


def add_checks(routes: PageRoutes) -> None:
    """The page, its block, its stream and its files."""
    address = "/p/{slug}/checks/{check_id}"
    routes.get(address, check_page)
    routes.get(f"{address}/lately", lately)
    routes.get(f"{address}/output", output_stream)
    routes.get(f"{address}/files/{{number}}", artifact)
