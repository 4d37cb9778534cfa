"""The commands that run a server. They alone reach `runtime`, and only inside their own functions."""

from pathlib import Path
from typing import Annotated

import typer


def up(
    data_dir: Annotated[
        Path | None, typer.Option(help="Folder of everything; GITRING_DATA_DIR.", show_default=False)
    ] = None,
    port: Annotated[
        int | None,
        typer.Option(
            help="Port of the gateway, 0 for free ports everywhere; GITRING_PORT.", show_default=False
        ),
    ] = None,
    host: Annotated[
        str | None, typer.Option(help="Address of the gateway; GITRING_HOST.", show_default=False)
    ] = None,
) -> None:
    """Start everything on this machine and run it until Ctrl-C."""
    from pydantic import ValidationError

    from runtime.settings import Settings
    from runtime.up import up as run_up

    given = {"data_dir": data_dir, "port": port, "host": host}
    try:
        settings = Settings(**{name: value for name, value in given.items() if value is not None})  # type: ignore[arg-type]
    except ValidationError as problem:
        raise typer.BadParameter(str(problem)) from problem
    raise typer.Exit(run_up(settings))


def gateway() -> None:
    """Run one gateway, set up by GITRING_… variables."""
    _run_process("gateway")


def worker() -> None:
    """Run one worker, set up by GITRING_… variables."""
    _run_process("worker")


def relay() -> None:
    """Run one relay, set up by GITRING_… variables."""
    _run_process("relay")


def migrate() -> None:
    """Bring database and stream to the shape of this version, then end."""
    _run_process("migrate")


def owner() -> None:
    """Make the owner of a deployment on the first run, and print the owner's token."""
    _run_process("owner")


def _run_process(name: str) -> None:
    from runtime.__main__ import run_process

    run_process(name)


def add_servers(app: typer.Typer) -> None:
    """Everything that runs rather than asks."""
    for command in (up, gateway, worker, relay, migrate, owner):
        app.command(rich_help_panel="Servers")(command)
