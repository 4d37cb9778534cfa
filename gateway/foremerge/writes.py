"""The writes of this face: to an intent through its workflow, all others in one transaction here.

What the record already decides is refused before a workflow is asked: one that ended answers nobody.
"""

import shlex
from collections.abc import Sequence
from typing import TypeVar

import asyncpg
from pydantic import BaseModel
from temporalio.client import Client

from gateway.access import must_own, must_write
from gateway.foremerge.agreeing import Agreeing
from gateway.foremerge.registering import Registering
from gateway.foremerge.settled import must_be_open, work_of_changeset
from gateway.foremerge.surface import Visit
from gateway.foremerge.visits import seen_project
from gateway.foremerge.worktrees import unseen_symbols
from gateway.reads import Reads
from gateway.sending import Sender
from protocol.checks import MAX_COMMAND, CheckDefinition
from protocol.foremerge.agents import RegisterAgentInput, RegisteredAgent
from protocol.foremerge.changesets import (
    AcceptChangeSetInput,
    AcceptInput,
    ChangeSet,
    PublishChangeSetInput,
    RecordCommitInput,
)
from protocol.foremerge.claims import ClaimedWork, ClaimWorkInput, ReleaseClaimsInput, ReleasedClaims
from protocol.foremerge.commands import ForemergeCommand, ForemergeOperation
from protocol.foremerge.conflicts import Conflict, ResolveConflictInput
from protocol.foremerge.intents import (
    AdoptWorkInput,
    Assessment,
    DiscardWorkInput,
    Intent,
    PublishedIntent,
    PublishIntentInput,
    RecordAssessmentInput,
    StartWorkInput,
)
from protocol.foremerge.messages import CoordinateInput, CoordinationMessage
from protocol.foremerge.operators import RunCommandInput
from protocol.foremerge.scopes import Scope
from protocol.foremerge.validations import RunVerificationInput, Validation
from protocol.foremerge.wire import ForemergeInput
from protocol.ids import new_id
from protocol.records import ProjectRow
from rules.foremerge.acceptance import refuse_overrides
from rules.foremerge.advice import publish_warnings
from rules.foremerge.publication import checked_changeset, checked_intent
from rules.foremerge.refusing import bad_input, forbidden
from rules.foremerge.stored import must_act
from storage.sql.foremerge import agents

A = TypeVar("A", bound=BaseModel)
# A check runs for an hour at most, and waits for its turn before that.
_CHECK_SEC = 2 * 3_600.0
_Op = ForemergeOperation


class ForemergeWrites:
    """The writes of `gateway.foremerge.surface.ForemergeSurface`, and `adopt_work` and `mark_read` beside them."""

    def __init__(self, pool: asyncpg.Pool, client: Client, *, public_url: str) -> None:
        self._reads = Reads(pool, public_url)
        self._sender = Sender(pool, client)
        self._checks = Sender(pool, client, _CHECK_SEC)
        self._registering = Registering(pool)
        self._agreeing = Agreeing(pool)

    async def register_agent(self, visit: Visit, given: RegisterAgentInput) -> RegisteredAgent:
        """`register_agent`."""
        return await self._registering.register(visit, given)

    async def record_assessment(self, visit: Visit, given: RecordAssessmentInput) -> Assessment:
        """`record_assessment`."""
        return await self._agreeing.assess(visit, given)

    async def coordinate_with_agent(self, visit: Visit, given: CoordinateInput) -> CoordinationMessage:
        """`coordinate_with_agent`."""
        return await self._agreeing.coordinate(visit, given)

    async def resolve_conflict(self, visit: Visit, given: ResolveConflictInput) -> Conflict:
        """`resolve_conflict`."""
        return await self._agreeing.resolve(visit, given)

    async def mark_read(self, visit: Visit, agent_id: str, message_ids: Sequence[str]) -> int:
        """Note that an agent has read messages of its inbox."""
        return await self._agreeing.mark_read(visit, agent_id, message_ids)

    async def publish_intent(
        self, visit: Visit, given: PublishIntentInput, undeclared: Sequence[Scope] = ()
    ) -> PublishedIntent:
        """`publish_intent`; `undeclared` scopes have no operation, and the summary is read for one."""
        checked_intent(given)
        async with self._reads.snapshot() as connection:
            project = await _writable(connection, visit)
            found = await agents.get(connection, given.agent_id)
            must_act(found, given.agent_id, project.id, visit.caller.person_id)
            common_dir = await agents.bound_folder(connection, project.id)
        command = self._command(visit, project, new_id("int"), _Op.PUBLISH_INTENT, given, undeclared)
        answer = await self._send(command, PublishedIntent)
        if not project.settings.verify_symbol_scopes or found is None:
            return answer
        scopes = answer.intent.scopes
        unseen = await unseen_symbols(common_dir, found.worktree, scopes)
        return answer.model_copy(update={"warnings": publish_warnings(scopes, unseen)})

    async def claim_work(self, visit: Visit, given: ClaimWorkInput) -> ClaimedWork:
        """`claim_work`."""
        return await self._on_intent(visit, given.intent_id, _Op.CLAIM_WORK, given, ClaimedWork)

    async def start_work(self, visit: Visit, given: StartWorkInput) -> Intent:
        """`start_work`."""
        return await self._on_intent(visit, given.intent_id, _Op.START_WORK, given, Intent)

    async def discard_work(self, visit: Visit, given: DiscardWorkInput) -> Intent:
        """`discard_work`."""
        return await self._on_intent(visit, given.intent_id, _Op.DISCARD_WORK, given, Intent)

    async def adopt_work(self, visit: Visit, given: AdoptWorkInput) -> Intent:
        """`work adopt` of the command; no agent takes work over by itself."""
        if not visit.operator:
            raise forbidden(
                "Work changes hands by an operator alone.", "Ask the operator to run `work adopt`."
            )
        return await self._on_intent(visit, given.intent_id, _Op.ADOPT_WORK, given, Intent)

    async def release_claims(self, visit: Visit, given: ReleaseClaimsInput) -> ReleasedClaims:
        """Claims that the owner gives back before their leases end."""
        return await self._on_intent(visit, given.intent_id, _Op.RELEASE_CLAIMS, given, ReleasedClaims)

    async def publish_changeset(self, visit: Visit, given: PublishChangeSetInput) -> ChangeSet:
        """`publish_changeset`."""
        checked = checked_changeset(given)
        return await self._on_intent(visit, given.intent_id, _Op.PUBLISH_CHANGESET, checked, ChangeSet)

    async def run_verification(self, visit: Visit, given: RunVerificationInput) -> Validation:
        """`run_verification`; takes as long as the check does."""
        return await self._on_changeset(visit, given.changeset_id, _Op.RUN_VERIFICATION, given, Validation)

    async def run_command(self, visit: Visit, given: RunCommandInput) -> Validation:
        """An owner's own command on a ChangeSet; no agent sends one. Takes as long as it does."""
        line = shlex.join(given.command)
        if len(line) > MAX_COMMAND or not line.strip():
            raise bad_input(
                f"The command is empty, or longer than {MAX_COMMAND} characters.",
                "Put it into a script of the work.",
            )
        async with self._reads.snapshot() as connection:
            must_own(seen := await seen_project(connection, visit), visit.caller)
            intent_id = await work_of_changeset(
                connection, seen.project, given.changeset_id, _Op.RUN_VERIFICATION
            )
        asked = RunVerificationInput(changeset_id=given.changeset_id, check="command")
        command = self._command(visit, seen.project, intent_id, _Op.RUN_VERIFICATION, asked)
        own = CheckDefinition(name="command", command=line, timeout_sec=given.timeout_seconds)
        return await self._send(command.model_copy(update={"definition": own}), Validation)

    async def accept_changeset(self, visit: Visit, given: AcceptInput) -> ChangeSet:
        """`accept_changeset`; only an operator's person overrides."""
        if not visit.may_override:
            refuse_overrides(AcceptChangeSetInput(**given.model_dump()))
        return await self._on_changeset(visit, given.changeset_id, _Op.ACCEPT_CHANGESET, given, ChangeSet)

    async def record_commit(self, visit: Visit, given: RecordCommitInput) -> ChangeSet:
        """`record_commit`."""
        return await self._on_changeset(visit, given.changeset_id, _Op.RECORD_COMMIT, given, ChangeSet)

    async def _on_intent(
        self,
        visit: Visit,
        intent_id: str,
        operation: ForemergeOperation,
        given: ForemergeInput,
        answer: type[A],
    ) -> A:
        async with self._reads.snapshot() as connection:
            project = await _writable(connection, visit)
            await must_be_open(connection, visit, project, intent_id, operation, given)
        return await self._send(self._command(visit, project, intent_id, operation, given), answer)

    async def _on_changeset(
        self,
        visit: Visit,
        changeset_id: str,
        operation: ForemergeOperation,
        given: ForemergeInput,
        answer: type[A],
    ) -> A:
        async with self._reads.snapshot() as connection:
            project = await _writable(connection, visit)
            intent_id = await work_of_changeset(connection, project, changeset_id, operation)
        return await self._send(self._command(visit, project, intent_id, operation, given), answer)

    def _command(
        self,
        visit: Visit,
        project: ProjectRow,
        intent_id: str,
        operation: ForemergeOperation,
        given: ForemergeInput,
        undeclared: Sequence[Scope] = (),
    ) -> ForemergeCommand:
        return ForemergeCommand(
            command_id=new_id("cmd"),
            caller=visit.caller,
            public_url=self._reads.public_url,
            project_id=project.id,
            host=project.host,
            intent_id=intent_id,
            operation=operation,
            given=given.model_dump(mode="json"),
            undeclared=list(undeclared),
            by_person=visit.may_override,
        )

    async def _send(self, command: ForemergeCommand, answer: type[A]) -> A:
        sender = self._checks if command.operation is _Op.RUN_VERIFICATION else self._sender
        found = await sender.send(command, "foremerge", tool=command.operation, row=None, repeatable=False)
        return answer(**found)


async def _writable(connection: asyncpg.Connection, visit: Visit) -> ProjectRow:
    seen = await seen_project(connection, visit)
    must_write(seen, visit.caller)
    return seen.project
