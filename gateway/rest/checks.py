"""Runs of checks, their logs and their files. All of it is the project's own output: sent as it is, never interpreted."""

from contextlib import aclosing
from typing import Annotated
from urllib.parse import quote

from fastapi import APIRouter, Header, Path, Query
from starlette.responses import Response
from starlette.types import Send

from gateway.held import EVENTS, HeldAnswer, part, start
from gateway.live_logs import Following, Heard
from gateway.rest.context import FAILURES, CallerDep, Rest, RestDep, json_response
from protocol.answers import CheckView
from protocol.live import ArtifactList
from protocol.wire import visible_json

CheckPath = Annotated[str, Path(max_length=100, pattern=r"^\w+$", description="The run's id (chk_…).")]

_PLAIN = {
    "Content-Type": "text/plain; charset=utf-8",
    "X-Content-Type-Options": "nosniff",
}
_RETRY_MS = 1000


def add_checks(router: APIRouter) -> None:
    """Read one run, its log, and the files it handed over."""

    @router.get("/checks/{check_id}", response_model=CheckView, responses=FAILURES, tags=["checks"])
    async def check(rest: RestDep, caller: CallerDep, check_id: CheckPath) -> Response:
        """One run of the checks."""
        return json_response(await rest.surface.check(caller, check_id))

    @router.get(
        "/checks/{check_id}/log",
        response_class=Response,
        responses={**FAILURES, 200: {"content": {"text/plain": {"schema": {"type": "string"}}}}},
        tags=["checks"],
    )
    async def check_log(rest: RestDep, caller: CallerDep, check_id: CheckPath) -> Response:
        """What the checks printed; while they run, what is there so far."""
        return Response(await rest.surface.check_log(caller, check_id), headers=_PLAIN)

    @router.get(
        "/checks/{check_id}/log/stream",
        response_class=Response,
        responses={**FAILURES, 200: {"content": {"text/event-stream": {"schema": {"type": "string"}}}}},
        tags=["checks"],
    )
    async def stream(
        rest: RestDep,
        caller: CallerDep,
        check_id: CheckPath,
        offset: Annotated[int, Query(ge=0, le=2**50, description="Begin after so many bytes.")] = 0,
        last_event_id: Annotated[
            str | None,
            Header(
                pattern=r"^\d{1,15}(\.\d{1,18})?$", description="Go on after this event; wins over `offset`."
            ),
        ] = None,
    ) -> Response:
        """The log as it grows: `output` events hold text and the offset after it, `progress` how far the run is,
        `restart` that it began again at offset 0, and `end`, the last, the run with its verdict."""
        return _followed(rest, rest.surface.follow_log(caller, check_id, last_event_id or str(offset)))

    _add_artifacts(router)


def _add_artifacts(router: APIRouter) -> None:
    @router.get(
        "/checks/{check_id}/artifacts", response_model=ArtifactList, responses=FAILURES, tags=["checks"]
    )
    async def artifacts(rest: RestDep, caller: CallerDep, check_id: CheckPath) -> Response:
        """The files that a run handed over."""
        return json_response(await rest.surface.artifacts(caller, check_id))

    @router.get(
        "/checks/{check_id}/artifacts/{number}",
        response_class=Response,
        responses={
            **FAILURES,
            200: {
                "content": {"application/octet-stream": {"schema": {"type": "string", "format": "binary"}}}
            },
        },
        tags=["checks"],
    )
    async def artifact(
        rest: RestDep,
        caller: CallerDep,
        check_id: CheckPath,
        number: Annotated[int, Path(ge=1, le=10_000, description="Its number in the list.")],
    ) -> Response:
        """One of those files, always as a download."""
        name, content = await rest.surface.artifact(caller, check_id, number)
        return download(name, content)


def download(name: str, content: bytes) -> Response:
    """A file of the project's own making, which no browser shows or runs in our name. `name` may be a path."""
    last = name.rsplit("/", 1)[-1]
    plain = "".join(char if char.isascii() and (char.isalnum() or char in "._-") else "_" for char in last)
    return Response(
        content,
        headers={
            "Content-Type": "application/octet-stream",
            "Content-Disposition": (
                f'attachment; filename="{plain.lstrip(".")[:150] or "file"}"; '
                f"filename*=UTF-8''{quote(last[:150], safe='', errors='replace')}"
            ),
            "X-Content-Type-Options": "nosniff",
            "Content-Security-Policy": "default-src 'none'; sandbox",
            "Cache-Control": "private, no-store",
        },
    )


def _followed(rest: Rest, news: Following) -> HeldAnswer:
    async def work(send: Send) -> None:
        try:
            async with rest.stop.open_until(None), aclosing(news):
                async for heard in news:
                    await send(start(EVENTS))
                    await send(part(frame(heard)))
        except TimeoutError:
            if not rest.stop.stopping:
                raise
        await send(start(EVENTS))
        await send(part(b"", more=False))

    return HeldAnswer(work, EVENTS, rest.limits)


def frame(heard: Heard) -> bytes:
    """A news of a followed log as a server-sent event."""
    body = visible_json(heard.data.model_dump_json(by_alias=True))
    return f"id: {heard.at}\nevent: {heard.news}\nretry: {_RETRY_MS}\ndata: {body}\n\n".encode()
