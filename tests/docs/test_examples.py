"""Every example in the documents is one that the code takes or gives."""

import json
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from nats.js import JetStreamContext
from pydantic import BaseModel

from bus.connect import connect
from bus.stream import ensure_stream, headers_of, message_of
from bus.subjects import subject
from gateway.text.blocks import change_request_block
from protocol import answers, asks, intents, people, projects
from protocol.answers import ChangeRequestView
from protocol.events import Event, compact_json, event_hash
from protocol.ids import new_id
from protocol.wire import Input
from rules.git_commands import GitAddress, intent_ref
from tests.docs.pages import OPERATE, PAGES, PROTOCOL, Fence, fences

JSON = [fence for page in PAGES for fence in fences(page) if fence.info.startswith("json ")]
UNNAMED = [fence for page in PAGES for fence in fences(page) if fence.info == "json"]
BLOCKS = [fence for page in PAGES for fence in fences(page) if fence.info == "text"]


def model_of(fence: Fence) -> type[BaseModel]:
    """The model that an example's info string names."""
    name = fence.info.removeprefix("json").strip()
    found = {"Event": Event}.get(name) or next(
        (
            getattr(module, name)
            for module in (intents, projects, people, asks, answers)
            if hasattr(module, name)
        ),
        None,
    )
    assert found is not None, f"{fence.page.name}: name the model of the example, as in ```json DeclareInput"
    return found


@pytest.mark.parametrize("fence", JSON, ids=lambda fence: f"{fence.page.stem}-{fence.info}")
def test_an_example_is_valid_and_has_no_field_its_model_does_not_know(fence: Fence) -> None:
    model = model_of(fence)
    example = json.loads(fence.text)
    shown = model.model_validate(example).model_dump(mode="json", by_alias=True)
    assert example.keys() <= shown.keys()
    if not issubclass(model, Input):
        assert {key: shown[key] for key in example} == example


def test_an_example_without_a_model_is_other_programs_json_and_well_formed() -> None:
    assert [fence.page for fence in UNNAMED if fence.page.parent.name == "docs"] == []
    for fence in UNNAMED:
        json.loads(fence.text)


def test_the_protocol_page_has_an_example_of_every_input_with_a_body() -> None:
    shown = {model_of(fence).__name__ for fence in JSON if fence.page == PROTOCOL}
    assert {"DeclareInput", "UpdatePlanInput", "SubmitInput", "WaitInput", "CreateProject", "Event"} <= shown


def test_the_change_request_blocks_are_what_the_server_makes_of_their_json() -> None:
    found = fences(PROTOCOL)
    pairs = [(one, after) for one, after in pairwise(found) if "ChangeRequestView" in one.info]
    assert len(pairs) == 2
    for example, block in pairs:
        request = ChangeRequestView.model_validate_json(example.text)
        assert change_request_block(request) == block.text.rstrip("\n")


def test_every_block_shown_anywhere_has_the_fixed_form() -> None:
    headers = 0
    for fence in BLOCKS:
        lines = fence.text.splitlines()
        starts = [n for n, line in enumerate(lines) if line.startswith("GITRING CHANGE REQUEST ")]
        headers += len(starts)
        for start in starts:
            do = next(n for n in range(start, len(lines)) if lines[n].startswith("Do: "))
            assert all(line[:2] in ("  ", "> ") for line in lines[start + 1 : do]), fence
    assert headers >= 4


def test_the_push_line_is_the_one_that_agents_get() -> None:
    address = GitAddress("https://gitring.example.com", "prj_01JBQ7XK2M9T4V6W8Y0A3C5E7G")
    line = address.push(intent_ref("int_01JBQ8M4ZK7V3XW9N2D5HT6RYE"))
    assert line in [fence.text.rstrip("\n") for fence in BLOCKS if fence.page == PROTOCOL]


def test_the_hash_of_the_example_event_follows_from_its_fields() -> None:
    [fence] = [fence for fence in JSON if fence.info == "json Event"]
    event = Event.model_validate_json(fence.text)
    assert event.event_hash == event_hash(
        event.prev_hash,
        event.event_id,
        event.event_type,
        event.entity_type,
        event.entity_id,
        event.agent_id,
        event.created_at,
        compact_json(event.payload),
    )


async def _publish(js: JetStreamContext, project_id: str, seq: int) -> None:
    [fence] = [fence for fence in JSON if fence.info == "json Event"]
    event = Event.model_validate_json(fence.text).model_copy(update={"seq": seq, "event_id": new_id("evt")})
    name = subject(project_id, event.intent_id, event.event_type)
    await js.publish(name, message_of(project_id, event), headers=headers_of(event))


async def test_the_service_on_the_operators_page_reads_each_event_and_goes_on_where_it_left_off(
    nats_url: str, tmp_path: Path
) -> None:
    [fence] = [fence for fence in fences(OPERATE) if fence.info == "python"]
    service: dict[str, Any] = {}
    exec(compile(fence.text, str(OPERATE), "exec"), service)
    project_id = new_id("prj")
    link = await connect(nats_url, "docs")
    try:
        await ensure_stream(link.jetstream)
        for seq in (1, 2):
            await _publish(link.jetstream, project_id, seq)
        assert await _take(service, nats_url, project_id, 2) == [1, 2]
        await _publish(link.jetstream, project_id, 3)
        # The second was read and not done with when the service left, so it comes again.
        assert set(await _take(service, nats_url, project_id, 1)) <= {2, 3}
    finally:
        await link.close()


async def _take(service: dict[str, Any], url: str, project_id: str, count: int) -> list[int]:
    events = service["events"](url, project_id, "notes")
    try:
        return [(await anext(events))["seq"] for _ in range(count)]
    finally:
        await events.aclose()
