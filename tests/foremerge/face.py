"""The Foremerge face over the real engine: agents that publish, claim and settle in a project of their own."""

from dataclasses import dataclass
from typing import Any

from gateway.foremerge.surface import Visit
from gateway.foremerge.work_reads import ForemergeReads
from gateway.foremerge.writes import ForemergeWrites
from protocol.foremerge.agents import RegisterAgentInput
from protocol.foremerge.claims import ClaimedWork, ClaimWorkInput
from protocol.foremerge.conflicts import CheckConflictsInput, Conflict, ConflictReport, ResolveConflictInput
from protocol.foremerge.intents import (
    DiscardWorkInput,
    GetIntentInput,
    Intent,
    PublishedIntent,
    PublishIntentInput,
    ShownIntent,
    StartWorkInput,
)
from protocol.foremerge.ledger import EventEnvelope, EventsQuery
from protocol.foremerge.messages import CoordinateInput, CoordinationMessage
from protocol.foremerge.scopes import DeclaredScope, Scope
from protocol.foremerge.work import QueryWorkInput, WorkItem
from tests.support.engine import Engine, ProjectUnderTest


def declared(*texts: str) -> list[DeclaredScope]:
    """`symbol:Cart=replace` as declared scopes."""
    found = []
    for text in texts:
        scope, _, operation = text.rpartition("=")
        kind, _, key = scope.partition(":")
        found.append(DeclaredScope(**{"kind": kind, "key": key, "operation": operation}))
    return found


def plain(*texts: str) -> list[Scope]:
    """`symbol:Cart` as scopes without an operation."""
    pairs = (text.partition(":") for text in texts)
    return [Scope(**{"kind": kind, "key": key}) for kind, _, key in pairs]


def claim_of(agent: str, intent: str, *scopes: str, **more: Any) -> ClaimWorkInput:
    """A claim."""
    return ClaimWorkInput(agent_id=agent, intent_id=intent, scopes=plain(*scopes), **more)


def _agreement(agent: str, conflict: str) -> ResolveConflictInput:
    return ResolveConflictInput(
        conflict_id=conflict, agent_id=agent, resolution="split scopes", rationale="agreed in msg_1"
    )


@dataclass
class Face:
    """One project through this face. `visit` is an agent's call over MCP, `operator` a person's over the JSON API."""

    project: ProjectUnderTest
    writes: ForemergeWrites
    reads: ForemergeReads
    visit: Visit
    operator: Visit

    @classmethod
    async def of(cls, engine: Engine, project: ProjectUnderTest | None = None) -> "Face":
        """A face on a new project."""
        project = project or await engine.project()
        pool = engine.found.pool
        return cls(
            project,
            ForemergeWrites(pool, engine.found.temporal, public_url="http://gitring.test"),
            ForemergeReads(pool),
            Visit(project.agent, project.slug),
            Visit(engine.owner, project.slug, operator=True),
        )

    async def register(self, name: str, **more: Any) -> str:
        """An agent's id."""
        return (await self.writes.register_agent(self.visit, RegisterAgentInput(name=name, **more))).id

    async def publish(
        self,
        agent: str,
        summary: str,
        *scopes: str,
        task: str = "payments",
        undeclared: Any = (),
        **more: Any,
    ) -> PublishedIntent:
        """Publish an intent."""
        given = PublishIntentInput(
            agent_id=agent, task=task, summary=summary, scopes=declared(*scopes), **more
        )
        return await self.writes.publish_intent(self.visit, given, undeclared)

    async def claim(self, agent: str, intent: str, *scopes: str, **more: Any) -> ClaimedWork:
        """Claim scopes."""
        return await self.writes.claim_work(self.visit, claim_of(agent, intent, *scopes, **more))

    async def start(self, agent: str, intent: str) -> Intent:
        """Begin."""
        return await self.writes.start_work(self.visit, StartWorkInput(agent_id=agent, intent_id=intent))

    async def discard(self, agent: str, intent: str, reason: str = "not needed") -> Intent:
        """Give up."""
        given = DiscardWorkInput(agent_id=agent, intent_id=intent, reason=reason)
        return await self.writes.discard_work(self.visit, given)

    async def say(self, sender: str, to: str, text: str, conflict: str | None = None) -> CoordinationMessage:
        """Write to another agent."""
        given = CoordinateInput(from_agent_id=sender, to_agent_id=to, message=text, conflict_id=conflict)
        return await self.writes.coordinate_with_agent(self.visit, given)

    async def resolve(self, agent: str, conflict: str) -> Conflict:
        """Record an agreement, over MCP."""
        return await self.writes.resolve_conflict(self.visit, _agreement(agent, conflict))

    async def resolve_as_operator(self, agent: str, conflict: str) -> Conflict:
        """Record an agreement over the JSON API; the agent is one that the operator registered."""
        return await self.writes.resolve_conflict(self.operator, _agreement(agent, conflict))

    async def check(self, **given: Any) -> ConflictReport:
        """`check_conflicts`."""
        return await self.reads.check_conflicts(self.visit, CheckConflictsInput(**given))

    async def shown(self, intent: str) -> ShownIntent:
        """`get_intent`."""
        return await self.reads.get_intent(self.visit, GetIntentInput(id=intent))

    async def query(self, **given: Any) -> list[WorkItem]:
        """`query_work`."""
        return await self.reads.query_work(self.visit, QueryWorkInput(**given))

    async def events(self, after: int = 0) -> list[EventEnvelope]:
        """The ledger."""
        return await self.reads.events(self.visit, EventsQuery(after_seq=after, limit=1_000))
