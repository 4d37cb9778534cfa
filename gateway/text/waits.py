"""Lines of `gitring_wait`: the events that ended the wait, then where the intent stands."""

from collections.abc import Iterator
from typing import Any

from gateway.text.intents import commit, conflicts, latest_check, open_requests
from gateway.text.untrusted import one_line
from protocol.answers import WaitAnswer
from protocol.events import Event
from protocol.states import State

EVENTS_SHOWN = 20


def waited(answer: WaitAnswer) -> Iterator[str]:
    """What happened, one line an event; `Nothing new.` when nothing did."""
    if not answer.events:
        yield "Nothing new."
    for event in answer.events[-EVENTS_SHOWN:]:
        yield event_line(event)
    if len(answer.events) > EVENTS_SHOWN:
        yield f"Before these, {len(answer.events) - EVENTS_SHOWN} more; the JSON of this answer lists all."
    yield f"State: {answer.intent.state.text}."
    kinds = {event.event_type.partition(".")[0] for event in answer.events}
    if "conflict" in kinds:
        yield from conflicts(answer)
    if "check" in kinds:
        yield latest_check(answer.checks)
    if answer.change_requests:
        yield open_requests(answer)


def event_line(event: Event) -> str:
    """`intent.state_changed: Active`: the event's name and, where it has one, what it came to."""
    name = one_line(event.event_type, 60)
    detail = _detail(event)
    return f"{name}: {detail}" if detail else name


def _detail(event: Event) -> str:
    payload = event.payload
    if event.event_type == "base.moved":
        return _moved(payload)
    if event.event_type.startswith("conflict."):
        pair = [payload[side] for side in ("first", "second") if isinstance(payload.get(side), int)]
        return " and ".join(f"#{number}" for number in sorted(pair))
    if event.event_type == "decision.recorded":
        return one_line(str(payload.get("kind", "")), 60)
    for key in ("state", "to"):
        if isinstance(payload.get(key), str):
            return _state(payload[key])
    return ""


def _state(word: str) -> str:
    known = next((state for state in State if state.value == word), None)
    return known.text if known else one_line(word, 60)


def _moved(payload: dict[str, Any]) -> str:
    line = one_line(str(payload.get("line", "the line")), 100)
    start, end = (payload.get(key) for key in ("from", "to"))
    way = f" from {commit(start)} to {commit(end)}" if isinstance(start, str) and isinstance(end, str) else ""
    merged = [f"#{number}" for number in payload.get("merged") or () if isinstance(number, int)]
    return f"{line} moved{way}" + (f" when {', '.join(merged)} merged" if merged else "")
