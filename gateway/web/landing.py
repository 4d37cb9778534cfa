"""An emergency, on the page of an intent: an owner has it land before all others."""

from starlette.responses import Response

from gateway.web.inputs import checked, text
from gateway.web.intent import intent, leave
from gateway.web.intent_view import find_row, intent_number
from gateway.web.router import PageRoutes
from gateway.web.visit import Visit, go
from protocol.intents import LandNowInput


async def land_now(visit: Visit) -> Response:
    """`POST …/land-now`: with its checks first, or without them."""
    async with visit.web.reads.snapshot() as connection:
        row = (await find_row(connection, visit))[1]
    given = checked(LandNowInput, reason=text(visit, "reason") or "", checks=text(visit, "checks") or "run")
    await visit.web.surface.land_now(visit.caller, row.id, given)
    return go(f"/p/{visit.slug}/i/{intent_number(visit)}", done="landing_now")


def add_landing(routes: PageRoutes) -> None:
    """The form's address."""
    routes.post("/p/{slug}/i/{number}/land-now", land_now, intent)
    routes.get("/p/{slug}/i/{number}/land-now", leave)
