"""The edge as one ASGI app: MCP at /mcp, REST at /api/v1, Git at /git, health and numbers beside them."""

import asyncio
from collections.abc import AsyncIterator, Callable, Collection, Iterable, Mapping
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from urllib.parse import urlsplit

from fastapi import APIRouter, FastAPI
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from starlette.routing import Mount, Route
from starlette.types import ASGIApp

from gateway import errors
from gateway.calls import Calls, Stop
from gateway.foremerge.face import API_PATH, Face, build_face
from gateway.foremerge.router import Under
from gateway.foremerge.surface import ForemergeSurface
from gateway.headers import SecurityHeaders
from gateway.health import Probe, add_health
from gateway.limits import BodyLimit, Limits
from gateway.mcp.door import McpDoor
from gateway.mcp.server import build_server
from gateway.metrics import Measured, Metrics, add_metrics
from gateway.rest.asks import add_asks
from gateway.rest.checks import add_checks
from gateway.rest.context import Rest
from gateway.rest.events import add_events
from gateway.rest.intents import add_intents
from gateway.rest.lines import add_lines
from gateway.rest.members import add_members
from gateway.rest.people import add_people
from gateway.rest.projects import add_projects
from gateway.rest.reviews import add_reviews
from gateway.rest.series import add_series
from gateway.rest.tokens import add_tokens
from gateway.rest.twins import add_twins
from gateway.rest.waits import add_wait_of_several
from gateway.rest.watch import add_watch
from gateway.surface import Surface
from gateway.watching import ReadNumbers

_ABOUT = (
    "The coordination of many coding agents on one Git repository. The tools of /mcp have the same names, inputs and "
    'answers here. Every failure is `{"error": {"code", "message", "next"}}`. A wait opens its response early: a '
    "failure after that is told by the same body under status 200. The Foremerge protocol's own API, under /v1, is "
    "described at /v1/openapi.json."
)


def create_app(
    operations: Surface,
    *,
    public_url: str,
    probes: Mapping[str, Probe],
    git_app: ASGIApp,
    stopping: asyncio.Event | None = None,
    waits_held: Callable[[], float] | None = None,
    numbers: ReadNumbers | None = None,
    more_hosts: Collection[str] = (),
    limits: Limits | None = None,
    pages: Callable[[FastAPI], None] | None = None,
    foremerge: ForemergeSurface | None = None,
    version: str = "0.1.0",
) -> FastAPI:
    """The app; it serves for one lifespan.

    `stopping`, once set, ends every open wait and stream at once: set it before the server stops taking requests.
    `more_hosts` are host names, besides that of `public_url` and loopback, under which /mcp may be called.
    `pages` adds the web face (`gateway.web.app.add_pages`), `foremerge` that of the Foremerge protocol.
    """
    limits = limits or Limits()
    metrics = Metrics(waits_held)
    stop = Stop(stopping or asyncio.Event())
    calls = Calls(operations, stop, limits, metrics)
    manager = StreamableHTTPSessionManager(
        build_server(calls, version),
        json_response=True,
        stateless=True,
        max_request_body_size=limits.body_bytes,
    )
    address = urlsplit(public_url)
    hosts = {address.hostname or "localhost", *more_hosts}
    face = build_face(foremerge, calls, stop, metrics, limits, hosts, version) if foremerge else None
    managers = [manager, *([face.manager] if face else [])]
    app = FastAPI(
        title="gitring",
        version=version,
        description=_ABOUT,
        lifespan=_lifespan(managers, stop, calls),
        docs_url=None,
        redoc_url=None,
        redirect_slashes=False,
    )
    app.state.rest = Rest(operations, calls, stop, limits)
    door = McpDoor(manager, operations, hosts, limits)
    app.router.routes.extend([Route("/mcp", door), Route("/mcp/", door), Mount("/git", git_app)])
    app.router.routes.extend(face.routes if face else [])
    app.include_router(_api())
    add_health(app, probes)
    add_metrics(app, metrics, numbers)
    if pages is not None:
        pages(app)
    errors.install(app)
    _add_layers(app, limits, face, metrics, https=address.scheme == "https")
    return app


def _add_layers(app: FastAPI, limits: Limits, face: Face | None, metrics: Metrics, https: bool) -> None:
    """The last added is the outermost."""
    app.add_middleware(BodyLimit, limit=limits.body_bytes)
    app.add_middleware(errors.ErrorBoundary)
    if face:
        app.add_middleware(Under, prefix=API_PATH, face=face.api)
    app.add_middleware(SecurityHeaders, https=https)
    app.add_middleware(Measured, metrics=metrics)


def _api() -> APIRouter:
    router = APIRouter()
    first = APIRouter(prefix="/api/v1")
    add_wait_of_several(first)
    router.include_router(first)
    add_twins(router)
    v1 = APIRouter(prefix="/api/v1")
    for add in (
        add_projects,
        add_lines,
        add_series,
        add_watch,
        add_tokens,
        add_people,
        add_members,
        add_asks,
        add_intents,
        add_reviews,
        add_checks,
        add_events,
    ):
        add(v1)
    router.include_router(v1)
    return router


def _lifespan(
    managers: Iterable[StreamableHTTPSessionManager], stop: Stop, calls: Calls
) -> Callable[[FastAPI], AbstractAsyncContextManager[None]]:
    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        watcher = asyncio.create_task(stop.watch())
        try:
            async with AsyncExitStack() as running:
                for manager in managers:
                    await running.enter_async_context(manager.run())
                yield
                await calls.drain()
        finally:
            watcher.cancel()

    return lifespan
