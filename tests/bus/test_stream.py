"""The stream's settings, and the form of a message in it."""

import json

from nats.js.api import StorageType, StreamConfig

from bus.stream import MAX_MESSAGE_BYTES, STREAM, ensure_stream, headers_of, message_of
from bus.subjects import subject
from protocol.events import Event, compact_json, event_hash
from protocol.ids import new_id

PROJECT, INTENT = new_id("prj"), new_id("int")


def event_with(payload: dict[str, object]) -> Event:
    return Event(
        seq=7,
        event_id=new_id("evt"),
        event_type="intent.pushed",
        entity_type="Intent",
        entity_id=INTENT,
        intent_id=INTENT,
        agent_id=None,
        payload=payload,
        created_at="2030-01-02T12:00:00.000005Z",
        prev_hash="GENESIS",
        event_hash="0" * 64,
    )


async def test_the_stream_is_made_with_its_settings_and_making_it_again_changes_nothing(own_nats, own_link):
    made = (await own_link.jetstream.stream_info(STREAM)).config
    assert made.subjects == ["gitring.v1.>"]
    assert (made.storage, made.max_age, made.duplicate_window) == (StorageType.FILE, 604_800, 600)
    assert (made.deny_delete, made.allow_direct, made.max_msg_size) == (True, True, 65_536)

    assert (await ensure_stream(own_link.jetstream)).config == made


async def test_an_older_stream_is_brought_up_to_date_and_keeps_its_messages(own_nats, own_link):
    js = own_link.jetstream
    await js.delete_stream(STREAM)
    await js.add_stream(
        StreamConfig(name=STREAM, subjects=["gitring.v1.>"], max_age=60, duplicate_window=30, max_bytes=10**8)
    )
    await js.publish(subject(PROJECT, INTENT, "intent.pushed"), b"{}")

    updated = (await ensure_stream(js)).config
    assert (updated.max_age, updated.duplicate_window, updated.deny_delete) == (604_800, 600, True)
    assert updated.max_bytes == 10**8
    assert (await js.stream_info(STREAM)).state.messages == 1


def test_a_body_is_the_event_with_its_project_and_lets_a_service_check_the_chain():
    event = event_with({"note": "Grüße", "b": 1, "a": [1.5, None]})
    decoded = json.loads(message_of(PROJECT, event))
    assert decoded == event.model_dump() | {"project_id": PROJECT}

    text = compact_json(decoded["payload"])
    arguments = ("GENESIS", event.event_id, "intent.pushed", "Intent", INTENT, None, event.created_at)
    assert event_hash(*arguments, text) == event_hash(*arguments, compact_json(event.payload))


async def test_the_longest_whole_body_is_taken_and_a_longer_one_is_marked(link):
    js = link.jetstream
    name = subject(PROJECT, INTENT, "intent.pushed")
    spare = MAX_MESSAGE_BYTES - 1024 - len(message_of(PROJECT, event_with({"note": ""})))

    whole = event_with({"note": "x" * spare})
    assert json.loads(message_of(PROJECT, whole))["payload"] == whole.payload
    assert (await js.publish(name, message_of(PROJECT, whole), headers=headers_of(whole))).stream == STREAM

    longer = event_with({"note": "é" * spare})
    assert json.loads(message_of(PROJECT, longer)) == longer.model_dump() | {
        "project_id": PROJECT,
        "payload": {"truncated": True, "seq": 7},
    }
    assert (await js.publish(name, message_of(PROJECT, longer), headers=headers_of(longer))).stream == STREAM
