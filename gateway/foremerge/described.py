"""The JSON API's routes as OpenAPI describes them, made from the one table and its models."""

import re
from typing import Any, Literal

from pydantic import BaseModel, create_model

from protocol.foremerge.conflicts import Conflict, ConflictDetection
from protocol.foremerge.envelope import Failure
from protocol.foremerge.errors import ERRORS
from protocol.foremerge.intents import Assessment
from protocol.foremerge.ledger import ChainAudit, EventEnvelope, Graph
from protocol.foremerge.messages import CoordinationMessage
from protocol.foremerge.operators import OPERATOR_ANSWERS
from protocol.foremerge.routes import Route
from protocol.foremerge.tools import FOREMERGE_BY_NAME
from protocol.foremerge.validations import ValidationAttempt
from protocol.foremerge.wire import ForemergeAnswer
from protocol.foremerge.words import ConflictStatus, IntentStatus
from protocol.schemas import input_schema

_IN_PATH = re.compile(r"{(\w+)}")
_ANSWERS: dict[str, Any] = {
    "audit": ChainAudit,
    "events": list[EventEnvelope],
    "graph": Graph,
    "inbox": list[CoordinationMessage],
    "assessments": list[Assessment],
    "conflicts": list[Conflict],
    "detections": list[ConflictDetection],
    "validation_attempts": list[ValidationAttempt],
    **OPERATOR_ANSWERS,
}
_SUMMARIES = {
    "audit": "Whether the ledger's chain of hashes holds",
    "events": "The ledger after a seq, oldest first",
    "graph": "The semantic graph",
    "inbox": "The messages to an agent, oldest first",
    "assessments": "The assessments of an intent, oldest first",
    "conflicts": "The stored conflicts, newest first",
    "detections": "Each time a conflict was seen, oldest first",
    "validation_attempts": "Every run of a check on a ChangeSet, newest first",
    "publish_inferring": "Publish an intent, the operation on some of its scopes read from its summary",
    "adopt_work": "Take over what a silent agent left",
    "release_claims": "Give claims back before their leases end; all of the intent's own without scopes",
    "read_messages": "Note that an agent has read messages of its inbox",
    "check_inferring": "Check for conflicts, the operation on some scopes read from the words",
    "run_command": "Run an owner's own command on a ChangeSet, as it was published",
    "binding": "The repository on the server's disk that the project is bound to",
    "bind": "Bind the project to a repository on the server's disk, as an owner",
}
_WORK_QUERY = {
    "agent_id": {"type": "string"},
    "status": {"type": "string", "enum": list(IntentStatus)},
    "scope": {"type": "string", "description": "KIND:KEY, such as symbol:Report::render."},
    "limit": {"type": "integer", "minimum": 1, "maximum": 500, "default": 50},
}
_QUERIES: dict[str, dict[str, Any]] = {
    "query_work": _WORK_QUERY,
    "status": {"inbox_of": {"type": "string", "description": "An agent's id, for its unread messages."}},
    "conflicts": {"status": {"type": "string", "enum": list(ConflictStatus)}},
}


def answer_model(operation: str) -> type[BaseModel]:
    """The whole body of a success."""
    return create_model(
        f"Told{operation.title().replace('_', '')}",
        __base__=ForemergeAnswer,
        ok=(Literal[True], True),
        data=(_data(operation), ...),
    )


def _data(operation: str) -> Any:
    tool = FOREMERGE_BY_NAME.get(operation)
    if tool is None:
        return _ANSWERS[operation]
    return list[tool.answer] if tool.many else tool.answer  # type: ignore[name-defined]


def summary(operation: str) -> str:
    """What a route does, in a line."""
    tool = FOREMERGE_BY_NAME.get(operation)
    return _SUMMARIES[operation] if tool is None else tool.description


def failures() -> dict[int | str, dict[str, Any]]:
    """What any route may answer instead: the statuses, each with its codes."""
    codes: dict[int | str, list[str]] = {}
    for code, facts in ERRORS.items():
        if facts.http is not None:
            codes.setdefault(facts.http, []).append(code)
    return {status: {"model": Failure, "description": ", ".join(named)} for status, named in codes.items()}


def extra(route: Route) -> dict[str, Any]:
    """The parameters and the body of a route."""
    described: dict[str, Any] = {"parameters": _in_path(route.path) + _in_query(route)}
    if route.method == "POST" and route.input is not None:
        content = {"application/json": {"schema": input_schema(route.input)}}
        described["requestBody"] = {"required": True, "content": content}
    if not route.public:
        described["security"] = [{"bearer": []}]
    return described


def _in_path(path: str) -> list[dict[str, Any]]:
    return [
        {"name": name, "in": "path", "required": True, "schema": {"type": "string"}}
        for name in _IN_PATH.findall(path)
    ]


def _in_query(route: Route) -> list[dict[str, Any]]:
    if route.method != "GET":
        return []
    schemas = _QUERIES.get(route.operation)
    if schemas is None:
        schemas = input_schema(route.input)["properties"] if route.input else {}
    return [{"name": name, "in": "query", "schema": schema} for name, schema in schemas.items()]
