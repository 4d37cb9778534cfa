"""The settings of a project: its rules, its checks, its lines, its series of numbers, and one's own agents' tokens."""

from typing import Any

from starlette.responses import Response

from gateway.web.checks_form import remove_named, save_named
from gateway.web.inputs import checked, lines, number, text
from gateway.web.router import PageRoutes
from gateway.web.settings_checks import save_checks
from gateway.web.visit import Visit, go
from protocol.projects import (
    ChangeSettings,
    CreateLine,
    CreateSeries,
    CreateToken,
    NewToken,
    PauseLine,
)
from storage.sql import pages


async def settings(visit: Visit, token: NewToken | None = None) -> Response:
    """`/p/{slug}/settings`; `token` was made just now and is shown this once."""
    web, caller = visit.web, visit.caller
    seen = await web.reads.seen(caller, visit.slug)
    async with web.reads.snapshot() as connection:
        members = await pages.members(connection, seen.project.id)
    listed = [info for info in await web.surface.list_tokens(caller) if seen.project.slug in info.projects]
    return await visit.show(
        "settings.html",
        status=201 if token else 200,
        slug=seen.project.slug,
        project=seen.project,
        rules=seen.project.settings,
        role=seen.role,
        owner=seen.role == "owner",
        members=members,
        lines=(await web.surface.lines(caller, seen.project.id)).lines,
        series=(await web.surface.series(caller, seen.project.id)).series,
        tokens=[info for info in listed if info.revoked_at is None],
        revoked=[info for info in listed if info.revoked_at is not None][:20],
        token=token,
        public_url=web.site.public_url,
        given=visit.form,
        address=f"/p/{seen.project.slug}/settings",
    )


async def save_rules(visit: Visit) -> Response:
    """`POST …/settings/rules`: all rules but the checks, which have a form of their own."""
    given = checked(
        ChangeSettings,
        mediation=text(visit, "mediation"),
        shared_files=lines(visit, "shared_files"),
        people_only=lines(visit, "people_only"),
        owner_approves=lines(visit, "owner_approves"),
        folder_writers=_folder_writers(visit),
        **_given(
            plan_review=text(visit, "plan_review"),
            merge_approval=text(visit, "merge_approval"),
            max_places=number(visit, "max_places"),
        ),
    )
    await visit.web.surface.change_settings(visit.caller, visit.slug, given)
    return _back(visit, "saved")


def _folder_writers(visit: Visit) -> dict[str, list[str]]:
    """The rows of the form: a folder in `folder-N`, and a box `writer-N-PERSON` for each who may write it."""
    found: dict[str, list[str]] = {}
    for name in visit.form:
        row = name.removeprefix("folder-")
        folder = text(visit, name) if row != name else None
        if folder is not None:
            prefix = f"writer-{row}-"
            found[folder] = sorted(box.removeprefix(prefix) for box in visit.form if box.startswith(prefix))
    return found


def _given(**values: Any) -> dict[str, Any]:
    return {name: value for name, value in values.items() if value is not None}


async def make_line(visit: Visit) -> Response:
    """`POST …/settings/lines`: a release line, from another line's head or a commit."""
    given = checked(CreateLine, name=text(visit, "name") or "", start=text(visit, "from") or "")
    await visit.web.surface.create_line(visit.caller, visit.slug, given)
    return _back(visit, "line_made")


async def pause_line(visit: Visit) -> Response:
    """`POST …/settings/lines/pause`: the line is a field, since its name may hold slashes."""
    given = checked(PauseLine, reason=text(visit, "reason") or "")
    await visit.web.surface.pause_line(visit.caller, visit.slug, text(visit, "line") or "", given)
    return _back(visit, "paused")


async def resume_line(visit: Visit) -> Response:
    """`POST …/settings/lines/resume`."""
    await visit.web.surface.resume_line(visit.caller, visit.slug, text(visit, "line") or "")
    return _back(visit, "resumed")


async def make_series(visit: Visit) -> Response:
    """`POST …/settings/series`: numbers that intents reserve."""
    given = checked(CreateSeries, prefix=text(visit, "prefix") or "", **_given(next=number(visit, "next")))
    await visit.web.surface.create_series(visit.caller, visit.slug, given)
    return _back(visit, "series_made")


async def make_token(visit: Visit) -> Response:
    """`POST …/settings/tokens`: the answer is the page with the token on it, once."""
    given = checked(CreateToken, name=text(visit, "name") or "", projects=[visit.slug])
    return await settings(visit, token=await visit.web.surface.create_token(visit.caller, given))


async def revoke_token(visit: Visit) -> Response:
    """`POST …/settings/tokens/revoke`."""
    await visit.web.surface.revoke_token(visit.caller, (text(visit, "id") or "")[:100])
    return _back(visit, "revoked")


def _back(visit: Visit, done: str) -> Response:
    return go(f"/p/{visit.slug}/settings", done=done)


async def leave(visit: Visit) -> Response:
    """A form's address, asked for by GET."""
    return go(f"/p/{visit.slug}/settings")


def add_settings(routes: PageRoutes) -> None:
    """The page and its forms."""
    routes.get("/p/{slug}/settings", settings)
    forms = {
        "rules": save_rules,
        "checks": save_checks,
        "checks/save": save_named,
        "checks/remove": remove_named,
        "lines": make_line,
        "lines/pause": pause_line,
        "lines/resume": resume_line,
        "series": make_series,
        "tokens": make_token,
        "tokens/revoke": revoke_token,
    }
    for name, handler in forms.items():
        routes.post(f"/p/{{slug}}/settings/{name}", handler, settings)
        routes.get(f"/p/{{slug}}/settings/{name}", leave)
