"""Operations of the Foremerge face that answer from a script, and samples of their answers."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

import httpx2
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from pydantic import BaseModel

from gateway.foremerge.surface import Visit
from protocol.events import Event
from protocol.foremerge.agents import Agent, RegisteredAgent
from protocol.foremerge.changesets import ChangeSet
from protocol.foremerge.claims import ClaimedWork, ReleasedClaims
from protocol.foremerge.conflicts import Conflict, ConflictReport
from protocol.foremerge.intents import Assessment, Intent, PublishedIntent, ShownIntent
from protocol.foremerge.ledger import ChainAudit, EventEnvelope, Graph
from protocol.foremerge.messages import CoordinationMessage
from protocol.foremerge.operators import Binding, MessagesRead
from protocol.foremerge.validations import Validation
from protocol.foremerge.words import (
    AssessmentAction,
    AssessmentVerdict,
    ChangeSetStatus,
    ConflictKind,
    IntentStatus,
    Severity,
)
from protocol.foremerge.work import StatusReport, WorkItem
from protocol.projects import Caller, TokenKind
from protocol.refusals import unauthenticated
from tests.gateway import samples
from tests.gateway.edge import TOKEN, Edge

NOW = samples.NOW
AGENT, INTENT, OTHER = "agt_1", "int_01JBQ8M4ZK7V3XW9N2D5HT6RYE", "int_01JBQ8M4ZK7V3XW9N2D5HT6RYF"
CHANGESET, CONFLICT = "chg_1", "cfl_1"
PERSON_TOKEN = "gitring_person_for-tests"

_AGENT = {"id": AGENT, "name": "stripe", "registered_at": NOW}
_INTENT = {
    "id": INTENT,
    "agent_id": AGENT,
    "task_id": "tsk_1",
    "task": "payments",
    "summary": "Replace PaymentService \u202eX",
    "status": IntentStatus.INTENT,
    "created_at": NOW,
    "updated_at": NOW,
}
_CONFLICT = Conflict(
    id=CONFLICT,
    kind=ConflictKind.SHARED_CONTRACT,
    severity=Severity.MEDIUM,
    score=0.97,
    source_intent_id=INTENT,
    target_intent_id=OTHER,
    scope=None,
    explanation="Both add to it.",
    suggestion="Agree.",
    evidence={"rule": "FM-C003"},
    detected_at=NOW,
)
_CHANGESET = ChangeSet(
    id=CHANGESET,
    agent_id=AGENT,
    task_id="tsk_1",
    intent_id=INTENT,
    summary="s",
    fingerprint="sha256:0",
    status=ChangeSetStatus.PROVISIONAL,
    created_at=NOW,
    updated_at=NOW,
)
_MESSAGE = CoordinationMessage(
    id="msg_1", from_agent_id=AGENT, to_agent_id="agt_2", message="m", created_at=NOW
)
_ASSESSMENT = Assessment(
    id="asm_1",
    agent_id=AGENT,
    intent_id=INTENT,
    related_intent_id=OTHER,
    verdict=AssessmentVerdict.COMPATIBLE,
    rationale="r",
    action=AssessmentAction.PROCEEDING,
    created_at=NOW,
)
_WORK = WorkItem(intent=Intent(**_INTENT), agent=Agent(**_AGENT), claims=[], dependents=[], open_conflicts=0)
_VALIDATION = Validation(
    id="val_1",
    changeset_id=CHANGESET,
    command=["true"],
    passed=False,
    exit_code=1,
    stdout="",
    stderr="",
    duration_ms=1,
    fingerprint="sha256:0",
    run_at=NOW,
)

ANSWERS: dict[str, BaseModel | list[Any]] = {
    "register_agent": RegisteredAgent(**_AGENT),
    "publish_intent": PublishedIntent(
        intent=Intent(**_INTENT), conflicts=[_CONFLICT], assessment_required=False
    ),
    "record_assessment": _ASSESSMENT,
    "claim_work": ClaimedWork(claims=[], warnings=[]),
    "start_work": Intent(**_INTENT),
    "discard_work": Intent(**_INTENT),
    "coordinate_with_agent": _MESSAGE,
    "resolve_conflict": _CONFLICT,
    "publish_changeset": _CHANGESET,
    "run_verification": _VALIDATION,
    "accept_changeset": _CHANGESET,
    "record_commit": _CHANGESET,
    "query_work": [_WORK],
    "check_conflicts": ConflictReport(
        conflicts=[], checked_intents=3, blocking=False, ephemeral=True, as_of_event=7
    ),
    "list_agents": [Agent(**_AGENT)],
    "get_intent": ShownIntent(
        intent=Intent(**_INTENT), agent=Agent(**_AGENT), open_conflicts=[], as_of_event=7
    ),
    "get_changeset": _CHANGESET,
    "status": StatusReport(agents=[], intents=[], claims=[], conflicts=[], changesets=[], as_of_event=7),
    "inbox": [_MESSAGE],
    "assessments": [_ASSESSMENT],
    "conflicts": [_CONFLICT],
    "detections": [],
    "validation_attempts": [],
    "graph": Graph(nodes=[], edges=[]),
    "events": [EventEnvelope.of(samples.event(3, "intent.published"))],
    "audit": ChainAudit(valid=True, events_verified=0),
    "publish_inferring": PublishedIntent(intent=Intent(**_INTENT), conflicts=[], assessment_required=False),
    "adopt_work": Intent(**_INTENT),
    "release_claims": ReleasedClaims(released=[], held=[]),
    "read_messages": MessagesRead(read=1),
    "check_inferring": ConflictReport(
        conflicts=[], checked_intents=3, blocking=False, ephemeral=True, as_of_event=7
    ),
    "run_command": _VALIDATION,
    "binding": Binding(project_id="prj_1", common_dir=None),
    "bind": Binding(project_id="prj_1", common_dir="/srv/shop/.git"),
}


class ScriptedForemerge:
    """Answers a sample for each operation, and remembers what it was asked.

    A test changes an answer by putting a function into `script`, by the operation's name.
    """

    def __init__(self) -> None:
        self.begin()

    def begin(self) -> None:
        """Forget what was asked and scripted."""
        self.asked: list[tuple[str, Visit, Any]] = []
        self.script: dict[str, Callable[[Any], Awaitable[Any]]] = {}
        self.news = asyncio.Event()
        self.waiting = asyncio.Event()
        self.left = asyncio.Event()

    async def authenticate(self, raw_token: str) -> Caller:
        """One token of an agent, one of a person."""
        kinds = {TOKEN: TokenKind.AGENT, PERSON_TOKEN: TokenKind.PERSON}
        if raw_token not in kinds:
            raise unauthenticated()
        return samples.AGENT.model_copy(update={"kind": kinds[raw_token]})

    def __getattr__(self, name: str) -> Any:
        if name not in ANSWERS:
            raise AttributeError(name)

        async def operation(visit: Visit, given: Any, /) -> Any:
            self.asked.append((name, visit, given))
            return await self.script[name](given) if name in self.script else ANSWERS[name]

        return operation

    async def live_events(self, visit: Visit, after_seq: int, /) -> AsyncIterator[Event]:
        """One event at once, another when there is news."""
        self.asked.append(("live_events", visit, after_seq))
        try:
            yield samples.event(after_seq + 1, "intent.published")
            self.waiting.set()
            await self.news.wait()
            yield samples.event(after_seq + 2, "claim.created")
        finally:
            self.left.set()


@asynccontextmanager
async def foremerge_client(edge: Edge, revision: str) -> AsyncIterator[Client]:
    """A client of the real library that speaks `revision` with this face."""
    async with httpx2.AsyncClient(headers={"Authorization": f"Bearer {TOKEN}"}, timeout=20) as http:
        transport = streamable_http_client(f"{edge.url}/mcp/foremerge", http_client=http)
        async with Client(transport, mode=revision) as client:
            yield client
