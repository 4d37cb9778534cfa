"""Makes a function that talks to the server into a command: the options of every such command, and its ending."""

import inspect
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import typer

from cli.connection import find_connection
from cli.session import Failed, open_session
from cli.shown import Shown, Streamed, show

_PANEL = "Server"

_OPTIONS: dict[str, Any] = {
    "url": Annotated[
        str | None,
        typer.Option("--url", help="Address of the server; GITRING_URL.", rich_help_panel=_PANEL),
    ],
    "token": Annotated[
        str | None,
        typer.Option("--token", help="Whom to act for; GITRING_TOKEN.", rich_help_panel=_PANEL),
    ],
    "connection": Annotated[
        Path | None,
        typer.Option(
            "--connection",
            help="A connection.json of `gitring up`; that of the default data folder otherwise.",
            rich_help_panel=_PANEL,
        ),
    ],
    "as_json": Annotated[
        bool,
        typer.Option("--json", help="Print the server's JSON as it is.", rich_help_panel=_PANEL),
    ],
}


def served(run: Callable[..., Shown | Streamed]) -> Callable[..., None]:
    """`run(session, …)` as a command. It prints what `run` gives; a `Failed` goes to standard error."""

    def command(
        url: str | None, token: str | None, connection: Path | None, as_json: bool, **given: Any
    ) -> None:
        try:
            with open_session(lambda: find_connection(url, token, connection)) as session:
                exit_code = show(run(session, **given), as_json)
        except Failed as problem:
            print(problem.text, file=sys.stderr)
            exit_code = problem.exit_code
        raise typer.Exit(exit_code)

    own = list(inspect.signature(run, eval_str=True).parameters.values())[1:]
    common = [
        inspect.Parameter(
            name,
            inspect.Parameter.KEYWORD_ONLY,
            default=False if name == "as_json" else None,
            annotation=annotation,
        )
        for name, annotation in _OPTIONS.items()
    ]
    keyword = [parameter.replace(kind=inspect.Parameter.KEYWORD_ONLY) for parameter in own]
    command.__signature__ = inspect.Signature(keyword + common)  # type: ignore[attr-defined]
    command.__annotations__ = {each.name: each.annotation for each in keyword + common}
    command.__name__, command.__doc__ = run.__name__, run.__doc__
    return command
