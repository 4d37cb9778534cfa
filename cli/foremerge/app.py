"""The tree of commands. Global options stand before the command; `cli.foremerge.main` brings them there."""

from pathlib import Path
from typing import Annotated, Any

import typer

from cli.foremerge.agents import agents, coordinate
from cli.foremerge.changesets import changesets
from cli.foremerge.conflicts import conflicts
from cli.foremerge.intents import assess, intents
from cli.foremerge.ledger import ledger
from cli.foremerge.place import Place
from cli.foremerge.record import events, graph, request, status
from cli.foremerge.settings import checks, exclusions
from cli.foremerge.told import Call, Text, told
from cli.foremerge.work import work
from cli.foremerge.worktrees import worktrees

app = typer.Typer(
    name="foremerge",
    help="Coordinates several coding agents on one Git repository, by the Foremerge protocol, on gitring's server.",
    no_args_is_help=True,
    pretty_exceptions_show_locals=False,
    add_completion=False,
)


@app.callback()
def options(
    ctx: typer.Context,
    as_json: Annotated[
        bool, typer.Option("--json", help="One line of JSON: the answer or the failure, in its envelope.")
    ] = False,
    database: Annotated[
        str | None,
        typer.Option(
            help="The server that holds the record: its address, or its connection file; FOREMERGE_DB. "
            "The one that `foremerge init` tied the repository to otherwise.",
        ),
    ] = None,
    cwd: Annotated[Path, typer.Option(help="The folder to act in.")] = Path(),
) -> None:
    """Every command takes these three, before or after its name."""
    ctx.obj = Place(as_json, database, cwd)


@app.command()
@told
def init(
    call: Call,
    project: Annotated[
        str | None, typer.Option(help="A project of this name; by the repository's folder otherwise.")
    ] = None,
) -> Any:
    """Tie this repository to a project on the server; no tracked file is touched."""
    from cli.foremerge.initializing import initialize

    return initialize(call.place, project)


@app.command()
@told
def setup(
    call: Call,
    client: Annotated[str, typer.Argument(metavar="codex|claude|cursor|all", help="Which agent client.")],
    force: Annotated[bool, typer.Option("--force", help="Replace what somebody edited.")] = False,
    skip_mcp: Annotated[bool, typer.Option("--skip-mcp", help="Write the skill, leave MCP alone.")] = False,
) -> Any:
    """Tie an agent client in: a skill that says how to work, and the MCP server."""
    from cli.foremerge.clients import chosen, set_up

    return set_up(call.place, chosen(client), force=force, mcp=not skip_mcp)


@app.command()
@told
def doctor(
    call: Call,
    client: Annotated[str | None, typer.Option(help="codex, claude, cursor or all.")] = None,
) -> Text:
    """Whether everything is ready; changes nothing."""
    from cli.foremerge.clients import chosen
    from cli.foremerge.doctor import report
    from cli.foremerge.told import pretty

    found = report(call.place, chosen(client) if client else [])
    return Text(found, [pretty(found)], 0 if found["ready"] else 1)


@app.command()
def daemon(
    ctx: typer.Context,
    bind: Annotated[
        str | None,
        typer.Option(metavar="ADDRESS", help="A loopback address and port, such as 127.0.0.1:47811."),
    ] = None,
    no_auth: Annotated[
        bool, typer.Option("--no-auth", help="Refused: every call shows a token here.")
    ] = False,
) -> None:
    """A server for this repository: the one that runs, or a new one until Ctrl-C."""
    from cli.foremerge.daemon import run
    from cli.foremerge.told import ended

    place = ctx.obj if isinstance(ctx.obj, Place) else Place()
    raise typer.Exit(ended(place, lambda: run(place, bind, no_auth)))


@app.command()
def mcp(ctx: typer.Context) -> None:
    """The MCP server on standard input and output: a bridge to the server's own."""
    from cli.foremerge.bridge import main

    raise typer.Exit(main(ctx.obj if isinstance(ctx.obj, Place) else Place()))


app.command("graph")(graph)
app.command("status")(status)
for family, name in (
    (checks, "checks"),
    (exclusions, "validation-exclusions"),
    (agents, "agent"),
    (intents, "intent"),
    (assess, "assess"),
    (work, "work"),
    (conflicts, "conflicts"),
    (changesets, "changeset"),
    (coordinate, "coordinate"),
    (events, "events"),
    (ledger, "ledger"),
    (worktrees, "worktree"),
    (request, "request"),
):
    app.add_typer(family, name=name)
