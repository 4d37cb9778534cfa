"""`gitring tokens …`: tokens for agents."""

import shlex
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any

import typer

from cli.served import served
from cli.session import Session
from cli.shown import Shown, Table

tokens = typer.Typer(help="Make, list and revoke the tokens of agents.", no_args_is_help=True)


@tokens.command("create")
@served
def create(
    session: Session,
    project: Annotated[list[str], typer.Option(help="A project the token opens; may be repeated.")],
    name: Annotated[str, typer.Option(help="What the board calls the agent.")] = "agent",
    credential_helper: Annotated[
        bool,
        typer.Option(
            "--credential-helper",
            help="The agent's git asks `gitring git-credential` for access; the variables for it are printed.",
        ),
    ] = False,
) -> Shown:
    """Make a token for an agent; it is shown this once."""
    body = {"name": name, "projects": project, "credentialHelper": credential_helper}
    made = session.post("/tokens", body)
    return Shown(made, _lines(session.url, made, credential_helper))


def _lines(url: str, made: dict[str, Any], helper: bool) -> Iterator[str]:
    yield made["token"]
    yield f"for {', '.join(made['projects'])}, id {made['id']}; it is not shown again."
    yield f"An MCP client connects to {url}/mcp with the header: Authorization: Bearer {made['token']}"
    if helper:
        yield "Put this into the agent's environment, and its git asks for access by itself:"
        yield from helper_variables(url, made["token"])


def helper_variables(url: str, token: str) -> Iterator[str]:
    """Shell lines after which git gets its access from `gitring git-credential`, on this machine."""
    command = "!" + shlex.quote(str(Path(sys.argv[0]).absolute())) + " git-credential"
    settings = {"helper": command, "useHttpPath": "true"}
    yield f"export GITRING_URL={shlex.quote(url)} GITRING_TOKEN={token}"
    yield f"export GIT_CONFIG_COUNT={len(settings)}"
    for number, (name, value) in enumerate(settings.items()):
        key = shlex.quote(f"credential.{url}.{name}")
        yield f"export GIT_CONFIG_KEY_{number}={key} GIT_CONFIG_VALUE_{number}={shlex.quote(value)}"


@tokens.command("list")
@served
def list_tokens(session: Session) -> Shown:
    """Your tokens, without their secrets."""
    answer = session.get("/tokens")
    rows = [
        (each["id"], each["kind"], each["name"], ", ".join(each["projects"]) or "all of yours", _state(each))
        for each in answer["tokens"]
    ]
    return Shown(answer, table=Table(("id", "kind", "name", "projects", "state"), rows, "No token yet."))


def _state(token: dict[str, Any]) -> str:
    if token["revokedAt"]:
        return f"revoked {token['revokedAt'][:10]}"
    return f"until {token['expiresAt'][:16]}" if token["expiresAt"] else "in use"


@tokens.command("revoke")
@served
def revoke(
    session: Session, token_id: Annotated[str, typer.Argument(help="The id that `tokens list` shows.")]
) -> Shown:
    """End a token, and the git tokens made from it."""
    answer = session.delete(f"/tokens/{token_id}")
    return Shown(answer, [f"{answer['name']} ({answer['id']}) is revoked."])
