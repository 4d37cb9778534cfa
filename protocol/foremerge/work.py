"""Work queries, and the overview that people read."""

from datetime import datetime
from typing import Annotated, ClassVar

from pydantic import Field

from protocol.foremerge.agents import Agent
from protocol.foremerge.changesets import ChangeSet
from protocol.foremerge.claims import Claim
from protocol.foremerge.intents import Intent
from protocol.foremerge.messages import CoordinationMessage
from protocol.foremerge.scopes import PlainScope, Scope
from protocol.foremerge.wire import ForemergeAnswer, ForemergeInput, Id, Line, WorkLimit
from protocol.foremerge.words import ChangeSetStatus, ConflictKind, ConflictStatus, IntentStatus, Severity


class QueryWorkInput(ForemergeInput):
    """`query_work`: every filter given must hold."""

    agent_id: Annotated[Id | None, Field(description="Only work of this agent.")] = None
    status: Annotated[Line | None, Field(description="Only work in this status, such as IN_PROGRESS.")] = None
    scope: Annotated[
        Scope | None,
        Field(
            description="Only work that declares or ever claimed this scope, by its short form: Class::method."
        ),
    ] = None
    limit: WorkLimit = 50


class WorkItem(ForemergeAnswer):
    """One intent with what belongs to it; `open_conflicts` counts the open and coordinating ones."""

    intent: Intent
    agent: Agent
    claims: list[Claim]
    latest_changeset_id: str | None = None
    latest_changeset: ChangeSet | None = None
    dependents: list[str]
    open_conflicts: int


class StatusInput(ForemergeInput):
    """`status`."""

    inbox_of: Annotated[
        Id | None, Field(description="An agent id, yours: the answer then has its unread messages as inbox.")
    ] = None


class AgentSeen(ForemergeAnswer):
    """An agent in the overview; `stale` when it has been silent for more than two hours."""

    id: str
    name: str
    model: str | None = None
    worktree: str | None = None
    last_seen_at: datetime
    stale: bool


class IntentSeen(ForemergeAnswer):
    """An intent in the overview; `stranded` when its owner is silent and holds no claim."""

    id: str
    agent_id: str
    agent_name: str
    summary: str
    stranded: bool


class IntentGroup(ForemergeAnswer):
    """The intents of one status."""

    status: IntentStatus
    count: int
    intents: list[IntentSeen]


class ClaimSeen(ForemergeAnswer):
    """A claim whose lease runs."""

    id: str
    agent_id: str
    agent_name: str
    intent_id: str
    scope: PlainScope
    lease_expires_at: datetime


class ConflictSeen(ForemergeAnswer):
    """An open or coordinating conflict with both parties named."""

    id: str
    kind: ConflictKind
    severity: Severity
    status: ConflictStatus
    scope: PlainScope | None
    source_intent_id: str | None
    source_agent_name: str | None
    source_scopes: list[str]
    target_intent_id: str
    target_agent_name: str
    target_scopes: list[str]


class ChangeSetGroup(ForemergeAnswer):
    """The ChangeSets of one status; ids only of those still under way."""

    status: ChangeSetStatus
    count: int
    ids: list[str]


class StatusReport(ForemergeAnswer):
    """`status`: one moment of the whole project. `inbox`: the first unread messages of `inbox_of`, the oldest first."""

    left_out: ClassVar[frozenset[str]] = frozenset({"inbox"})

    agents: list[AgentSeen]
    intents: list[IntentGroup]
    claims: list[ClaimSeen]
    conflicts: list[ConflictSeen]
    changesets: list[ChangeSetGroup]
    as_of_event: int
    inbox: list[CoordinationMessage] = []
