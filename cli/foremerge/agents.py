"""`foremerge agent …` and `foremerge coordinate …`: who works here, and what they write to each other."""

from pathlib import Path
from typing import Annotated, Any

import typer

from cli.foremerge.failing import bad
from cli.foremerge.options import in_path
from cli.foremerge.repository import repository_at
from cli.foremerge.told import Call, told

agents = typer.Typer(help="Register agents, list them.", no_args_is_help=True)
coordinate = typer.Typer(help="Messages between agents.", no_args_is_help=True)


@agents.command("register")
@told
def register(
    call: Call,
    name: Annotated[str, typer.Option(help="A name others will know this session by.")],
    model: Annotated[str | None, typer.Option(help="The model that runs the session.")] = None,
    capability: Annotated[list[str] | None, typer.Option(help="What it is good at; may be repeated.")] = None,
    worktree: Annotated[
        Path | None, typer.Option(help="The worktree it works in; the one of --cwd by default.")
    ] = None,
    no_worktree: Annotated[bool, typer.Option("--no-worktree", help="Name no worktree.")] = False,
) -> Any:
    """Register an agent; its id is asked for everywhere else."""
    if no_worktree and worktree:
        raise bad("--worktree and --no-worktree exclude each other. Give one of them.")
    root = None
    if not no_worktree:
        root = str(repository_at(call.place.folder / worktree if worktree else call.place.folder).root)
    body = {"name": name, "model": model, "capabilities": capability or [], "worktree": root}
    return call.server.post("/v1/agents/register", body)


@agents.command("list")
@told
def list_agents(call: Call) -> Any:
    """Every agent, the first one first."""
    return call.server.get("/v1/agents")


@coordinate.command("send")
@told
def send(
    call: Call,
    sender: Annotated[str, typer.Option("--from", help="Your agent id.")],
    to: Annotated[str, typer.Option("--to", help="The agent it is for.")],
    message: Annotated[str, typer.Option(help="What you propose or answer.")],
    conflict: Annotated[str | None, typer.Option(help="The stored conflict (cfl_…) it is about.")] = None,
    changeset: Annotated[str | None, typer.Option(help="The ChangeSet (chg_…) it is about.")] = None,
) -> Any:
    """Leave another agent a message."""
    body = {
        "from_agent_id": sender,
        "to_agent_id": to,
        "message": message,
        "conflict_id": conflict,
        "changeset_id": changeset,
    }
    return call.server.post("/v1/coordinate", body)


@coordinate.command("inbox")
@told
def inbox(
    call: Call,
    named: Annotated[str | None, typer.Argument(metavar="[AGENT_ID]", help="Whose messages.")] = None,
    agent: Annotated[str | None, typer.Option("--agent", help="The same as an option.")] = None,
    mark_read: Annotated[
        bool, typer.Option("--mark-read", help="Note that the unread ones among them are read now.")
    ] = False,
) -> Any:
    """An agent's messages, oldest first."""
    if named and agent and named != agent:
        raise bad("The argument and --agent name two agents. Give one of them.")
    whose = named or agent
    if not whose:
        raise bad("Say whose messages: foremerge coordinate inbox AGENT_ID.")
    path = f"/v1/agents/{in_path(whose, 'an agent')}/inbox"
    found = call.server.get(path)
    unread = [message["id"] for message in found if message["status"] == "UNREAD"]
    if mark_read and unread:
        for start in range(0, len(unread), 500):
            call.server.post(f"{path}/read", {"message_ids": unread[start : start + 500]})
        found = call.server.get(path)
    return found
