"""The Foremerge face's events as sentences of an intent's timeline. Other people's words are one bounded line each."""

from collections.abc import Callable
from typing import Any

from gateway.text.untrusted import one_line
from protocol.events import EventType
from protocol.ids import short


def _word(value: Any, most: int = 40) -> str:
    return one_line(str(value).replace("_", " ").lower(), most)


def _of_conflict(words: str) -> Callable[[dict[str, Any]], str]:
    def say(p: dict[str, Any]) -> str:
        found = p.get("conflict")
        facts = found if isinstance(found, dict) else {}
        return f"{words}: {_word(facts.get('kind'))}, {_word(facts.get('severity'))}"

    return say


def _moved(p: dict[str, Any]) -> str:
    return f"Foremerge: {_word(p.get('from'))} → {_word(p.get('to'))}"


def _claimed(p: dict[str, Any]) -> str:
    scope = p.get("scope")
    facts = scope if isinstance(scope, dict) else {}
    named = f"{facts.get('kind')}:{facts.get('key')}"
    return f"Claimed {one_line(named, 200)}"


def _quoted(words: str, field: str) -> Callable[[dict[str, Any]], str]:
    return lambda p: f"{words}: {one_line(str(p.get(field)), 300)}"


FOREMERGE_SENTENCES: dict[str, Callable[[dict[str, Any]], str]] = {
    EventType.INTENT_PUBLISHED: lambda _: "Published through Foremerge",
    EventType.INTENT_ASSESSED: lambda p: (
        f"Assessed by another intent's agent: {_word(p.get('verdict'))}, {_word(p.get('action'))}"
    ),
    EventType.INTENT_ADOPTED: _quoted("Taken over by another agent", "reason"),
    EventType.LIFECYCLE_TRANSITIONED: _moved,
    EventType.VALIDATION_INVALIDATED: _moved,
    EventType.CONFLICT_OVERRIDDEN: _quoted("Open conflicts overridden", "reason"),
    EventType.WORK_DISCARDED: _quoted("Given up", "reason"),
    EventType.CLAIM_CREATED: _claimed,
    EventType.CONFLICT_DETECTED: _of_conflict("Conflict with work of Foremerge"),
    EventType.CONFLICT_REDETECTED: _of_conflict("Conflict seen again"),
    EventType.CONFLICT_RESOLVED: _quoted("Conflict resolved", "resolution"),
    EventType.CONFLICT_DISMISSED: _quoted("Conflict dismissed", "reason"),
    EventType.CHANGESET_PUBLISHED: lambda _: "ChangeSet published",
    EventType.CHANGESET_REVISED: lambda _: "ChangeSet replaced by a newer one",
    EventType.CHANGESET_ACCEPTED: lambda p: (
        f"ChangeSet accepted at {short(one_line(str(p.get('accepted_commit'))))}"
    ),
    EventType.CHANGESET_COMMITTED: lambda p: (
        f"ChangeSet landed with {short(one_line(str(p.get('integration_commit'))))}"
    ),
    EventType.VALIDATION_COMPLETED: lambda p: f"Check {'passed' if p.get('passed') is True else 'failed'}",
    EventType.VALIDATION_STALE: _quoted("Check does not count", "reason"),
    EventType.COORDINATION_SENT: lambda _: "Message from another agent",
}
