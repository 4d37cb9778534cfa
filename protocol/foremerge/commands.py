"""The commands of this face on their way to an intent's workflow. Stored in histories: only add fields and words."""

from collections.abc import Mapping
from enum import StrEnum
from typing import Any

from protocol.checks import CheckDefinition
from protocol.commands import Command
from protocol.foremerge.changesets import AcceptInput, PublishChangeSetInput, RecordCommitInput
from protocol.foremerge.claims import ClaimWorkInput, ReleaseClaimsInput
from protocol.foremerge.intents import (
    AdoptWorkInput,
    DiscardWorkInput,
    PublishIntentInput,
    StartWorkInput,
)
from protocol.foremerge.scopes import Scope
from protocol.foremerge.validations import RunVerificationInput
from protocol.foremerge.wire import ForemergeInput


class ForemergeOperation(StrEnum):
    """What a command does to an intent; the word is the tool's name. Other writes change no intent and need none."""

    PUBLISH_INTENT = "publish_intent"
    CLAIM_WORK = "claim_work"
    START_WORK = "start_work"
    DISCARD_WORK = "discard_work"
    ADOPT_WORK = "adopt_work"
    RELEASE_CLAIMS = "release_claims"
    PUBLISH_CHANGESET = "publish_changeset"
    RUN_VERIFICATION = "run_verification"
    ACCEPT_CHANGESET = "accept_changeset"
    RECORD_COMMIT = "record_commit"


INPUTS: Mapping[ForemergeOperation, type[ForemergeInput]] = {
    ForemergeOperation.PUBLISH_INTENT: PublishIntentInput,
    ForemergeOperation.CLAIM_WORK: ClaimWorkInput,
    ForemergeOperation.START_WORK: StartWorkInput,
    ForemergeOperation.DISCARD_WORK: DiscardWorkInput,
    ForemergeOperation.ADOPT_WORK: AdoptWorkInput,
    ForemergeOperation.RELEASE_CLAIMS: ReleaseClaimsInput,
    ForemergeOperation.PUBLISH_CHANGESET: PublishChangeSetInput,
    ForemergeOperation.RUN_VERIFICATION: RunVerificationInput,
    ForemergeOperation.ACCEPT_CHANGESET: AcceptInput,
    ForemergeOperation.RECORD_COMMIT: RecordCommitInput,
}


class ForemergeCommand(Command):
    """Update `foremerge`: one operation of this face on one intent.

    `given` is the operation's input as JSON. `undeclared` are scopes of a publication that came without an operation;
    the summary is read for one. `definition` is a check that an operator sent with the call, in place of a named one.
    `by_person`: a person called, by other ways than MCP.
    """

    operation: ForemergeOperation
    given: dict[str, Any]
    undeclared: list[Scope] = []
    definition: CheckDefinition | None = None
    by_person: bool = False

    def input(self) -> ForemergeInput:
        """The operation's input, read again."""
        return INPUTS[self.operation].model_validate(self.given)
