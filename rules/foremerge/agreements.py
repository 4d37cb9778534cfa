"""Who may assess, resolve, discard and write to whom, and what that makes of a conflict."""

from collections.abc import Collection
from typing import NamedTuple

from protocol.foremerge.words import ConflictStatus
from rules.foremerge.checks import must_be_stored
from rules.foremerge.lifecycle import must_own
from rules.foremerge.refusing import bad_input, filled, forbidden, wrong_status


class Agreement(NamedTuple):
    """What a resolution says, trimmed."""

    resolution: str
    rationale: str


def must_resolve(
    conflict_id: str,
    status: ConflictStatus,
    agent_id: str,
    party_owners: Collection[str],
    agreement: tuple[str, str],
    parties_only: bool,
) -> Agreement:
    """The resolution, trimmed, when it may be recorded. `parties_only`: over MCP only a party speaks for it."""
    said = Agreement(filled(agreement[0], "resolution"), filled(agreement[1], "rationale"))
    must_be_stored(conflict_id)
    if parties_only and agent_id not in party_owners:
        raise forbidden(
            f"Agent {agent_id} owns neither intent of {conflict_id}.",
            "Leave it to the two parties, or to an operator with the command or the JSON API.",
        )
    if status.settled:
        raise wrong_status(
            f"Conflict {conflict_id} is {status} already.",
            "Nothing is left to resolve; read it with query_work.",
        )
    return said


def after_message(status: ConflictStatus) -> ConflictStatus:
    """A message about an open conflict makes it COORDINATING; a settled one stays as it is."""
    return ConflictStatus.COORDINATING if status is ConflictStatus.OPEN else status


def after_discard(status: ConflictStatus) -> ConflictStatus:
    """Giving an intent up dismisses what was not settled."""
    return status if status.settled else ConflictStatus.DISMISSED


def must_assess(intent_id: str, owner_id: str, agent_id: str, related_id: str, rationale: str) -> str:
    """The rationale, trimmed, when the assessment may be recorded."""
    why = filled(rationale, "rationale")
    if intent_id == related_id:
        raise bad_input(
            "An intent cannot be assessed against itself.", "Name another intent of related_work."
        )
    must_own(intent_id, owner_id, agent_id)
    return why
