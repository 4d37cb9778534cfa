"""`foremerge conflicts …`: whom work meets, and what was agreed."""

from typing import Annotated, Any

import typer

from cli.foremerge.failing import bad
from cli.foremerge.options import Agent, ConflictArgument, in_path
from cli.foremerge.scopes import split_scopes
from cli.foremerge.told import Call, told

conflicts = typer.Typer(help="Check, list, resolve.", no_args_is_help=True)


@conflicts.command("check")
@told
def check(
    call: Call,
    agent: Annotated[str | None, typer.Option(help="Your agent id; only noted.")] = None,
    intent_id: Annotated[
        str | None, typer.Option(help="A published intent; with --scope, as if those were its scopes.")
    ] = None,
    intent: Annotated[str | None, typer.Option(help="Work to come, in words.")] = None,
    scope: Annotated[
        list[str] | None, typer.Option(metavar="KIND:KEY[=OPERATION]", help="A scope; may be repeated.")
    ] = None,
) -> Any:
    """The stored conflicts of an intent, or a comparison that keeps nothing."""
    if (intent_id is None) == (intent is None):
        raise bad("Give --intent-id of a published intent, or --intent with the words of work to come.")
    declared, undeclared = split_scopes(scope or [])
    body = {"agent_id": agent, "intent_id": intent_id, "intent": intent, "scopes": declared}
    if undeclared:
        return call.server.post("/v1/conflicts/check/infer", {**body, "undeclared": undeclared})
    return call.server.post("/v1/conflicts/check", body)


@conflicts.command("list")
@told
def list_conflicts(
    call: Call,
    status: Annotated[str | None, typer.Option(help="Only those in this status, such as OPEN.")] = None,
) -> Any:
    """The stored conflicts, newest first."""
    return call.server.get("/v1/conflicts", status=status)


@conflicts.command("detections")
@told
def detections(call: Call, conflict: ConflictArgument) -> Any:
    """Each time a conflict was seen, oldest first."""
    return call.server.get(f"/v1/conflicts/{in_path(conflict, 'a conflict')}/detections")


@conflicts.command("resolve")
@told
def resolve(
    call: Call,
    conflict: ConflictArgument,
    agent: Agent,
    resolution: Annotated[str, typer.Option(help="The outcome, in a short sentence.")],
    rationale: Annotated[str, typer.Option(help="What makes it so; name the msg_ ids that agreed it.")],
) -> Any:
    """Record what was agreed."""
    body = {"agent_id": agent, "resolution": resolution, "rationale": rationale}
    return call.server.post(f"/v1/conflicts/{in_path(conflict, 'a conflict')}/resolve", body)
