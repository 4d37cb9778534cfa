"""The forms of a project's named checks: each saves or removes one, and leaves the others as they are."""

from typing import Any

from starlette.responses import Response

from gateway.web.inputs import checked, lines, number, text
from gateway.web.visit import Visit, go
from protocol.project_checks import ChecksInput, NamedCheck
from protocol.projects import ChangeSettings
from protocol.refusals import not_found

_LISTS = ("paths", "needs", "environment", "cache", "artifacts")
_NUMBERS = ("timeout_sec", "slots", "retries", "cpu_sec", "memory_mb")


async def save_named(visit: Visit) -> Response:
    """`POST …/settings/checks/save`: `was` names the check that is changed; empty, it is a new one."""
    given: dict[str, Any] = {name: lines(visit, name) for name in _LISTS}
    given |= {name: found for name in _NUMBERS if (found := number(visit, name)) is not None}
    check = checked(
        NamedCheck,
        name=text(visit, "name") or "",
        command=text(visit, "command") or "",
        network=visit.form.get("network") == "on",
        **given,
    )
    was = text(visit, "was")
    named = await _named(visit)
    if was is None:
        return await _save(visit, [*named, check])
    at = _place_of(named, was)
    return await _save(visit, [*named[:at], check, *named[at + 1 :]])


async def remove_named(visit: Visit) -> Response:
    """`POST …/settings/checks/remove`."""
    named = await _named(visit)
    at = _place_of(named, text(visit, "was") or "")
    return await _save(visit, [*named[:at], *named[at + 1 :]])


async def _named(visit: Visit) -> list[NamedCheck]:
    seen = await visit.web.reads.seen(visit.caller, visit.slug)
    return [NamedCheck(**check.model_dump()) for check in seen.project.settings.named_checks]


def _place_of(named: list[NamedCheck], name: str) -> int:
    for at, check in enumerate(named):
        if check.name == name:
            return at
    raise not_found(f"check {name[:60]} in this project", "Somebody may have removed it: look at the list.")


async def _save(visit: Visit, named: list[NamedCheck]) -> Response:
    checks = checked(ChecksInput, named=named)
    await visit.web.surface.change_settings(visit.caller, visit.slug, checked(ChangeSettings, checks=checks))
    return go(f"/p/{visit.slug}/settings", done="saved")
