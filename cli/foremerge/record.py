"""`foremerge events|graph|status|request`: what is recorded, as it is and at a glance."""

import json
from typing import Annotated, Any
from urllib.parse import urlsplit

import typer

from cli.foremerge.failing import Failure, bad
from cli.foremerge.place import is_local
from cli.foremerge.screen import screen
from cli.foremerge.told import Call, Text, told
from protocol.foremerge.errors import ErrorCode

events = typer.Typer(help="The ledger, and whether it is whole.", no_args_is_help=True)
request = typer.Typer(help="Any route of the JSON API, with your token.", no_args_is_help=True)

PathArgument = Annotated[str, typer.Argument(metavar="PATH", help="Such as /v1/agents.")]
UrlOption = Annotated[
    str | None, typer.Option("--url", envvar="FOREMERGE_URL", help="Another port of this machine.")
]


@events.command("list")
@told
def list_events(
    call: Call,
    after_seq: Annotated[int, typer.Option(min=0, help="The last event you have seen.")] = 0,
    limit: Annotated[int | None, typer.Option(help="The most events; 100 by default.")] = None,
) -> Any:
    """Events, oldest first."""
    return call.server.get("/v1/events", after_seq=after_seq, limit=limit)


@events.command("audit")
@told
def audit(
    call: Call,
    page_size: Annotated[int | None, typer.Option(help="How many events one look reads.")] = None,
) -> Text:
    """Recompute the chain of hashes; exit 1 when it is broken."""
    from cli.foremerge.told import pretty

    verdict = call.server.get("/v1/audit/event-chain", page_size=page_size)
    return Text(verdict, [pretty(verdict)], 0 if verdict["valid"] else 1)


@told
def graph(call: Call) -> Any:
    """The semantic graph: agents, intents, scopes, ChangeSets, and how they hang together."""
    return call.server.get("/v1/graph")


@told
def status(call: Call) -> Text:
    """The whole project at one moment."""
    report = call.server.get("/v1/status")
    return Text(report, screen(report))


@request.command("get")
@told
def get(call: Call, path: PathArgument, url: UrlOption = None) -> Any:
    """Read."""
    return _asked(call, "GET", path, None, url)


@request.command("post")
@told
def post(
    call: Call,
    path: PathArgument,
    body: Annotated[str, typer.Option(help="The body, as JSON.")] = "{}",
    url: UrlOption = None,
) -> Any:
    """Write."""
    try:
        given = json.loads(body)
    except ValueError as problem:
        raise bad(f"--body holds no JSON: {problem}.") from None
    return _asked(call, "POST", path, given, url)


def _asked(call: Call, method: str, path: str, body: Any, url: str | None) -> Any:
    from cli.foremerge.server import decoded

    if not path.startswith("/") or ".." in path or "\\" in path:
        raise bad("PATH begins with / and holds no `..`, such as /v1/agents.")
    target = call.place.target
    if url is not None:
        if urlsplit(url).scheme != "http" or not is_local(url):
            raise bad("--url takes a plain http address of this machine, such as http://127.0.0.1:8470.")
        target = target._replace(url=url.rstrip("/"))
    answer = call.place.opened(target).raw(method, path, body)
    content = decoded(answer)
    if not answer.is_success:
        error = content.get("error") if isinstance(content, dict) else None
        said = f": {error.get('code')}: {error.get('message')}" if isinstance(error, dict) else ""
        raise Failure(ErrorCode.API_ERROR, f"{method} {path} answered {answer.status_code}{said}")
    return content["data"] if isinstance(content, dict) and content.get("ok") is True else content
