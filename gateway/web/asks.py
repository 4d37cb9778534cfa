"""The asks of a project: what a person wants, whether an agent took it up, and the form for a new one.

An ask is between its person and their agents; an owner sees everybody's, to close what somebody left behind.
"""

from typing import Any, NamedTuple, get_args

from starlette.responses import Response

from gateway.access import Seen
from gateway.web.inputs import checked, lines, text
from gateway.web.router import PageRoutes
from gateway.web.visit import Visit, go
from protocol.asks import AskDraft, CreateAsk
from protocol.refusals import invalid_input, not_found
from storage.sql import ask_pages
from storage.sql import asks as asks_of_record
from storage.sql.ask_pages import AskEntry, AskFate
from storage.sql.events import last_seq

PAGE = 50
_FATES: tuple[AskFate, ...] = get_args(AskFate)
_DRAFT_FIELDS = ("title", "goal", "summary", "change", "use")


class ShownAsk(NamedTuple):
    """An ask, its draft as the input that it is, and whether the person may withdraw it."""

    entry: AskEntry
    draft: AskDraft | None
    may_close: bool


async def asks(visit: Visit) -> Response:
    """`/p/{slug}/asks?show=open|taken|closed&before=ask_…`."""
    seen = await visit.web.reads.seen(visit.caller, visit.slug)
    slug, show = seen.project.slug, _fate(visit)
    whose = None if seen.role == "owner" else visit.caller.person_id
    before = visit.request.query_params.get("before", "")[:60] or None
    async with visit.web.reads.snapshot() as connection:
        found = await ask_pages.listed(connection, seen.project.id, whose, show, before, PAGE + 1)
        counts = await ask_pages.counts(connection, seen.project.id, whose)
        newest = await last_seq(connection, seen.project.id)
    return await visit.show(
        "asks.html",
        slug=slug,
        role=seen.role,
        me=visit.caller.person_id,
        show=show,
        counts=counts,
        asks=[_shown(entry, seen, visit) for entry in found[:PAGE]],
        older=found[PAGE - 1].id if len(found) > PAGE else None,
        before=before,
        given=visit.form,
        drafting=any(visit.form.get(name) for name in _DRAFT_FIELDS),
        stream=f"/p/{slug}/live?after={newest}",
        address=f"/p/{slug}/asks",
    )


def _fate(visit: Visit) -> AskFate:
    wanted = visit.request.query_params.get("show")
    return next((fate for fate in _FATES if fate == wanted), "open")


def _shown(entry: AskEntry, seen: Seen, visit: Visit) -> ShownAsk:
    mine = entry.person_id == visit.caller.person_id
    return ShownAsk(
        entry,
        None if entry.draft is None else AskDraft.model_validate(entry.draft),
        entry.fate == "open" and (mine or seen.role == "owner"),
    )


async def write_ask(visit: Visit) -> Response:
    """`POST …/asks`."""
    given = checked(CreateAsk, text=text(visit, "text") or "", draft=_draft(visit))
    await visit.web.surface.open_ask(visit.caller, visit.slug, given)
    return go(f"/p/{visit.slug}/asks", done="asked_agents")


def _draft(visit: Visit) -> dict[str, Any] | None:
    """The draft's fields that were filled in, or None."""
    scope = {name: found for name in ("change", "use") if (found := _places(visit, name))}
    plan: dict[str, Any] = {"scope": scope} if scope else {}
    if summary := text(visit, "summary"):
        plan["summary"] = summary
    draft: dict[str, Any] = {"plan": plan} if plan else {}
    for name in ("title", "goal"):
        if given := text(visit, name):
            draft[name] = given
    return draft or None


def _places(visit: Visit, name: str) -> list[dict[str, str]]:
    """Places as texts write them, one a line: `path` or `path#symbol`."""
    found = []
    for line in lines(visit, name):
        path, hash_sign, symbol = line.partition("#")
        if hash_sign and not symbol:
            raise invalid_input(f"{line[:200]} names no symbol after its #.", "Write path or path#symbol.")
        found.append({"path": path, "symbol": symbol} if symbol else {"path": path})
    return found


async def close_ask(visit: Visit) -> Response:
    """`POST …/asks/close`."""
    seen = await visit.web.reads.seen(visit.caller, visit.slug)
    ask_id = (text(visit, "id") or "")[:60]
    async with visit.web.reads.snapshot() as connection:
        row = await asks_of_record.find(connection, ask_id)
    if row is None or row.project_id != seen.project.id:
        raise not_found("ask of this project", "Take it from the list.")
    await visit.web.surface.close_ask(visit.caller, ask_id)
    return go(f"/p/{visit.slug}/asks", done="withdrawn")


async def leave(visit: Visit) -> Response:
    """A form's address, asked for by GET."""
    return go(f"/p/{visit.slug}/asks")


def add_asks(routes: PageRoutes) -> None:
    """The page and its two forms."""
    routes.get("/p/{slug}/asks", asks)
    routes.post("/p/{slug}/asks", write_ask, asks)
    routes.post("/p/{slug}/asks/close", close_ask, asks)
    routes.get("/p/{slug}/asks/close", leave)
