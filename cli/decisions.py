"""`gitring approve` and `gitring send-back`: what only a person may decide."""

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
    """The two decisions."""
    app.command("approve", rich_help_panel="Decisions")(approve)
    app.command("send-back", rich_help_panel="Decisions")(send_back)
