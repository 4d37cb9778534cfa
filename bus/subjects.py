"""The subjects of events: `gitring.v1.<project id>.<intent id or _>.<event type>`.

The event type keeps its dots (`…int_X.intent.state_changed`), so `…int_X.>` is everything about one
intent and `….*.line.moved` one kind of event whatever it belongs to.
"""

import re
from typing import NamedTuple

PREFIX = "gitring.v1"
EVERYTHING = f"{PREFIX}.>"
"""The subject filter of all events of all projects."""

NO_INTENT = "_"

# A token is never empty and holds no `.`, `*`, `>` or white space, so an id cannot widen a filter.
_TOKEN = re.compile(r"[A-Za-z0-9_-]{1,64}")
_EVENT_TYPE = re.compile(r"[a-z0-9_]{1,64}(\.[a-z0-9_]{1,64}){0,3}")


class EventSubject(NamedTuple):
    """The parts of an event's subject; `intent_id` is None for an event of the project itself."""

    project_id: str
    intent_id: str | None
    event_type: str


def subject(project_id: str, intent_id: str | None, event_type: str) -> str:
    """The subject one event is published on. Raises ValueError for a part that is no plain token."""
    if not _EVENT_TYPE.fullmatch(event_type):
        raise ValueError(f"{event_type!r} is no event type: lower-case words joined by dots")
    return f"{PREFIX}.{_token(project_id)}.{_intent_token(intent_id)}.{event_type}"


def filter_for(project_id: str, intent_id: str | None = None) -> str:
    """The filter for one project's events, or for one intent's. Raises ValueError for a bad id."""
    if intent_id is None:
        return f"{PREFIX}.{_token(project_id)}.>"
    return f"{PREFIX}.{_token(project_id)}.{_intent_token(intent_id)}.>"


def parse(name: str) -> EventSubject:
    """The parts of the subject `name`. Raises ValueError when it is not one of ours."""
    parts = name.split(".", 4)
    if len(parts) != 5 or f"{parts[0]}.{parts[1]}" != PREFIX:
        raise ValueError(f"{name!r} is no event subject")
    _, _, project_id, intent_id, event_type = parts
    if not (
        _TOKEN.fullmatch(project_id) and _TOKEN.fullmatch(intent_id) and _EVENT_TYPE.fullmatch(event_type)
    ):
        raise ValueError(f"{name!r} is no event subject")
    return EventSubject(project_id, None if intent_id == NO_INTENT else intent_id, event_type)


def _token(value: str) -> str:
    if not _TOKEN.fullmatch(value):
        raise ValueError(f"{value!r} cannot be a token of a subject: letters, digits, - and _ only")
    return value


def _intent_token(intent_id: str | None) -> str:
    if intent_id == NO_INTENT:
        raise ValueError(f"{NO_INTENT!r} stands for no intent and is no intent id")
    return NO_INTENT if intent_id is None else _token(intent_id)
