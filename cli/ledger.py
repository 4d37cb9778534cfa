"""`gitring events`, `audit` and `log`: what happened, whether the record is whole, what a check printed."""

from collections.abc import Iterator
from typing import Annotated, Any

import typer

from cli.clean import lines_of, one_line
from cli.lines import event_line
from cli.served import served
from cli.session import REFUSED, UNREACHABLE, Failed, Session
from cli.shown import Shown, Streamed

SlugArgument = Annotated[str, typer.Argument(help="The project's slug or id.")]

_PAGE = 1000


@served
def events(
    session: Session,
    project: SlugArgument,
    after: Annotated[int, typer.Option(min=0, help="Only events after this one.")] = 0,
    follow: Annotated[bool, typer.Option("--follow", help="Go on with new events as they happen.")] = False,
) -> Streamed:
    """The project's ledger, oldest first; with --json, one event a line."""
    found = _followed(session, project, after) if follow else _paged(session, project, after)
    return Streamed(found, event_line)


def _paged(session: Session, project: str, after: int) -> Iterator[dict[str, Any]]:
    while page := session.get(f"/projects/{project}/events", afterSeq=after, limit=_PAGE)["events"]:
        yield from page
        after = page[-1]["seq"]


def _followed(session: Session, project: str, after: int) -> Iterator[dict[str, Any]]:
    for event in session.events(f"/projects/{project}/events/stream", afterSeq=after):
        yield event
        after = event["seq"]
    raise Failed(
        f"The server ended the stream; it is probably stopping. Go on with: gitring events {project} --follow --after {after}",
        UNREACHABLE,
    )


@served
def audit(session: Session, project: SlugArgument) -> Shown:
    """Recompute the hash chain of the ledger; exit 1 when it is broken."""
    verdict = session.get(f"/projects/{project}/audit")
    return Shown(verdict, _verdict_lines(project, verdict), exit_code=0 if verdict["valid"] else REFUSED)


def _verdict_lines(project: str, verdict: dict[str, Any]) -> Iterator[str]:
    if verdict["valid"]:
        yield f"{verdict['eventsVerified']} events verified, the chain is whole."
        yield f"Its head: {verdict['headHash'] or 'none yet'}"
        return
    yield f"The ledger of {project} is broken at event {verdict['firstBadSeq']}: {one_line(verdict['reason'])}."
    yield "Stop the server and compare with a backup and with the messages NATS still holds."


@served
def log(
    session: Session,
    check: Annotated[str, typer.Argument(help="The check's id (chk_…).")],
    follow: Annotated[
        bool, typer.Option("--follow", help="Go on while the check runs; exit 1 when it does not pass.")
    ] = False,
) -> Shown | Streamed:
    """What a check printed, of a running one so far; with --json, the run itself, or one event a line."""
    if follow:
        return Streamed(_grown(session, check), _news_line)
    return Shown(session.get(f"/checks/{check}"), _log_lines(session, check))


def _log_lines(session: Session, check: str) -> Iterator[str]:
    text = session.text(f"/checks/{check}/log")
    yield from lines_of(text.removesuffix("\n")) if text else []


def _grown(session: Session, check: str) -> Iterator[dict[str, Any]]:
    """The log's whole lines as they are printed, and the verdict."""
    begun = ""
    for name, data in session.named_events(f"/checks/{check}/log/stream"):
        if name == "output":
            whole, _, begun = f"{begun}{data['text']}".rpartition("\n")
            if whole or "\n" in data["text"]:
                yield {"event": name, "text": whole, "offset": data["offset"]}
        elif name == "restart":
            begun = ""
            yield {"event": name}
        elif name == "end":
            if begun:
                yield {"event": "output", "text": begun}
            yield {"event": name, **data}
            if data["state"] not in ("passed", "skipped"):
                raise Failed(one_line(data["summary"], 1000) or one_line(data["state"]))
            return
    raise Failed(
        f"The server ended the stream before the check did. Go on with: gitring log {check} --follow",
        UNREACHABLE,
    )


def _news_line(news: dict[str, Any]) -> str:
    if news["event"] == "restart":
        return "[the run begins again]"
    if news["event"] == "end":
        return f"[{one_line(news['state'], 40)}: {one_line(news['summary'], 1000)}]"
    return "\n".join(lines_of(news["text"]))


def add_ledger(app: typer.Typer) -> None:
    """Reading what is recorded."""
    for command in (events, audit, log):
        app.command(rich_help_panel="Record")(command)
