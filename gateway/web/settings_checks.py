"""The form of a project's checks: the command that has to succeed before anything lands."""

from typing import Any

from starlette.responses import Response

from gateway.web.inputs import checked, lines, number, text
from gateway.web.visit import Visit, go
from protocol.projects import ChangeSettings


async def save_checks(visit: Visit) -> Response:
    """`POST …/settings/checks`: an empty command takes this check away; named ones stay."""
    checks: dict[str, Any] = {"test": None}
    test = text(visit, "test")
    if test is not None:
        checks = {
            "test": test,
            "environment": lines(visit, "environment"),
            "network": visit.form.get("network") == "on",
        }
        timeout = number(visit, "timeout_sec")
        if timeout is not None:
            checks["timeout_sec"] = timeout
    await visit.web.surface.change_settings(visit.caller, visit.slug, checked(ChangeSettings, checks=checks))
    return go(f"/p/{visit.slug}/settings", done="saved")
