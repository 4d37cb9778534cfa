"""The ledger of a project, page by page, the newest first, with the verdict on its chain."""

from starlette.responses import Response

from gateway.web.router import PageRoutes
from gateway.web.timeline import sentence
from gateway.web.visit import Visit
from protocol.events import compact_json
from storage.sql import intents
from storage.sql.events import last_seq

PAGE = 100
_PAYLOAD_CHARS = 600


async def audit(visit: Visit) -> Response:
    """`/p/{slug}/audit?before=N`; the chain is gone over on the first page only, since it is read whole."""
    web, caller = visit.web, visit.caller
    seen = await web.reads.seen(caller, visit.slug)
    before = _before(visit)
    async with web.reads.snapshot() as connection:
        last = await last_seq(connection, seen.project.id)
    end = last if before is None else min(before - 1, last)
    found = await web.surface.events(caller, seen.project.id, max(0, end - PAGE), PAGE)
    shown = [event for event in reversed(found) if event.seq <= end]
    async with web.reads.snapshot() as connection:
        rows = await intents.many(connection, list({e.intent_id for e in shown if e.intent_id}))
    first = shown[-1].seq if shown else 0
    return await visit.show(
        "audit.html",
        slug=seen.project.slug,
        project=seen.project,
        role=seen.role,
        verdict=await web.surface.audit(caller, seen.project.id) if before is None else None,
        events=[(event, sentence(event), compact_json(event.payload)[:_PAYLOAD_CHARS]) for event in shown],
        numbers={row.id: row.number for row in rows.values()},
        older=first if first > 1 else None,
        last=last,
        address=f"/p/{seen.project.slug}/audit",
    )


def _before(visit: Visit) -> int | None:
    given = visit.request.query_params.get("before", "")
    return int(given) if given.isascii() and given.isdigit() and 0 < len(given) <= 15 else None


def add_audit(routes: PageRoutes) -> None:
    """The page of the ledger."""
    routes.get("/p/{slug}/audit", audit)
