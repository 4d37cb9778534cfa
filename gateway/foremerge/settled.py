"""What the record alone decides of a write to an intent, before its workflow is asked.

The workflow's own transaction decides again. These answers are for what has ended, whose workflow answers nobody, and
for calls that no state of the intent would let pass.
"""

import asyncpg

from gateway.foremerge.surface import Visit
from protocol.foremerge.changesets import PublishChangeSetInput
from protocol.foremerge.claims import ClaimWorkInput, ReleaseClaimsInput
from protocol.foremerge.commands import ForemergeOperation
from protocol.foremerge.intents import StartWorkInput
from protocol.foremerge.wire import ForemergeInput
from protocol.records import ProjectRow
from rules.foremerge.lifecycle import Step, must_allow, must_be_landable, must_be_validatable, must_own
from rules.foremerge.refusing import missing
from rules.foremerge.stored import must_act, must_be_there
from storage.sql.foremerge import agents, work
from storage.sql.foremerge.latest import place_of

_STEPS = {
    ForemergeOperation.CLAIM_WORK: Step.CLAIM,
    ForemergeOperation.START_WORK: Step.START,
    ForemergeOperation.DISCARD_WORK: Step.DISCARD,
    ForemergeOperation.ADOPT_WORK: Step.ADOPT,
    ForemergeOperation.RELEASE_CLAIMS: Step.RELEASE,
    ForemergeOperation.PUBLISH_CHANGESET: Step.PUBLISH,
}


async def must_be_open(
    connection: asyncpg.Connection,
    visit: Visit,
    project: ProjectRow,
    intent_id: str,
    operation: ForemergeOperation,
    given: ForemergeInput,
) -> None:
    """Refuse an unknown agent or intent, another agent's intent, and a step that an ended intent does not allow."""
    if not isinstance(given, (StartWorkInput, ClaimWorkInput, ReleaseClaimsInput, PublishChangeSetInput)):
        raise TypeError(f"{operation} names no agent")
    agent = await agents.get(connection, given.agent_id)
    must_act(agent, given.agent_id, project.id, visit.caller.person_id)
    found = must_be_there(await work.get(connection, intent_id), intent_id, project.id)
    if operation is not ForemergeOperation.ADOPT_WORK:
        must_own(found.id, found.agent_id, given.agent_id)
    if not found.status.active:
        must_allow(_STEPS[operation], found.id, found.status)


async def work_of_changeset(
    connection: asyncpg.Connection, project: ProjectRow, changeset_id: str, operation: ForemergeOperation
) -> str:
    """The intent of a ChangeSet; refuses an unknown one, and what its status does not allow once it has landed."""
    found = await place_of(connection, changeset_id)
    if found is None or found.project_id != project.id:
        raise missing(f"ChangeSet {changeset_id[:100]}", "Find it with query_work.")
    owner = await work.get(connection, found.intent_id)
    if owner is not None and not owner.status.active:
        must = must_be_landable if operation is ForemergeOperation.RECORD_COMMIT else must_be_validatable
        must(changeset_id, found.status)
    return found.intent_id
