"""`gitring approve`, `gitring send-back` and `gitring land-now`: what only a person may decide."""

import uuid
from typing import Annotated

import typer

from cli.intents import IntentArgument, ProjectOption
from cli.lines import detail_lines
from cli.references import intent_id
from cli.served import served
from cli.session import USAGE, Failed, Session
from cli.shown import Shown

PlanFlag = Annotated[bool, typer.Option("--plan", help="Decide on the plan.")]
MergeFlag = Annotated[bool, typer.Option("--merge", help="Decide on the merge.")]
NoteOption = Annotated[str | None, typer.Option(help="Words for the agent.")]


@served
def approve(
    session: Session,
    intent: IntentArgument,
    project: ProjectOption = None,
    plan: PlanFlag = False,
    merge: MergeFlag = False,
    note: NoteOption = None,
) -> Shown:
    """Let an intent go on: its plan or its merge, whichever waits for a person."""
    return _decide(session, intent, project, "approve", plan, merge, note)


@served
def send_back(
    session: Session,
    intent: IntentArgument,
    project: ProjectOption = None,
    plan: PlanFlag = False,
    merge: MergeFlag = False,
    note: NoteOption = None,
) -> Shown:
    """Ask the agent to change its plan or its work first."""
    return _decide(session, intent, project, "send_back", plan, merge, note)


@served
def land_now(
    session: Session,
    intent: IntentArgument,
    reason: Annotated[str, typer.Option(help="Why; it is recorded.")],
    project: ProjectOption = None,
    skip_checks: Annotated[
        bool, typer.Option("--skip-checks", help="Land without checks; the line is checked afterwards.")
    ] = False,
) -> Shown:
    """Emergency: have an intent land before all others, also where the queue stands still. Owners only."""
    found = intent_id(session, intent, project)
    checks = "skip" if skip_checks else "run"
    body = {"reason": reason, "checks": checks, "requestId": str(uuid.uuid4())}
    answer = session.post(f"/intents/{found}/landing", body)
    return Shown(answer, detail_lines(answer))


def _decide(
    session: Session,
    intent: str,
    project: str | None,
    decision: str,
    plan: bool,
    merge: bool,
    note: str | None,
) -> Shown:
    if plan and merge:
        raise Failed("Decide on one at a time: --plan or --merge.", USAGE)
    found = intent_id(session, intent, project)
    if not plan and not merge:
        plan = session.get(f"/intents/{found}")["intent"]["state"] == "plan_review"
    body = {
        "decision": decision,
        "subject": "plan" if plan else "merge",
        "requestId": str(uuid.uuid4()),
    } | ({"note": note} if note else {})
    answer = session.post(f"/intents/{found}/decisions", body)
    return Shown(answer, detail_lines(answer))


def add_decisions(app: typer.Typer) -> None:
    """The decisions of people."""
    app.command("approve", rich_help_panel="Decisions")(approve)
    app.command("send-back", rich_help_panel="Decisions")(send_back)
    app.command("land-now", rich_help_panel="Decisions")(land_now)
