"""`foremerge ledger …`: the ledger as a file of JSON Lines, and whether such a file is whole.

The first line says what it is, then comes one line for each event, then one with the number of events and the last
hash. Whoever holds the file can recompute every hash without a server, or ask one whether it still tells the same.
"""

import json
import os
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import IO, Annotated, Any

import typer

from cli.clean import one_line
from cli.foremerge.failing import Failure, bad
from cli.foremerge.told import Call, Stream, Text, compact, pretty, told
from protocol.events import GENESIS, compact_json, event_hash
from protocol.foremerge.errors import ErrorCode

ledger = typer.Typer(help="Export the ledger, verify an export.", no_args_is_help=True)
_FORMAT = "foremerge-ledger"
_PAGE = 1000
_LONGEST_LINE = 32 << 20
_FIELDS = ("event_id", "event_type", "entity_type", "entity_id", "agent_id", "created_at")


@ledger.command("export")
@told
def export(
    call: Call,
    output: Annotated[Path | None, typer.Option(help="A new file; standard output otherwise.")] = None,
) -> Any:
    """The whole ledger, an event a line, as of one moment."""
    if output is None:
        return Stream(exported(call.server, call.place.target.project))
    path = call.place.folder / output
    try:
        file = os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="utf-8")
    except FileExistsError:
        raise Failure(ErrorCode.ALREADY_EXISTS, f"{path} is there already. Name another file.") from None
    except OSError as problem:
        raise bad(f"{path} cannot be written: {problem.strerror}.") from None
    with file:
        for line in exported(call.server, call.place.target.project):
            file.write(compact(line) + "\n")
    return {"path": str(path), **{name: line[name] for name in ("events", "last_seq", "head_hash")}}


def exported(server: Any, project: str | None) -> Iterator[dict[str, Any]]:
    """The lines of an export. Events that are committed meanwhile are left to the next one."""
    audit = server.get("/v1/audit/event-chain")
    if not audit["valid"]:
        raise Failure(
            ErrorCode.CORRUPT_STORE, "The ledger's chain is broken: `foremerge events audit` says where."
        )
    until = audit["last_seq"] or 0
    yield {
        "format": _FORMAT,
        "version": 1,
        "project": project,
        "exported_at": datetime.now(UTC).isoformat(),
        "last_seq": audit["last_seq"],
    }
    after, count, head = 0, 0, GENESIS
    while after < until:
        page = server.get("/v1/events", after_seq=after, limit=min(_PAGE, until - after))
        if not page:
            raise Failure(ErrorCode.CORRUPT_STORE, f"The ledger ends at {after}, and {until} was promised.")
        for event in page:
            yield event
            after, count, head = event["seq"], count + 1, event["event_hash"]
    yield {
        "format": f"{_FORMAT}-end",
        "events": count,
        "last_seq": audit["last_seq"],
        "head_hash": head if count else None,
    }


@ledger.command("verify")
@told
def verify(
    call: Call,
    file: Annotated[Path, typer.Argument(help="An export.")],
    against_server: Annotated[
        bool, typer.Option("--against-server", help="Ask the server whether its ledger still tells the same.")
    ] = False,
) -> Text:
    """Recompute every hash of an export; exit 1 when it is not whole."""
    path = call.place.folder / file
    try:
        with path.open("rb") as lines:
            verdict = verified(lines)
    except OSError as problem:
        raise bad(f"{path} cannot be read: {problem.strerror}.") from None
    if against_server and verdict["valid"]:
        verdict |= _compared(call.server, verdict)
    return Text(verdict, [pretty(verdict)], 0 if verdict["valid"] else 1)


def verified(lines: IO[bytes]) -> dict[str, Any]:
    """The verdict on an export: as the server's audit, with the line and the reason where it is not whole."""
    seq, head, number = 0, GENESIS, 0
    end: dict[str, Any] | None = None
    while raw := lines.readline(_LONGEST_LINE):
        number += 1
        line = _read(raw)
        fault = None
        if line is None:
            fault = "it is no JSON object"
        elif number == 1:
            fault = None if line.get("format") == _FORMAT else "it is not the first line of an export"
        elif end is not None:
            fault = "it comes after the end"
        elif line.get("format") == f"{_FORMAT}-end":
            end = line
            same = (line.get("events"), line.get("head_hash")) == (seq, head if seq else None)
            fault = None if same else "it tells another number of events or another last hash"
        else:
            fault = _fault(line, seq, head)
            if fault is None:
                seq, head = line["seq"], line["event_hash"]
        if fault:
            return _verdict(seq, head, f"line {number}: {fault}")
    return _verdict(seq, head, None if end else f"line {number + 1}: the end is missing")


def _read(raw: bytes) -> dict[str, Any] | None:
    try:
        line = json.loads(raw)
    except (ValueError, RecursionError):
        return None
    return line if isinstance(line, dict) else None


def _fault(event: dict[str, Any], seq: int, head: str) -> str | None:
    texts = [event.get(name) for name in (*_FIELDS, "prev_hash", "event_hash")]
    whole = all(
        isinstance(text, str) or (text is None and name == "agent_id")
        for name, text in zip((*_FIELDS, "prev_hash", "event_hash"), texts, strict=True)
    )
    if not whole or not isinstance(event.get("payload"), dict):
        return "it is no event"
    if event.get("seq") != seq + 1:
        return f"event {seq + 1} is missing"
    if event["prev_hash"] != head:
        return "prev_hash is not the hash of the event before it"
    try:
        own = event_hash(*[head, *(event[name] for name in _FIELDS), compact_json(event["payload"])])
    except UnicodeEncodeError:
        return "it holds half a character"
    return None if own == event["event_hash"] else "event_hash does not match the event"


def _verdict(seq: int, head: str, fault: str | None) -> dict[str, Any]:
    found = {
        "valid": fault is None,
        "events_verified": seq,
        "last_seq": seq or None,
        "head_hash": head if seq else None,
    }
    return found if fault is None else {**found, "reason": one_line(fault, 300)}


def _compared(server: Any, verdict: dict[str, Any]) -> dict[str, Any]:
    last = verdict["last_seq"]
    if last is None:
        return {"server": "same"}
    page = server.get("/v1/events", after_seq=last - 1, limit=1)
    if page and page[0]["event_hash"] == verdict["head_hash"]:
        return {"server": "same"}
    return {"valid": False, "reason": f"the server's event {last} is another one, or is not there"}
