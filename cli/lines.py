"""An answer about an intent, and an event, as plain lines for people."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from cli.clean import lines_of, one_line

_SHOWN = 20


def detail_lines(answer: dict[str, Any]) -> Iterator[str]:
    """Where an intent stands, what it meets, what it is asked to do, and the next step."""
    yield from _heading(answer["intent"])
    for conflict in answer.get("conflicts", [])[:_SHOWN]:
        numbers = " and ".join(f"#{number}" for number in conflict["intents"])
        yield f"  meets    {numbers}: {one_line(conflict['text'])}"
    for request in answer.get("changeRequests", [])[:_SHOWN]:
        yield from _request(request)
    if left := answer.get("notYetChanged"):
        yield f"  to do    {_listed(left)}"
    for place in answer.get("doNotChange", [])[:_SHOWN]:
        yield f"  leave    {one_line(place['place'])}: {one_line(place['why'])}"
    if drift := answer.get("drift"):
        yield f"  drift    {_listed(drift)} was changed and not declared"
    for check in newest_of_each(answer.get("checks", [])):
        yield f"  check    {one_line(check['state'], 40)} {one_line(check['summary'], 200)} ({check['id']})"
    for said in answer.get("said", [])[:_SHOWN]:
        yield f"  said     {one_line(said)}"
    yield f"  next     {one_line(answer['next'], 2000)}"


def _heading(intent: dict[str, Any]) -> Iterator[str]:
    state = str(intent["state"]).replace("_", " ")
    yield f'{intent["project"]}#{intent["number"]} "{one_line(intent["title"], 120)}" is {one_line(state, 40)}'
    yield f"  id       {intent['id']}"
    yield f"  plan     v{intent['plan']['version']}: {one_line(intent['plan']['summary'], 200)}"
    if change := [place_text(item) for item in intent["plan"]["scope"]["change"]]:
        yield f"  changes  {_listed(change)}"
    if use := [place_text(item) for item in intent["plan"]["scope"]["use"]]:
        yield f"  uses     {_listed(use)}"
    if intent["riskReasons"]:
        yield f"  risk     {intent['risk']}: {_listed(intent['riskReasons'])}"
    if intent["head"]:
        yield f"  head     {one_line(intent['head'], 12)}"
    if intent["mergedCommit"]:
        yield f"  merged   {one_line(intent['mergedCommit'], 12)} on {one_line(intent['line'], 80)}"


def _request(request: dict[str, Any]) -> Iterator[str]:
    blocking = "blocking " if request["blocking"] else ""
    yield f"  {blocking}request {request['id']} from {one_line(request['from'], 80)}: {one_line(request['reason'])}"
    for line in lines_of(str(request["do"]))[:_SHOWN]:
        yield f"    > {line}"


def place_text(item: dict[str, Any]) -> str:
    """`path` or `path#symbol`."""
    return f"{item['path']}#{item['symbol']}" if item.get("symbol") else str(item["path"])


def plan_lines(answer: dict[str, Any]) -> Iterator[str]:
    """The whole current plan."""
    plan = answer["intent"]["plan"]
    yield f"{answer['intent']['project']}#{answer['intent']['number']} plan v{plan['version']}"
    yield from (f"  {line}" for line in lines_of(plan["summary"]))
    yield from (f"  {number}. {one_line(step)}" for number, step in enumerate(plan["steps"], 1))
    yield from (f"  changes {one_line(place_text(item))}" for item in plan["scope"]["change"])
    yield from (f"  uses {one_line(place_text(item))}" for item in plan["scope"]["use"])


def event_line(event: dict[str, Any]) -> str:
    """One event: its seq, when, what, and the payload's plain values."""
    payload = event["payload"] if isinstance(event.get("payload"), dict) else {}
    values = [f"{name}={value}" for name, value in payload.items() if isinstance(value, str | int | float)]
    about = event.get("intent_id") or event.get("entity_id")
    when = one_line(str(event["created_at"]).replace("T", " ")[:19], 20)
    return one_line(
        f"{event['seq']:>5}  {when}  {event['event_type']}  {about}  {' '.join(values)}", 300
    ).rstrip()


def _listed(items: list[str]) -> str:
    shown = ", ".join(one_line(item, 200) for item in items[:_SHOWN])
    return shown if len(items) <= _SHOWN else f"{shown} and {len(items) - _SHOWN} more"


def newest_of_each(checks: Sequence[Mapping[str, Any]]) -> Iterator[Mapping[str, Any]]:
    """The newest run of each check; `checks` come newest first."""
    told: set[str] = set()
    for check in checks:
        if (name := str(check.get("name"))) not in told:
            told.add(name)
            yield check
