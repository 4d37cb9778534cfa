"""The protocol of this face: the tools, the codes, the shapes."""

from typing import Any

import pytest
from pydantic import ValidationError

from protocol.events import Event
from protocol.foremerge.envelope import Failure, Success
from protocol.foremerge.errors import ERRORS, ErrorCode, foremerge_refusal, in_foremerge_words
from protocol.foremerge.intents import PublishIntentInput
from protocol.foremerge.ledger import EventEnvelope
from protocol.foremerge.routes import ROUTES
from protocol.foremerge.tools import FOREMERGE_TOOLS
from protocol.foremerge.validations import RunVerificationInput, ValidationRequest
from protocol.foremerge.work import QueryWorkInput
from protocol.refusals import busy, invalid_input, refused
from protocol.schemas import input_schema

NAMES = [
    "accept_changeset",
    "check_conflicts",
    "claim_work",
    "coordinate_with_agent",
    "discard_work",
    "get_changeset",
    "get_intent",
    "list_agents",
    "publish_changeset",
    "publish_intent",
    "query_work",
    "record_assessment",
    "record_commit",
    "register_agent",
    "resolve_conflict",
    "run_verification",
    "start_work",
    "status",
]


def test_there_are_eighteen_tools_in_order_of_their_names() -> None:
    assert [tool.name for tool in FOREMERGE_TOOLS] == NAMES
    reads = {tool.name for tool in FOREMERGE_TOOLS if tool.hints["readOnlyHint"]}
    assert reads == {"check_conflicts", "get_changeset", "get_intent", "list_agents", "query_work", "status"}
    assert {tool.name for tool in FOREMERGE_TOOLS if tool.hints["idempotentHint"]} == reads - {
        "check_conflicts"
    }
    assert [tool.name for tool in FOREMERGE_TOOLS if tool.hints["destructiveHint"]] == ["discard_work"]
    assert not any(tool.hints["openWorldHint"] for tool in FOREMERGE_TOOLS)
    assert [tool.name for tool in FOREMERGE_TOOLS if tool.many] == ["list_agents", "query_work"]


def undescribed(node: Any, where: str) -> list[str]:
    if isinstance(node, list):
        return [found for item in node for found in undescribed(item, where)]
    if not isinstance(node, dict):
        return []
    named = node.get("properties", {})
    missing = [f"{where}.{name}" for name, value in named.items() if not value.get("description")]
    below = [found for name, value in named.items() for found in undescribed(value, f"{where}.{name}")]
    rest = [undescribed(value, where) for key, value in node.items() if key != "properties"]
    return [*missing, *below, *(found for one in rest for found in one)]


@pytest.mark.parametrize("tool", FOREMERGE_TOOLS, ids=lambda tool: tool.name)
def test_every_property_of_every_input_is_described_and_no_other_is_taken(tool: Any) -> None:
    schema = input_schema(tool.input)
    assert undescribed(schema, tool.name) == []
    assert schema["additionalProperties"] is False


def test_the_overrides_of_acceptance_are_not_listed() -> None:
    (accept,) = (tool for tool in FOREMERGE_TOOLS if tool.name == "accept_changeset")
    assert list(input_schema(accept.input)["properties"]) == ["changeset_id", "git_ref"]


def test_a_validation_takes_the_name_of_a_check_and_no_command() -> None:
    with pytest.raises(ValidationError, match="command"):
        ValidationRequest.model_validate({"check": "unit", "command": ["sh"]})
    for name in ("", "-x", "a b", "x" * 65):
        with pytest.raises(ValidationError):
            RunVerificationInput(changeset_id="chg_1", check=name)


def test_the_codes_have_their_statuses() -> None:
    assert ERRORS.keys() == set(ErrorCode)
    by_status: dict[int | None, list[str]] = {}
    for code, facts in ERRORS.items():
        by_status.setdefault(facts.http, []).append(code.value)
    assert by_status[422] == (
        [
            "INVALID_TRANSITION",
            "CHECK_FAILED",
            "STALE_CHANGESET",
            "BLOCKING_CONFLICT",
            "UNSATISFIED_DEPENDENCY",
            "TARGET_DIVERGED",
        ]
    )
    assert by_status[400] == ["INVALID_INPUT"]
    assert by_status[409] == ["STATE_RACE"]
    assert by_status[413] == ["RESOURCE_LIMIT"]
    assert by_status[503] == ["NOT_READY"]


def test_a_refusal_from_anywhere_gets_a_code_of_this_face() -> None:
    assert in_foremerge_words(invalid_input("Bad.").refusal).code == "INVALID_INPUT"
    told = in_foremerge_words(refused("wrong_state", "No.", "Wait.").refusal)
    assert (told.code, told.status) == ("INVALID_TRANSITION", 422)
    assert in_foremerge_words(busy("It").refusal).retry_after_sec == 2.0
    unknown = in_foremerge_words(refused("brand_new", "No.", "Wait.").refusal)
    assert (unknown.code, unknown.status) == ("INTERNAL_ERROR", 500)
    own = foremerge_refusal(ErrorCode.TARGET_DIVERGED, "No.", "Name another.")
    assert in_foremerge_words(own.refusal) is own.refusal
    assert str(own) == "TARGET_DIVERGED: No. Name another."


def test_the_envelope_says_ok_or_code_and_message() -> None:
    assert Success(data=[]).model_dump() == {"ok": True, "data": []}
    own = foremerge_refusal(ErrorCode.NOT_FOUND, "There is no x.", "Look.")
    assert Failure.of(own.refusal).model_dump(mode="json") == {
        "ok": False,
        "error": {"code": "NOT_FOUND", "message": "There is no x. Look."},
    }


def test_there_are_twenty_eight_routes_and_two_need_no_token() -> None:
    assert len({(route.method, route.path) for route in ROUTES}) == len(ROUTES) == 28
    assert [route.path for route in ROUTES if route.public] == ["/healthz", "/readyz"]
    assert all(route.input for route in ROUTES if route.method == "POST")


def publish(**more: Any) -> PublishIntentInput:
    return PublishIntentInput.model_validate({"agent_id": "agt_1", "task": " t ", "summary": "s", **more})


def test_text_is_kept_as_it_was_sent() -> None:
    assert publish().task == " t "


@pytest.mark.parametrize(
    "bad",
    [
        {"metadata": []},
        {"metadata": {"deep": [{"x": "\0"}]}},
        {"metadata": {"many": list(range(3000))}},
        {"summary": "a\0b"},
        {"scopes": [{"kind": "api", "key": f"k{n}", "operation": "add"} for n in range(201)]},
        {"scopez": []},
    ],
)
def test_what_cannot_be_kept_or_costs_too_much_is_refused(bad: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        publish(**bad)


def test_a_limit_outside_its_range_counts_as_its_nearer_end() -> None:
    assert [QueryWorkInput(limit=n).limit for n in (0, 7, 9999)] == [1, 7, 500]


def test_an_event_is_shown_without_what_only_gitring_has() -> None:
    event = Event(
        seq=1,
        event_id="evt_1",
        event_type="intent.published",
        entity_type="Intent",
        entity_id="int_1",
        intent_id="int_1",
        agent_id=None,
        payload={},
        created_at="2026-11-30T12:00:00.000000Z",
        prev_hash="GENESIS",
        event_hash="x",
    )
    assert "intent_id" not in EventEnvelope.of(event).model_dump()
