"""The commands about intents: the same calls that agents make, for people and scripts."""

import uuid
from typing import Annotated, Any

import typer

from cli.lines import detail_lines, place_text, plan_lines
from cli.references import intent_id, only_project
from cli.served import served
from cli.session import REFUSED, Failed, Session
from cli.shown import Shown, Table

IntentArgument = Annotated[
    str, typer.Argument(metavar="INTENT", help="Its id (int_…), PROJECT#N, or N with --project.")
]
ProjectOption = Annotated[str | None, typer.Option(help="The project; not needed where the token has one.")]
ChangeOption = Annotated[
    list[str] | None, typer.Option("--change", help="A place you will change: PATH, DIR/ or PATH#symbol.")
]
UseOption = Annotated[list[str] | None, typer.Option("--use", help="A place you rely on unchanged.")]
StepOption = Annotated[list[str] | None, typer.Option("--step", help="A step of the plan, in order.")]
RequestOption = Annotated[
    str | None, typer.Option(help="Repeat a call safely by giving the same id again; new by default.")
]

_REST_WAIT_SEC = 200
_FINAL = ("merged", "withdrawn")


@served
def declare(
    session: Session,
    title: Annotated[str, typer.Option(help="What you will do, in one line.")],
    goal: Annotated[str | None, typer.Option(help="What is better for whom; the title by default.")] = None,
    summary: Annotated[str | None, typer.Option(help="The plan; the title by default.")] = None,
    step: StepOption = None,
    change: ChangeOption = None,
    use: UseOption = None,
    project: ProjectOption = None,
    target: Annotated[str | None, typer.Option(help="The line to land on.")] = None,
    priority: Annotated[str | None, typer.Option(help="normal or high.")] = None,
    after: Annotated[list[str] | None, typer.Option("--depends-on", help="An intent to go after.")] = None,
    issue: Annotated[str | None, typer.Option(help="The https URL of the issue.")] = None,
    request_id: RequestOption = None,
) -> Shown:
    """Say what you will change before you change it."""
    where = project or only_project(session)
    plan = {"summary": summary or title, "steps": step or [], "scope": _scope(change, use)}
    body: dict[str, Any] = {"projectId": where, "title": title, "goal": goal or title, "plan": plan}
    more = {"target": target, "priority": priority, "issue": issue}
    body |= {name: value for name, value in more.items() if value is not None}
    body["dependsOn"] = [intent_id(session, each, where) for each in after or []]
    answer = session.post("/intents", _once(body, request_id))
    return Shown(answer, detail_lines(answer))


@served
def status(session: Session, intent: IntentArgument, project: ProjectOption = None) -> Shown:
    """Where an intent stands and what comes next."""
    answer = session.get(f"/intents/{intent_id(session, intent, project)}")
    return Shown(answer, detail_lines(answer))


@served
def wait(
    session: Session,
    intent: IntentArgument,
    project: ProjectOption = None,
    after: Annotated[
        int | None, typer.Option(help="The afterSeq of the last answer; now by default.")
    ] = None,
    seconds: Annotated[int, typer.Option(min=0, max=_REST_WAIT_SEC, help="How long one wait lasts.")] = 60,
    until: Annotated[
        str | None, typer.Option(help="Wait on until this state; exit 1 when it can no longer come.")
    ] = None,
) -> Shown:
    """Wait for news about an intent, without asking again and again."""
    path = f"/intents/{intent_id(session, intent, project)}"
    known = session.get(path)
    seq = known["afterSeq"] if after is None else after
    wanted = until.lower().replace(" ", "_") if until else None
    if known["intent"]["state"] == wanted:
        return Shown(known, detail_lines(known))
    while True:
        answer = session.get(f"{path}/wait", afterSeq=seq, seconds=seconds)
        state, seq = answer["intent"]["state"], answer["afterSeq"]
        if wanted is None or state == wanted:
            return Shown(answer, detail_lines(answer))
        if state in _FINAL:
            raise Failed(f"{intent} is {state}, so it will never be {until}.", REFUSED)


@served
def submit(
    session: Session,
    intent: IntentArgument,
    project: ProjectOption = None,
    head: Annotated[str | None, typer.Option(help="The pushed commit; the latest push by default.")] = None,
    request_id: RequestOption = None,
) -> Shown:
    """Ask to merge what was pushed."""
    body = {"headCommit": head} if head else {}
    return _write(session, intent, project, "submit", body, request_id)


@served
def withdraw(
    session: Session,
    intent: IntentArgument,
    reason: Annotated[str, typer.Option(help="Why, for those who read it later.")],
    project: ProjectOption = None,
    request_id: RequestOption = None,
) -> Shown:
    """Give an intent up, for good."""
    return _write(session, intent, project, "withdraw", {"reason": reason}, request_id)


@served
def ack(
    session: Session,
    intent: IntentArgument,
    change_request: Annotated[str, typer.Argument(help="The request's id (chq_…).")],
    project: ProjectOption = None,
    request_id: RequestOption = None,
) -> Shown:
    """Say that the latest push does what a change request asks."""
    return _write(session, intent, project, "ack", {"changeRequestId": change_request}, request_id)


@served
def plan(
    session: Session,
    intent: IntentArgument,
    project: ProjectOption = None,
    summary: Annotated[str | None, typer.Option(help="The new summary.")] = None,
    step: StepOption = None,
    change: ChangeOption = None,
    use: UseOption = None,
    reason: Annotated[str | None, typer.Option(help="Why the plan changes.")] = None,
    request_id: RequestOption = None,
) -> Shown:
    """Show an intent's plan, or change the parts given; a list given replaces the whole list."""
    found = session.get(f"/intents/{intent_id(session, intent, project)}")
    if summary is None and step is None and change is None and use is None:
        return Shown(found["intent"]["plan"], plan_lines(found))
    old = found["intent"]["plan"]
    kept = {kind: [place_text(item) for item in old["scope"][kind]] for kind in ("change", "use")}
    new = {
        "summary": old["summary"] if summary is None else summary,
        "steps": old["steps"] if step is None else step,
        "scope": _scope(kept["change"] if change is None else change, kept["use"] if use is None else use),
        "checks": old["checks"],
    }
    body = {"plan": new} | ({"reason": reason} if reason else {})
    return _write(session, found["intent"]["id"], project, "plan", body, request_id)


@served
def board(session: Session, project: Annotated[str | None, typer.Argument()] = None) -> Shown:
    """Every live intent of a project: who works where, who waits for whom."""
    answer = session.get(f"/projects/{project or only_project(session)}/board")
    rows = [
        (f"#{e['number']}", e["state"], e["title"], e["agent"], _waits(e), " ".join(e["folders"]))
        for e in answer["entries"]
    ]
    columns = ("intent", "state", "title", "agent", "waits for", "folders")
    return Shown(answer, table=Table(columns, rows, "No live intent."))


def _waits(entry: dict[str, Any]) -> str:
    on = " ".join(f"#{number}" for number in entry["waitingOn"])
    return on or str(entry["waitsFor"]).replace("_", " ")


def _write(
    session: Session,
    intent: str,
    project: str | None,
    what: str,
    body: dict[str, Any],
    request_id: str | None,
) -> Shown:
    answer = session.post(f"/intents/{intent_id(session, intent, project)}/{what}", _once(body, request_id))
    return Shown(answer, detail_lines(answer))


def _once(body: dict[str, Any], request_id: str | None) -> dict[str, Any]:
    return body | {"requestId": request_id or str(uuid.uuid4())}


def _scope(change: list[str] | None, use: list[str] | None) -> dict[str, Any]:
    return {"change": [_place(each) for each in change or []], "use": [_place(each) for each in use or []]}


def _place(text: str) -> dict[str, str]:
    path, _, symbol = text.partition("#")
    return {"path": path, "symbol": symbol} if symbol else {"path": path}


def add_intents(app: typer.Typer) -> None:
    """The commands an agent's tools have too."""
    for command in (declare, status, wait, submit, withdraw, board, plan, ack):
        app.command(rich_help_panel="Intents")(command)
