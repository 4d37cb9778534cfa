"""The ask that a declare takes up: checked before anything is written, marked with the intent afterwards."""

from activities.change import Change
from protocol.commands import Declare
from protocol.events import EventType
from protocol.records import IntentRow
from protocol.refusals import not_found, refused
from storage.sql import asks

_OTHERS = "gitring_asks lists the open ones. Nothing was declared."


async def must_be_open(change: Change, command: Declare) -> None:
    """Refuse an ask that is closed, declared (`ask_taken`), of another project or of another person.

    The project's lock is held, so what is open here is open until the transaction ends.
    """
    ask_id = command.input.ask_id
    if ask_id is None:
        return
    ask = await asks.find(change.connection, ask_id)
    if ask is None or ask.project_id != change.project.id or ask.person_id != command.caller.person_id:
        raise not_found(f"ask {ask_id} of {command.caller.person_name} in {change.project.slug}", _OTHERS)
    if ask.number is not None:
        raise refused(
            "ask_taken",
            f"Ask {ask_id} was declared already: it is intent #{ask.number}.",
            f"Leave it to #{ask.number}, or take another; {_OTHERS}",
        )
    if ask.closed_at is not None:
        raise refused("wrong_state", f"Ask {ask_id} was closed by a person.", _OTHERS)


async def take_up(change: Change, command: Declare, row: IntentRow) -> None:
    """Mark the ask of a declare, if it names one, as declared by the intent."""
    ask_id = command.input.ask_id
    if ask_id is None:
        return
    await asks.declare(change.connection, ask_id, row.id)
    change.emit(EventType.ASK_DECLARED, "Ask", ask_id, row.id, number=row.number)
