"""Every route of the app, read from the app itself: what is added later is attacked too, or fails a test until it is listed."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from fastapi import FastAPI
from fastapi.routing import APIRoute
from starlette.routing import Mount, Route

from gateway.rest.examples import EXAMPLES
from protocol.tools import TOOLS

READS = {"GET", "HEAD"}
IN_PATH = re.compile(r"{(\w+)(?::path)?}")
# By name of a parameter or of a field, the kinds of ids that it takes: tables of the record, and three words.
KINDS: Mapping[str, tuple[str, ...]] = {
    "project_id": ("project", "slug"),
    "projectId": ("project", "slug"),
    "projects": ("project", "slug"),
    "slug": ("slug", "project"),
    "intent_id": ("intent",),
    "intentId": ("intent",),
    "intentIds": ("intent",),
    "dependsOn": ("intent",),
    "check_id": ("check_run",),
    "ask_id": ("ask",),
    "askId": ("ask",),
    "changeRequestId": ("change_request",),
    "conflictId": ("conflict",),
    "conflict": ("conflict",),
    "token_id": ("token",),
    "person_id": ("person",),
    "personId": ("person",),
    "person": ("person",),
    "line": ("line",),
    "target": ("line",),
    "number": ("number",),
}
# Ids in the right form that nothing has, by kind.
ULID = "01ARZ3NDEKTSV4RRFFQ69G5FAV"
ABSENT: Mapping[str, str] = {
    "project": f"prj_{ULID}",
    "slug": "nowhere",
    "intent": f"int_{ULID}",
    "check_run": f"chk_{ULID}",
    "ask": f"ask_{ULID}",
    "change_request": f"chq_{ULID}",
    "conflict": f"cnf_{ULID}",
    "token": f"tok_{ULID}",
    "session": f"ses_{ULID}",
    "person": f"per_{ULID}",
    "line": "nowhere",
    "number": "1",
}


@dataclass(frozen=True)
class Call:
    """One operation of REST with a valid body: its example of the API's description."""

    method: str
    path: str
    body: Any = None
    query: Mapping[str, Any] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """`POST /api/v1/intents`."""
        return f"{self.method} {self.path}"

    @property
    def parameters(self) -> list[str]:
        """The ids in the address."""
        return IN_PATH.findall(self.path)

    def address(self, ids: Mapping[str, str]) -> str:
        """The path with these ids in it."""
        return IN_PATH.sub(lambda found: ids[found[1]], self.path)


def rest_calls(app: FastAPI) -> list[Call]:
    """What `/openapi.json` describes below /api."""
    found = []
    for path, operations in app.openapi()["paths"].items():
        if not path.startswith("/api/"):
            continue
        for method, operation in operations.items():
            content = operation.get("requestBody", {}).get("content", {}).get("application/json", {})
            examples = content.get("examples", {})
            body = next(iter(examples.values()))["value"] if examples else ({} if content else None)
            found.append(Call(method.upper(), path, body, _needed(operation)))
    return found


def _needed(operation: Mapping[str, Any]) -> dict[str, Any]:
    """The query that a call cannot do without, and no waiting."""
    named = {p["name"]: p for p in operation.get("parameters", []) if p["in"] == "query"}
    query: dict[str, Any] = {name: 0 for name in named if name in ("seconds", "wait", "afterSeq")}
    query |= {name: [ABSENT["intent"]] for name in named if name == "intentIds"}
    missing = [name for name, p in named.items() if p["required"] and name not in query]
    assert not missing, f"say in _needed what {missing} may be"
    return query


def api_routes(app: FastAPI) -> set[str]:
    """`METHOD path` of each route below /api that the router knows, in the description or not."""
    return {
        f"{method} {path}"
        for path, methods in _paths(app)
        for method in methods - {"HEAD"}
        if path.startswith("/api/")
    }


def is_stream(path: str) -> bool:
    """Whether an address answers with events for as long as its caller listens."""
    return path.rpartition("/")[2] in ("live", "stream")


def page_routes(app: FastAPI) -> list[tuple[str, str]]:
    """(method, path) of every route that is neither the API nor a machine's door."""
    doors = ("/api/", "/mcp", "/openapi.json", "/healthz", "/readyz", "/metrics")
    return [
        (method, path)
        for path, methods in _paths(app)
        if not path.startswith(doors)
        for method in sorted(methods - {"HEAD"})
    ]


def _paths(app: FastAPI) -> Iterator[tuple[str, set[str]]]:
    for route in _flat(app.router.routes):
        yield getattr(route, "path_format", route.path), set(route.methods or {"GET", "POST"})


def _flat(routes: Any) -> Iterator[Any]:
    for route in routes:
        if isinstance(route, Mount):
            continue
        if isinstance(route, Route | APIRoute):
            yield route
        else:
            yield from route.effective_route_contexts()  # a router that was included


def tool_arguments(name: str) -> dict[str, Any]:
    """Valid arguments of a tool, but for the ids in them."""
    tool = next(tool for tool in TOOLS if tool.name == name)
    given = dict(EXAMPLES.get(tool.input, {}))
    needed = tool.input.model_json_schema(by_alias=True)
    given |= {field: ABSENT["intent"] for field in needed.get("required", []) if field == "intentId"}
    if "afterSeq" in needed["properties"]:
        given["afterSeq"] = 0
    if "seconds" in needed["properties"]:
        given["seconds"] = 0
    return given
