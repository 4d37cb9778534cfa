"""The JetStream stream that keeps a week of events for other services, and the form of a message.

The stream is a copy with an expiry date; the record keeps everything.
"""

from typing import Any

from nats.js import JetStreamContext
from nats.js.api import RetentionPolicy, StorageType, StreamConfig, StreamInfo
from nats.js.errors import NotFoundError

from bus.subjects import EVERYTHING
from protocol.events import Event, compact_json

STREAM = "GITRING"
MAX_MESSAGE_BYTES = 64 * 1024
MAX_AGE_SECONDS = 7 * 24 * 3600
DUPLICATE_WINDOW_SECONDS = 10 * 60

MSG_ID_HEADER = "Nats-Msg-Id"
SEQ_HEADER = "Gitring-Seq"

# The server counts headers into a message's size.
_MAX_BODY_BYTES = MAX_MESSAGE_BYTES - 1024

_WANTED: dict[str, Any] = {
    "subjects": [EVERYTHING],
    "storage": StorageType.FILE,
    "retention": RetentionPolicy.LIMITS,
    "max_age": float(MAX_AGE_SECONDS),
    "deny_delete": True,
    "allow_direct": True,
    "duplicate_window": float(DUPLICATE_WINDOW_SECONDS),
    "max_msg_size": MAX_MESSAGE_BYTES,
}


async def ensure_stream(js: JetStreamContext, *, replicas: int | None = None) -> StreamInfo:
    """Create the stream, or bring an older one to this version's settings; safe to repeat.

    What is not named here (and `replicas` when None) stays as an operator set it on an existing stream.
    Raises nats.errors.Error when JetStream does not answer or refuses.
    """
    wanted = _WANTED if replicas is None else _WANTED | {"num_replicas": replicas}
    try:
        found = await js.stream_info(STREAM)
    except NotFoundError:
        return await js.add_stream(StreamConfig(name=STREAM, **wanted))
    if all(getattr(found.config, name) == value for name, value in wanted.items()):
        return found
    return await js.update_stream(found.config.evolve(**wanted))


def message_of(project_id: str, event: Event) -> bytes:
    """The body of an event's message: its JSON with `project_id`.

    The payload is written as the ledger's hash covers it, so a service can check the chain. A body the
    stream would refuse for its size carries the payload `{"truncated": true, "seq": N}` instead: the
    service reads that seq from the record.
    """
    body = _encode(project_id, event, event.payload)
    if len(body) > _MAX_BODY_BYTES:
        return _encode(project_id, event, {"truncated": True, "seq": event.seq})
    return body


def headers_of(event: Event) -> dict[str, str]:
    """The headers of an event's message: its id, by which repeats are dropped, and its seq."""
    return {MSG_ID_HEADER: event.event_id, SEQ_HEADER: str(event.seq)}


def _encode(project_id: str, event: Event, payload: dict[str, Any]) -> bytes:
    fields = {"project_id": project_id} | event.model_dump(mode="python") | {"payload": payload}
    return compact_json(fields).encode()
