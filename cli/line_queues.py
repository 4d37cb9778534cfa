"""`gitring lines …`: the lines that work lands on, and whether their queues move."""

from typing import Annotated, Any
from urllib.parse import quote

import typer

from cli.references import only_project
from cli.served import served
from cli.session import Session
from cli.shown import Shown, Table

lines = typer.Typer(
    help="List, make, pause, drain and resume the lines that work lands on.", no_args_is_help=True
)

LineArgument = Annotated[str, typer.Argument(help="The line, such as main.")]
ProjectOption = Annotated[str | None, typer.Option(help="The project; not needed where the token has one.")]


@lines.command("list")
@served
def list_lines(session: Session, project: ProjectOption = None) -> Shown:
    """The lines of a project, with their heads and queues."""
    return _shown(session.get(_path(session, project)))


@lines.command("create")
@served
def create(
    session: Session,
    line: LineArgument,
    start: Annotated[str, typer.Option("--from", help="A line, or a full commit id.")],
    project: ProjectOption = None,
) -> Shown:
    """Begin a line from another line's head, or from a commit."""
    return _shown(session.post(_path(session, project), {"name": line, "from": start}))


@lines.command("pause")
@served
def pause(
    session: Session,
    line: LineArgument,
    reason: Annotated[str, typer.Option(help="Why; those who wait read it.")],
    project: ProjectOption = None,
) -> Shown:
    """Let a queue stand still; what is being landed lands."""
    return _shown(session.post(f"{_path(session, project)}/{quote(line)}/pause", {"reason": reason}))


@lines.command("drain")
@served
def drain(
    session: Session,
    line: LineArgument,
    reason: Annotated[str, typer.Option(help="Why; those who wait read it.")],
    project: ProjectOption = None,
) -> Shown:
    """Land what is queued by now, then let the queue stand still; what comes later waits."""
    return _shown(session.post(f"{_path(session, project)}/{quote(line)}/drain", {"reason": reason}))


@lines.command("resume")
@served
def resume(session: Session, line: LineArgument, project: ProjectOption = None) -> Shown:
    """Let a queue move again."""
    return _shown(session.post(f"{_path(session, project)}/{quote(line)}/resume", {}))


def _path(session: Session, project: str | None) -> str:
    return f"/projects/{project or only_project(session)}/lines"


def _shown(answer: dict[str, Any]) -> Shown:
    rows = [
        (each["name"], (each["head"] or "empty")[:7], each["queued"], _moves(each))
        for each in answer["lines"]
    ]
    return Shown(answer, table=Table(("line", "head", "queued", "queue"), rows, "No line."))


def _moves(line: dict[str, Any]) -> str:
    if line["paused"]:
        return str(line["paused"])
    return f"runs empty: {line['draining']}" if line["draining"] else "moves"
