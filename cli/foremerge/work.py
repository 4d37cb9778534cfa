"""`foremerge work …`: claims, queries, the life of an intent, and the ledger as it grows."""

import time
from collections.abc import Iterator
from typing import Annotated, Any

import typer

from cli.foremerge.failing import Failure
from cli.foremerge.options import Agent, IntentArgument, in_path
from cli.foremerge.scopes import plain_scopes
from cli.foremerge.told import Call, Stream, told
from protocol.foremerge.errors import ErrorCode

work = typer.Typer(help="Claim, query, start, watch, give up.", no_args_is_help=True)
_PAGE = 100


@work.command("claim")
@told
def claim(
    call: Call,
    agent: Agent,
    intent: Annotated[str, typer.Option(help="Your intent.")],
    scope: Annotated[list[str], typer.Option(metavar="KIND:KEY", help="What to claim; may be repeated.")],
    reason: Annotated[str | None, typer.Option(help="What you need it for.")] = None,
    lease_seconds: Annotated[int | None, typer.Option(help="How long; an hour by default.")] = None,
) -> Any:
    """Announce with a lease that you are on these scopes; nobody is kept out."""
    body = {
        "agent_id": agent,
        "intent_id": intent,
        "scopes": plain_scopes(scope),
        "reason": reason,
        "lease_seconds": lease_seconds,
    }
    return call.server.post("/v1/claims", body)


@work.command("query")
@told
def query(
    call: Call,
    agent: Annotated[str | None, typer.Option(help="Only work of this agent.")] = None,
    status: Annotated[str | None, typer.Option(help="Only work in this status.")] = None,
    scope: Annotated[str | None, typer.Option(metavar="KIND:KEY", help="Only work on this scope.")] = None,
    limit: Annotated[int | None, typer.Option(help="The most entries; 50 by default.")] = None,
) -> Any:
    """Who works on what."""
    if scope is not None:
        (found,) = plain_scopes([scope])
        scope = f"{found['kind']}:{found['key']}"
    return call.server.get("/v1/work", agent_id=agent, status=status, scope=scope, limit=limit)


@work.command("start")
@told
def start(call: Call, intent: IntentArgument, agent: Agent) -> Any:
    """Say that you begin to write."""
    return call.server.post(f"/v1/work/{in_path(intent, 'an intent')}/start", {"agent_id": agent})


@work.command("discard")
@told
def discard(
    call: Call,
    intent: IntentArgument,
    agent: Agent,
    reason: Annotated[str, typer.Option(help="Why the work is given up.")],
) -> Any:
    """Give an intent up for good."""
    body = {"agent_id": agent, "reason": reason}
    return call.server.post(f"/v1/work/{in_path(intent, 'an intent')}/discard", body)


@work.command("release")
@told
def release(
    call: Call,
    intent: IntentArgument,
    agent: Agent,
    scope: Annotated[
        list[str] | None,
        typer.Argument(metavar="[KIND:KEY]…", help="What to give back; all that it claims otherwise."),
    ] = None,
) -> Any:
    """Give claims back before their leases end."""
    body = {"agent_id": agent, "scopes": plain_scopes(scope or [])}
    return call.server.post(f"/v1/work/{in_path(intent, 'an intent')}/release", body)


@work.command("adopt")
@told
def adopt(
    call: Call,
    intent: IntentArgument,
    agent: Agent,
    reason: Annotated[str, typer.Option(help="Why the work changes hands.")],
) -> Any:
    """Take over what a silent agent left."""
    body = {"agent_id": agent, "reason": reason}
    return call.server.post(f"/v1/work/{in_path(intent, 'an intent')}/adopt", body)


@work.command("watch")
@told
def watch(
    call: Call,
    after_seq: Annotated[int, typer.Option(min=0, help="The last event you have seen.")] = 0,
    interval_ms: Annotated[
        int, typer.Option(help="How long to wait before the stream is opened again after it broke.")
    ] = 500,
    once: Annotated[bool, typer.Option("--once", help="End after the events there are.")] = False,
) -> Stream:
    """Every event as it is committed, a line of JSON each."""
    if once:
        return Stream(paged(call.server, after_seq))
    return Stream(_pushed(call.server, after_seq, min(max(interval_ms, 100), 10_000) / 1000))


def paged(server: Any, after: int) -> Iterator[dict[str, Any]]:
    """The events there are after a seq, asked for a page at a time."""
    while page := server.get("/v1/events", after_seq=after, limit=_PAGE):
        yield from page
        after = page[-1]["seq"]


def _pushed(server: Any, after: int, pause: float) -> Iterator[dict[str, Any]]:
    """The events as the server pushes them; a stream that ends is opened again where it stopped."""
    broken = False
    while True:
        try:
            for event in server.events(after):
                broken = False
                after = event["seq"]
                yield event
        except Failure as problem:
            # The first try tells; a server that restarts is waited for once.
            if broken or problem.code is not ErrorCode.NOT_READY:
                raise
        broken = True
        time.sleep(pause)
