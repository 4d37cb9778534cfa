"""Options and arguments that several commands share."""

import json
from typing import Annotated, Any

import typer

from cli.foremerge.failing import bad

Agent = Annotated[str, typer.Option("--agent", help="Your agent id (agt_…).")]
IntentArgument = Annotated[str, typer.Argument(metavar="INTENT_ID", help="The intent's id (int_…).")]
ChangeSetArgument = Annotated[str, typer.Argument(metavar="CHANGESET_ID", help="The ChangeSet's id (chg_…).")]
ConflictArgument = Annotated[str, typer.Argument(metavar="CONFLICT_ID", help="A stored conflict (cfl_…).")]


def json_object(text: str | None, option: str) -> dict[str, Any] | None:
    """The object that an option holds as JSON."""
    if text is None:
        return None
    try:
        found = json.loads(text)
    except ValueError as problem:
        raise bad(f"{option} holds no JSON: {problem}.") from None
    if not isinstance(found, dict):
        raise bad(f'{option} takes a JSON object, such as {{"ticket": "PAY-1"}}.')
    return found


def in_path(identifier: str, what: str) -> str:
    """An id as a part of an address."""
    if (
        not identifier
        or len(identifier) > 100
        or not identifier.replace("_", "").isalnum()
        or not identifier.isascii()
    ):
        raise bad(f"{identifier[:120]!r} is no id of {what}.")
    return identifier
