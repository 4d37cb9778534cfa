"""Numbers for Prometheus: requests by address, how long they took, calls by tool, waits held, queues and findings."""

import time
from collections.abc import Callable

from fastapi import FastAPI
from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, ProcessCollector, generate_latest
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from gateway.limits import is_git
from gateway.metrics_of_record import RecordNumbers
from gateway.watching import ReadNumbers

MEDIA_TYPE = "text/plain; version=0.0.4; charset=utf-8"
_BUCKETS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 200)


class Metrics:
    """The numbers of one app; a registry of its own, so that two apps in one process do not mix."""

    def __init__(self, waits_held: Callable[[], float] | None = None) -> None:
        self.registry = CollectorRegistry()
        ProcessCollector(registry=self.registry)
        self._requests = Counter(
            "gitring_http_requests",
            "Requests answered",
            ["method", "route", "status"],
            registry=self.registry,
        )
        self._seconds = Histogram(
            "gitring_http_request_seconds",
            "From the request's head to the end of its answer",
            ["route"],
            buckets=_BUCKETS,
            registry=self.registry,
        )
        self._calls = Counter(
            "gitring_tool_calls", "Tool calls by outcome", ["tool", "outcome"], registry=self.registry
        )
        held = Gauge("gitring_waits_held", "Calls held until something happens", registry=self.registry)
        held.set_function(waits_held or (lambda: 0.0))

    def tool_called(self, tool: str, outcome: str) -> None:
        """Count one call: `ok`, the code of its refusal, or `left` when the caller went away."""
        self._calls.labels(tool, outcome).inc()

    def answered(self, method: str, route: str, status: int, seconds: float) -> None:
        """Count one HTTP request; status 0 is a client that left before the answer."""
        self._requests.labels(method, route, str(status)).inc()
        self._seconds.labels(route).observe(seconds)


class Measured:
    """ASGI layer that counts each HTTP request under the route that took it, never under its raw path."""

    def __init__(self, app: ASGIApp, metrics: Metrics) -> None:
        self._app = app
        self._metrics = metrics

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        status = 0
        start = time.perf_counter()

        async def watched(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
            await send(message)

        try:
            await self._app(scope, receive, watched)
        finally:
            method = scope["method"] if scope["method"] in _METHODS else "OTHER"
            self._metrics.answered(method, _route(scope), status, time.perf_counter() - start)


_FIXED = frozenset({"/mcp", "/mcp/foremerge", "/openapi.json"})
_METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})


def _route(scope: Scope) -> str:
    path: str | None = getattr(scope.get("route"), "path", None)
    if path is not None:
        return path
    address = scope["path"].removesuffix("/")
    return "/git" if is_git(scope) else address if address in _FIXED else "other"


def add_metrics(app: FastAPI, metrics: Metrics, read: ReadNumbers | None = None) -> None:
    """`GET /metrics` in Prometheus' text form; `read` gives what the record says at each call."""
    of_record = RecordNumbers(metrics.registry, read) if read else None

    @app.get("/metrics", tags=["health"], summary="Numbers for Prometheus", response_class=Response)
    async def numbers() -> Response:
        if of_record is not None:
            await of_record.refresh()
        return Response(generate_latest(metrics.registry), media_type=MEDIA_TYPE)
