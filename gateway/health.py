"""Whether the process lives, and whether the servers it stands on answer."""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from fastapi import FastAPI
from starlette.responses import JSONResponse, Response

from gateway.errors import ErrorBody, error_body
from protocol.refusals import busy

log = logging.getLogger(__name__)

PROBE_SEC = 2.0

Probe = Callable[[], Awaitable[object]]
"""Returns when the server it stands for answered; raises when it did not."""


async def _answers(name: str, probe: Probe, seconds: float) -> bool:
    try:
        async with asyncio.timeout(seconds):
            await probe()
    except Exception as problem:
        log.warning("%s did not answer: %s: %s", name, type(problem).__name__, problem)
        return False
    return True


def add_health(app: FastAPI, probes: Mapping[str, Probe], probe_sec: float = PROBE_SEC) -> None:
    """`GET /healthz` (alive) and `GET /readyz` (each of `probes` answered within `probe_sec` seconds).

    `ok` and `data` are for clients of the Foremerge protocol, who look there.
    """

    @app.get("/healthz", tags=["health"], summary="The process answers")
    async def healthz() -> dict[str, Any]:
        about = {"name": app.title, "version": app.version, "status": "alive"}
        return {**about, "ok": True, "data": about}

    @app.get(
        "/readyz",
        tags=["health"],
        summary="Every server gitring stands on answers",
        responses={503: {"model": ErrorBody, "description": "The servers that did not answer are named."}},
    )
    async def readyz() -> Response:
        found = await asyncio.gather(*(_answers(name, probe, probe_sec) for name, probe in probes.items()))
        state = {name: "ok" if good else "no answer" for name, good in zip(probes, found, strict=True)}
        missing = [name for name, good in zip(probes, found, strict=True) if not good]
        if not missing:
            return JSONResponse(
                {"status": "ready", "servers": state, "ok": True, "data": {"status": "ready"}}
            )
        refusal = busy(" and ".join(missing)).refusal.model_copy(
            update={
                "code": "not_ready",
                "message": f"{' and '.join(missing)} did not answer.",
                "next": "Wait until it is back; calls that need it are refused with code busy meanwhile.",
            }
        )
        body = {"status": "not ready", "servers": state, "ok": False, **error_body(refusal).model_dump()}
        return JSONResponse(body, 503, {"Retry-After": "2"})
