"""Both doors of the Foremerge face, ready to be put into gitring's app."""

from collections.abc import Collection
from typing import NamedTuple

from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from starlette.routing import Route
from starlette.types import ASGIApp

from gateway.calls import Calls, Stop
from gateway.foremerge.door import ForemergeDoor
from gateway.foremerge.router import build_api
from gateway.foremerge.runs import ForemergeRuns
from gateway.foremerge.server import build_server
from gateway.foremerge.surface import ForemergeSurface
from gateway.limits import Limits
from gateway.metrics import Metrics

MCP_PATH = "/mcp/foremerge"
API_PATH = "/v1"


class Face(NamedTuple):
    """`manager` runs for the life of the app; `api` answers all that lies under `API_PATH`."""

    manager: StreamableHTTPSessionManager
    routes: list[Route]
    api: ASGIApp


def build_face(
    surface: ForemergeSurface,
    calls: Calls,
    stop: Stop,
    metrics: Metrics,
    limits: Limits,
    hosts: Collection[str],
    version: str,
) -> Face:
    """The face over `surface`; `hosts` are the names it may be called by, besides loopback."""
    runs = ForemergeRuns(surface, calls, stop, metrics)
    manager = StreamableHTTPSessionManager(
        build_server(runs, version),
        json_response=True,
        stateless=True,
        max_request_body_size=limits.body_bytes,
    )
    door = ForemergeDoor(manager, surface, hosts, limits)
    routes = [Route(MCP_PATH, door), Route(f"{MCP_PATH}/", door)]
    return Face(manager, routes, build_api(runs, limits, version))
