"""An intent's events as sentences. What a payload holds is bounded here and escaped by the template."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from gateway.text.untrusted import counted, listed, one_line
from gateway.web.foremerge_moments import FOREMERGE_SENTENCES
from protocol.events import Event, EventType
from protocol.ids import short

_DECIDED = {
    "plan_approved": "approved plan v{plan_version}",
    "plan_returned": "sent plan v{plan_version} back",
    "merge_approved": "approved the merge",
    "merge_returned": "sent the merge back",
    "conflict_settled": "settled a conflict",
    "drift_accepted": "accepted what lies outside the plan",
    "emergency_checked": "had it land before all others, after its checks",
    "emergency_unchecked": "had it land before all others, without checks",
}
# How a dot in the timeline is coloured.
_TONES = {
    "passed": "ok", "skipped": "ok", "merged": "ok", "failed": "bad", "error": "bad", "withdrawn": "off", "held": "hold",
}  # fmt: skip


class Moment(NamedTuple):
    """One line of the timeline."""

    seq: int
    at: str
    actor: str | None
    text: str
    tone: str


def moments(events: Sequence[Event], names: Mapping[str, str]) -> list[Moment]:
    """The newest first; `names` are those of agents whose events carry their id."""
    return [
        Moment(event.seq, event.created_at, _actor(event, names), sentence(event), _tone(event))
        for event in reversed(events)
    ]


def _actor(event: Event, names: Mapping[str, str]) -> str | None:
    return None if event.agent_id is None else names.get(event.agent_id, event.agent_id)


def sentence(event: Event) -> str:
    """What happened, in a sentence; an event without words of its own is named by its type."""
    say = _SENTENCES.get(event.event_type) or FOREMERGE_SENTENCES.get(event.event_type)
    return say(event.payload) if say else event.event_type.replace("_", " ").replace(".", " ").capitalize()


def _tone(event: Event) -> str:
    state = event.payload.get("to") or event.payload.get("state")
    return _TONES.get(str(state), "")


def _state(word: Any) -> str:
    return one_line(str(word), 40).replace("_", " ").capitalize()


def _commit(value: Any) -> str:
    return short(one_line(str(value), 40)) if value else "nothing"


def _numbers(value: Any) -> str:
    found = value if isinstance(value, list) else []
    return listed([f"#{number}" for number in found])


def _count(value: Any, noun: str) -> str:
    return counted(value, noun) if isinstance(value, int) else noun + "s"


def _line_moved(p: dict[str, Any]) -> str:
    who = " from outside" if p.get("outside") else f": {_numbers(p.get('merged'))} landed"
    return f"The line moved to {_commit(p.get('to'))}{who}"


def _named(words: str) -> Callable[[dict[str, Any]], str]:
    return lambda p: f"{words} {one_line(str(p.get('name')), 100)}"


def _moved(p: dict[str, Any]) -> str:
    why = f" ({one_line(str(p['why']).replace('_', ' '), 100)})" if p.get("why") else ""
    return f"{_state(p.get('from'))} → {_state(p.get('to'))}{why}"


def _decided(p: dict[str, Any]) -> str:
    words = _DECIDED.get(str(p.get("kind")), one_line(str(p.get("kind")), 40))
    said = words.replace("{plan_version}", one_line(str(p.get("plan_version")), 10))
    at = f" at {_commit(p['head'])}" if p.get("head") and "merge" in words else ""
    return f"{one_line(str(p.get('person')), 100)} {said}{at}"


def _risk(p: dict[str, Any]) -> str:
    reasons = p.get("reasons")
    why = f": {listed([str(reason) for reason in reasons])}" if isinstance(reasons, list) and reasons else ""
    return f"Risk is {one_line(str(p.get('risk')), 20)} now{why}"


def _checked(p: dict[str, Any]) -> str:
    summary = f": {one_line(str(p['summary']), 300)}" if p.get("summary") else ""
    reused = " (reused)" if p.get("reused") else ""
    return f"{_check(p)} {one_line(str(p.get('state')), 20)}{reused}{summary}"


def _check(p: dict[str, Any]) -> str:
    """The check's name; a ledger of before had but one, without a name."""
    name = p.get("name")
    return f"Check {one_line(str(name), 64)}" if name and name != "test" else "Checks"


def _flaky(p: dict[str, Any]) -> str:
    test = f" in {one_line(str(p['test']), 200)}" if p.get("test") else ""
    return f"{_check(p)} red and green on one tree{test}: flaky"


def _conflict(word: str) -> Callable[[dict[str, Any]], str]:
    def say(p: dict[str, Any]) -> str:
        pair = f"#{p.get('first')} goes before #{p.get('second')}"
        rule = one_line(f"{p.get('rule')}", 20)
        return one_line(
            f"Conflict {word}: {pair} (range {p.get('range')}, {p.get('verdict')}, rule {rule})", 200
        )

    return say


_SENTENCES: dict[str, Callable[[dict[str, Any]], str]] = {
    EventType.INTENT_DECLARED: lambda p: f"Declared. Risk {one_line(str(p.get('risk')), 20)}",
    EventType.INTENT_STATE_CHANGED: _moved,
    EventType.PLAN_CHANGED: lambda p: f"Plan v{one_line(str(p.get('version')), 10)}",
    EventType.RISK_CHANGED: _risk,
    EventType.INTENT_PUSHED: lambda p: (
        f"Pushed {_commit(p.get('new'))}; changes {_count(p.get('paths'), 'path')}"
    ),
    EventType.INTENT_SUBMITTED: lambda p: f"Submitted {_commit(p.get('head'))}",
    EventType.CONFLICT_OPENED: _conflict("found"),
    EventType.CONFLICT_CHANGED: _conflict("changed"),
    EventType.CONFLICT_ENDED: _conflict("over"),
    EventType.CHANGE_REQUEST_OPENED: lambda p: f"Change request opened ({one_line(str(p.get('kind')), 40)})",
    EventType.CHANGE_REQUEST_CLOSED: lambda p: f"Change request closed: {one_line(str(p.get('how')), 200)}",
    EventType.DECISION_RECORDED: _decided,
    EventType.CHECK_STARTED: lambda p: f"{_check(p)} began on {_commit(p.get('head'))}",
    EventType.CHECK_FINISHED: _checked,
    EventType.CHECK_FLAKY: _flaky,
    EventType.BASE_MOVED: lambda p: (
        f"The line moved to {_commit(p.get('to'))}: {_numbers(p.get('merged'))} merged"
    ),
    EventType.LINE_MOVED: _line_moved,
    EventType.LINE_DRAINING: lambda p: (
        f"The queue runs empty, then stands still: {one_line(str(p.get('reason')), 300)}"
    ),
    EventType.LINE_PAUSED: lambda p: f"The queue was paused: {one_line(str(p.get('reason')), 300)}",
    EventType.LINE_RESUMED: lambda _: "The queue was resumed",
    EventType.TOKEN_CREATED: _named("Token made:"),
    EventType.TOKEN_REVOKED: _named("Token revoked:"),
    EventType.MEMBER_ADDED: lambda p: (
        f"{one_line(str(p.get('name')), 100)} joined as {one_line(str(p.get('role')), 20)}"
    ),
    EventType.MEMBER_ROLE_CHANGED: lambda p: (
        f"{one_line(str(p.get('name')), 100)} is {one_line(str(p.get('role')), 20)} now"
    ),
    EventType.MEMBER_REMOVED: _named("Left the project:"),
    EventType.ASK_OPENED: lambda p: f"{one_line(str(p.get('person')), 100)} asked their agents for something",
    EventType.ASK_DECLARED: lambda p: f"Takes up an ask, as #{p.get('number')}",
    EventType.ASK_CLOSED: lambda p: f"{one_line(str(p.get('person')), 100)} closed an ask",
    EventType.SETTINGS_CHANGED: lambda p: (
        f"Settings changed: {listed([str(one) for one in p.get('fields') or []])}"
    ),
    EventType.WATCH_RAISED: lambda p: f"Watchdog: {one_line(str(p.get('said')), 400)}",
    EventType.WATCH_CLEARED: lambda p: f"Watchdog: over. {one_line(str(p.get('said')), 200)}",
    EventType.CLAIM_RESERVED: lambda p: f"Reserved {listed([str(one) for one in p.get('reserved') or []])}",
}
