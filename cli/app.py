"""The tree of commands."""

import sys
from typing import Annotated

import typer

from cli.clone import clone
from cli.decisions import add_decisions
from cli.intents import add_intents
from cli.ledger import add_ledger
from cli.line_queues import lines
from cli.projects import projects
from cli.servers import add_servers
from cli.sign_in import add_sign_in
from cli.tokens import tokens

app = typer.Typer(
    name="gitring",
    help="Coordinates many coding agents on one Git repository.",
    no_args_is_help=True,
    pretty_exceptions_show_locals=False,
    add_completion=False,
)
add_servers(app)
app.add_typer(projects, name="projects", rich_help_panel="Set-up")
app.add_typer(lines, name="lines", rich_help_panel="Set-up")
app.add_typer(tokens, name="tokens", rich_help_panel="Set-up")
add_sign_in(app)
add_intents(app)
add_decisions(app)
add_ledger(app)
app.command(rich_help_panel="Git")(clone)


@app.command(
    "git-credential",
    rich_help_panel="Git",
    context_settings={"ignore_unknown_options": True, "allow_extra_args": True},
)
def git_credential(action: Annotated[str, typer.Argument(help="get, store or erase.")]) -> None:
    """Git's credential helper: gives git a token for this server's repositories."""
    # `cli.main` takes the short way here; this entry is for --help, and for options that stand before the name.
    from cli.git_credential import main

    raise typer.Exit(main(sys.argv[sys.argv.index("git-credential") + 1 :]))


@app.command(rich_help_panel="Servers")
def demo(
    keep: Annotated[bool, typer.Option("--keep", help="Keep the folder of the demo.")] = False,
) -> None:
    """Start everything in a temporary folder and land the work of two agents."""
    from cli.demo import main

    raise typer.Exit(main(keep))
