"""`foremerge intent …` and `foremerge assess …`: what agents mean to do, and what they think of each other's plans."""

from typing import Annotated, Any

import typer

from cli.foremerge.options import Agent, IntentArgument, in_path, json_object
from cli.foremerge.scopes import split_scopes
from cli.foremerge.told import Call, told
from protocol.foremerge.words import AssessmentAction, AssessmentVerdict

intents = typer.Typer(help="Publish intents, show them.", no_args_is_help=True)
assess = typer.Typer(help="Judgements of related work.", no_args_is_help=True)


@intents.command("publish")
@told
def publish(
    call: Call,
    agent: Agent,
    task: Annotated[str, typer.Option(help="The task this serves.")],
    summary: Annotated[str, typer.Option(help="What you will do, in one sentence.")],
    rationale: Annotated[str | None, typer.Option(help="Why it is done this way.")] = None,
    scope: Annotated[
        list[str] | None,
        typer.Option(
            metavar="KIND:KEY[=OPERATION]",
            help="A scope and what you do to it. Left out, the operation is read from the summary and asserts nothing.",
        ),
    ] = None,
    depends_on: Annotated[list[str] | None, typer.Option(help="What it builds on; may be repeated.")] = None,
    metadata_json: Annotated[str | None, typer.Option(help="Anything else, as a JSON object.")] = None,
) -> Any:
    """Say what you will do, before you edit."""
    declared, undeclared = split_scopes(scope or [])
    body: dict[str, Any] = {
        "agent_id": agent,
        "task": task,
        "summary": summary,
        "rationale": rationale,
        "scopes": declared,
        "depends_on": depends_on or [],
        "metadata": json_object(metadata_json, "--metadata-json") or {},
    }
    if undeclared:
        return call.server.post("/v1/intents/infer", {**body, "undeclared": undeclared})
    return call.server.post("/v1/intents", body)


@intents.command("show")
@told
def show(call: Call, intent: IntentArgument) -> Any:
    """One intent with its agent and its open conflicts."""
    return call.server.get(f"/v1/intents/{in_path(intent, 'an intent')}")


@assess.command("record")
@told
def record(
    call: Call,
    agent: Agent,
    intent: Annotated[str, typer.Option(help="Your intent.")],
    related_intent_id: Annotated[str, typer.Option(help="The other one, from related_work.")],
    verdict: Annotated[AssessmentVerdict, typer.Option(help="How the two stand to each other.")],
    rationale: Annotated[str, typer.Option(help="What makes it so.")],
    action: Annotated[AssessmentAction, typer.Option(help="What you do about it.")],
) -> Any:
    """Judge an intent that touches yours."""
    body = {
        "agent_id": agent,
        "intent_id": intent,
        "related_intent_id": related_intent_id,
        "verdict": verdict.value,
        "rationale": rationale,
        "action": action.value,
    }
    return call.server.post("/v1/assessments", body)


@assess.command("list")
@told
def list_assessments(call: Call, intent: Annotated[str, typer.Option(help="Whose assessments.")]) -> Any:
    """An intent's assessments, oldest first."""
    return call.server.get(f"/v1/intents/{in_path(intent, 'an intent')}/assessments")
