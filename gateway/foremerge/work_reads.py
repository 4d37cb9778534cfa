"""The reads of this face: each from one snapshot of the record; none needs a worker or a workflow."""

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import cast

import asyncpg

from gateway.foremerge.checking import check
from gateway.foremerge.surface import Visit
from gateway.foremerge.visits import seen_project
from gateway.reads import Reads
from protocol.foremerge.agents import Agent, ListAgentsInput
from protocol.foremerge.claims import Claim
from protocol.foremerge.conflicts import CheckConflictsInput, Conflict, ConflictDetection, ConflictReport
from protocol.foremerge.intents import Assessment, GetIntentInput, ShownIntent
from protocol.foremerge.ledger import AuditQuery, ChainAudit, EventEnvelope, EventsQuery
from protocol.foremerge.messages import CoordinationMessage
from protocol.foremerge.queries import AssessmentsQuery, ConflictsQuery, DetectionsQuery, InboxQuery
from protocol.foremerge.records import WorkRow
from protocol.foremerge.work import QueryWorkInput, WorkItem
from rules.foremerge.publication import conflict_status, intent_status, sought
from rules.foremerge.refusing import missing
from rules.foremerge.related import Assessed, unassessed
from rules.foremerge.scopes import precise
from rules.foremerge.stored import must_be_there, must_know, shown_intent
from storage.sql import events
from storage.sql.audit import audit
from storage.sql.foremerge import agents, claims, conflicts, words, work
from storage.sql.foremerge.latest import latest_of

_MOST_CLAIMS = 1_000


class ForemergeReads:
    """What a caller may look at."""

    def __init__(self, pool: asyncpg.Pool) -> None:
        self._pool = pool
        self._reads = Reads(pool, "")

    async def list_agents(self, visit: Visit, given: ListAgentsInput) -> list[Agent]:
        """`list_agents`: those that registered, and one for each token of gitring's own face."""
        async with self._reads.snapshot() as connection:
            project = (await seen_project(connection, visit)).project
            return [row.shown for row in await agents.of_project(connection, project.id)]

    async def query_work(self, visit: Visit, given: QueryWorkInput) -> list[WorkItem]:
        """`query_work`."""
        status = intent_status(given.status)
        async with self._reads.snapshot() as connection:
            project = (await seen_project(connection, visit)).project
            alias = None
            if given.scope is not None:
                known = await work.declared_by_some(connection, project.id, precise(given.scope))
                alias = sought(given.scope, known)
            found = await work.query(connection, project.id, given.agent_id, status, alias, given.limit)
            return await _items(connection, found)

    async def check_conflicts(self, visit: Visit, given: CheckConflictsInput) -> ConflictReport:
        """`check_conflicts`; it never writes."""
        async with self._reads.snapshot() as connection:
            project = (await seen_project(connection, visit)).project
            return await check(connection, project, given, datetime.now(UTC))

    async def get_intent(self, visit: Visit, given: GetIntentInput) -> ShownIntent:
        """`get_intent`."""
        async with self._reads.snapshot() as connection:
            project = (await seen_project(connection, visit)).project
            found = must_be_there(await work.get(connection, given.id), given.id, project.id)
            scopes = (await work.scopes_of(connection, [found.id]))[found.id]
            agent = await agents.get(connection, found.agent_id)
            opened = [one.conflict for one in await conflicts.of_intents(connection, [found.id])]
            return ShownIntent(
                intent=shown_intent(found, scopes),
                agent=must_know(agent, found.agent_id, project.id).shown,
                open_conflicts=opened,
                as_of_event=await events.last_seq(connection, project.id),
                unassessed=await _unassessed(connection, found, opened),
            )

    async def list_claims(self, visit: Visit, intent_id: str | None = None) -> list[Claim]:
        """Claims that no event ended, the oldest first; with `intent_id`, every claim it ever held."""
        now = datetime.now(UTC)
        async with self._reads.snapshot() as connection:
            project = (await seen_project(connection, visit)).project
            if intent_id is None:
                rows = await claims.of_project(connection, project.id, _MOST_CLAIMS)
            else:
                must_be_there(await work.get(connection, intent_id), intent_id, project.id)
                rows = (await claims.of_intents(connection, [intent_id]))[intent_id]
        return [row.shown(now) for row in rows]

    async def assessments(self, visit: Visit, given: AssessmentsQuery) -> list[Assessment]:
        """Assessments by an intent's owner, the oldest first."""
        async with self._reads.snapshot() as connection:
            project = (await seen_project(connection, visit)).project
            found = await work.get(connection, given.intent_id)
            must_be_there(found, given.intent_id, project.id)
            return await words.assessments_of(connection, given.intent_id)

    async def conflicts(self, visit: Visit, given: ConflictsQuery) -> list[Conflict]:
        """Stored conflicts, the newest first."""
        status = conflict_status(given.status)
        async with self._reads.snapshot() as connection:
            project = (await seen_project(connection, visit)).project
            return await conflicts.of_project(connection, project.id, status)

    async def detections(self, visit: Visit, given: DetectionsQuery) -> list[ConflictDetection]:
        """Every observation of a conflict, the oldest first."""
        async with self._reads.snapshot() as connection:
            project = (await seen_project(connection, visit)).project
            if await conflicts.get(connection, project.id, given.conflict_id) is None:
                raise missing(f"conflict {given.conflict_id[:100]}", "List the stored ones first.")
            return await conflicts.detections(connection, given.conflict_id)

    async def inbox(self, visit: Visit, given: InboxQuery) -> list[CoordinationMessage]:
        """Messages for an agent, the oldest first."""
        async with self._reads.snapshot() as connection:
            project = (await seen_project(connection, visit)).project
            found = await agents.get(connection, given.agent_id)
            must_know(found, given.agent_id, project.id)
            return await words.inbox(connection, given.agent_id)

    async def events(self, visit: Visit, given: EventsQuery) -> list[EventEnvelope]:
        """The project's ledger after a seq: one for both faces."""
        async with self._reads.snapshot() as connection:
            project = (await seen_project(connection, visit)).project
            found = await events.read_after(connection, project.id, given.after_seq, given.limit)
        return [EventEnvelope.of(event) for event in found]

    async def audit(self, visit: Visit, given: AuditQuery) -> ChainAudit:
        """Whether the ledger is whole."""
        async with self._reads.snapshot() as connection:
            project = (await seen_project(connection, visit)).project
        async with self._pool.acquire() as connection:
            verdict = await audit(cast(asyncpg.Connection, connection), project.id, given.page_size)
        return ChainAudit(**verdict.model_dump(include=set(ChainAudit.model_fields)))


async def _items(connection: asyncpg.Connection, found: Sequence[WorkRow]) -> list[WorkItem]:
    ids, now = [one.id for one in found], datetime.now(UTC)
    scopes = await work.scopes_of(connection, ids)
    owners = await agents.many(connection, sorted({one.agent_id for one in found}))
    held = await claims.of_intents(connection, ids)
    latest = await latest_of(connection, ids)
    dependents = await work.dependents(connection, ids)
    opened = await conflicts.open_counts(connection, ids)
    return [
        WorkItem(
            intent=shown_intent(one, scopes[one.id]),
            agent=owners[one.agent_id].shown,
            claims=[row.shown(now) for row in held[one.id]],
            latest_changeset_id=latest[one.id].id if one.id in latest else None,
            latest_changeset=latest.get(one.id),
            dependents=dependents[one.id],
            open_conflicts=opened.get(one.id, 0),
        )
        for one in found
    ]


async def _unassessed(
    connection: asyncpg.Connection, found: WorkRow, opened: Sequence[Conflict]
) -> list[str]:
    """Active intents it has an open conflict with that its owner has not assessed as they stand."""
    touching = {str(one.source_intent_id) for one in opened} | {one.target_intent_id for one in opened}
    others = [one for one in await work.many(connection, sorted(touching - {found.id})) if one.live]
    made = await words.assessments_of(connection, found.id)
    return unassessed(
        [(one.id, one.scopes_since) for one in others],
        [Assessed(one.related_intent_id, one.created_at) for one in made],
    )
