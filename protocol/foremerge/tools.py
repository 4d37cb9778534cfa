"""The one table of the eighteen tools of this face. MCP, documents and tests read it."""

from typing import NamedTuple

from pydantic import BaseModel

from protocol.foremerge.agents import Agent, ListAgentsInput, RegisterAgentInput, RegisteredAgent
from protocol.foremerge.changesets import (
    AcceptChangeSetInput,
    ChangeSet,
    GetChangeSetInput,
    PublishChangeSetInput,
    RecordCommitInput,
)
from protocol.foremerge.claims import ClaimedWork, ClaimWorkInput
from protocol.foremerge.conflicts import CheckConflictsInput, Conflict, ConflictReport, ResolveConflictInput
from protocol.foremerge.intents import (
    Assessment,
    DiscardWorkInput,
    GetIntentInput,
    Intent,
    PublishedIntent,
    PublishIntentInput,
    RecordAssessmentInput,
    ShownIntent,
    StartWorkInput,
)
from protocol.foremerge.messages import CoordinateInput, CoordinationMessage
from protocol.foremerge.validations import RunVerificationInput, Validation
from protocol.foremerge.work import QueryWorkInput, StatusInput, StatusReport, WorkItem


class ForemergeTool(NamedTuple):
    """One tool. `many`: it answers an array, so MCP shows it as text alone."""

    name: str
    input: type[BaseModel]
    answer: type[BaseModel]
    writes: bool
    description: str
    many: bool = False

    @property
    def hints(self) -> dict[str, bool]:
        """The MCP annotations, in MCP's own spelling."""
        return {
            "readOnlyHint": not self.writes,
            "destructiveHint": self.name == "discard_work",
            "idempotentHint": not self.writes and self.name != "check_conflicts",
            "openWorldHint": False,
        }


_TABLE = (
    ForemergeTool(
        "register_agent",
        RegisterAgentInput,
        RegisteredAgent,
        True,
        "Once a session, before anything else: the agent_id in the answer is what every other call asks for. Name the "
        "worktree you work in.",
    ),
    ForemergeTool(
        "publish_intent",
        PublishIntentInput,
        PublishedIntent,
        True,
        "Before you edit: say what you will do, to which scopes, with which operation on each. Name every file that will "
        "land, documents too. The answer lists conflicts and related_work; record_assessment answers each entry of it.",
    ),
    ForemergeTool(
        "record_assessment",
        RecordAssessmentInput,
        Assessment,
        True,
        "Your judgement of another intent that related_work showed: conflicts, compatible, duplicate or depends_on, and "
        "whether you are proceeding, rescoping, waiting or abandoning.",
    ),
    ForemergeTool(
        "claim_work",
        ClaimWorkInput,
        ClaimedWork,
        True,
        "Announce with a lease that you are on these scopes. Advisory: nobody is kept out, and warnings name who else "
        "holds them. Claim again to renew.",
    ),
    ForemergeTool(
        "start_work",
        StartWorkInput,
        Intent,
        True,
        "Say that you begin to write. The intent must be CLAIMED; open_conflicts in the answer counts what is unresolved.",
    ),
    ForemergeTool(
        "query_work",
        QueryWorkInput,
        WorkItem,
        False,
        "Who works on what: filter by agent, status or scope. A symbol is found by Class::method whatever its namespace.",
        many=True,
    ),
    ForemergeTool(
        "check_conflicts",
        CheckConflictsInput,
        ConflictReport,
        False,
        "With intent_id alone: the stored conflicts of that intent, to be read again before publish_changeset and "
        "run_verification. With scopes, or with intent as text: a what-if that stores nothing, for while you still plan.",
    ),
    ForemergeTool(
        "coordinate_with_agent",
        CoordinateInput,
        CoordinationMessage,
        True,
        "Send another agent a lasting message about a conflict or a ChangeSet. They read it when they next look; it "
        "interrupts nobody. mark_read notes which messages to you it answers.",
    ),
    ForemergeTool(
        "resolve_conflict",
        ResolveConflictInput,
        Conflict,
        True,
        "Record what both parties of a stored conflict (cfl_…) agreed. Only a party may, after a real agreement; cite its "
        "msg_ ids in the rationale. An unresolved HIGH conflict stops accept_changeset.",
    ),
    ForemergeTool(
        "publish_changeset",
        PublishChangeSetInput,
        ChangeSet,
        True,
        "Record a finished piece of work: commit first and leave the worktree clean. Publishing again supersedes the "
        "ChangeSet before and asks for a new validation.",
    ),
    ForemergeTool(
        "run_verification",
        RunVerificationInput,
        Validation,
        True,
        "Run a check that an operator registered, by its name, on the ChangeSet exactly as it was published.",
    ),
    ForemergeTool(
        "accept_changeset",
        AcceptChangeSetInput,
        ChangeSet,
        True,
        "Pass the gate: validated, no open HIGH conflict, dependencies accepted, nothing changed since. Overrides belong "
        "to the operator and are refused here. Then integrate with ordinary Git.",
    ),
    ForemergeTool(
        "record_commit",
        RecordCommitInput,
        ChangeSet,
        True,
        "After the work landed by merge, squash, rebase or cherry-pick: name the commit that holds it. Ends the claims.",
    ),
    ForemergeTool(
        "discard_work",
        DiscardWorkInput,
        Intent,
        True,
        "Give an intent up for good, with the reason. Its claims end and its open conflicts are dismissed.",
    ),
    ForemergeTool(
        "list_agents",
        ListAgentsInput,
        Agent,
        False,
        "Every agent that registered, the first one first.",
        many=True,
    ),
    ForemergeTool(
        "get_intent",
        GetIntentInput,
        ShownIntent,
        False,
        "One intent with its agent and its open conflicts, as of one event.",
    ),
    ForemergeTool("get_changeset", GetChangeSetInput, ChangeSet, False, "One ChangeSet as it stands now."),
    ForemergeTool(
        "status",
        StatusInput,
        StatusReport,
        False,
        "The whole project at one moment: agents, intents by status, running claims, open conflicts, ChangeSets; with "
        "inbox_of, also the messages to you that you have not marked as read.",
    ),
)

FOREMERGE_TOOLS = tuple(sorted(_TABLE, key=lambda tool: tool.name))
FOREMERGE_BY_NAME = {tool.name: tool for tool in FOREMERGE_TOOLS}
