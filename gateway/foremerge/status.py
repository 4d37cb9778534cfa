"""`status`: the whole project at one moment, from one read transaction."""

from datetime import UTC, datetime

import asyncpg

from gateway.foremerge.surface import Visit
from gateway.foremerge.visits import seen_project
from gateway.reads import Reads
from protocol.foremerge.conflicts import Conflict
from protocol.foremerge.messages import CoordinationMessage
from protocol.foremerge.records import AgentRow, ScopeRow
from protocol.foremerge.words import IntentStatus
from protocol.foremerge.work import AgentSeen, ConflictSeen, IntentGroup, IntentSeen, StatusReport
from rules.foremerge.agents import AgentFacts, is_stale, is_stranded
from rules.foremerge.stored import must_know
from storage.sql import events
from storage.sql.foremerge import agents, overview, words, work

_MOST_UNREAD = 100


async def status_report(reads: Reads, visit: Visit, inbox_of: str | None = None) -> StatusReport:
    """Agents, intents by status, running claims, open conflicts, ChangeSets; refuses like any read."""
    async with reads.snapshot() as connection:
        project_id = (await seen_project(connection, visit)).project.id
        now = datetime.now(UTC)
        known = await agents.of_project(connection, project_id)
        return StatusReport(
            agents=[_agent(row, now) for row in known],
            intents=_grouped(await overview.intents(connection, project_id, now), known, now),
            claims=await overview.running_claims(connection, project_id, now),
            conflicts=await _conflicts(connection, project_id),
            changesets=await overview.changesets(connection, project_id),
            as_of_event=await events.last_seq(connection, project_id),
            inbox=await _unread(connection, project_id, inbox_of),
        )


async def _unread(
    connection: asyncpg.Connection, project_id: str, agent_id: str | None
) -> list[CoordinationMessage]:
    if agent_id is None:
        return []
    must_know(await agents.get(connection, agent_id), agent_id, project_id)
    return await words.unread(connection, agent_id, _MOST_UNREAD)


def _facts(row: AgentRow) -> AgentFacts:
    return AgentFacts(row.id, row.name, row.worktree, row.last_seen_at)


def _agent(row: AgentRow, now: datetime) -> AgentSeen:
    return AgentSeen(
        id=row.id,
        name=row.name,
        model=row.model,
        worktree=row.worktree,
        last_seen_at=row.last_seen_at,
        stale=is_stale(_facts(row), now),
    )


def _grouped(found: list[overview.IntentLine], known: list[AgentRow], now: datetime) -> list[IntentGroup]:
    owners = {row.id: _facts(row) for row in known}
    groups: list[IntentGroup] = []
    for status in IntentStatus:
        lines = [line for line in found if line.status is status]
        if lines:
            shown = [_intent(line, owners[line.agent_id], now) for line in lines]
            groups.append(IntentGroup(status=status, count=lines[0].number_of, intents=shown))
    return groups


def _intent(line: overview.IntentLine, owner: AgentFacts, now: datetime) -> IntentSeen:
    # Gitring's own intents have no lease to let lapse: gitring itself knows who is silent there.
    stranded = not line.of_gitring and is_stranded(line.status, owner, int(line.running), now)
    return IntentSeen(
        id=line.id,
        agent_id=line.agent_id,
        agent_name=line.agent_name,
        summary=line.summary,
        stranded=stranded,
    )


async def _conflicts(connection: asyncpg.Connection, project_id: str) -> list[ConflictSeen]:
    found = await overview.unsettled(connection, project_id)
    parties = sorted({one for conflict in found for one in _parties(conflict)})
    names = await overview.owner_names(connection, parties)
    scopes = await work.scopes_of(connection, parties)
    return [_conflict(conflict, names, scopes) for conflict in found]


def _parties(conflict: Conflict) -> list[str]:
    return [one for one in (conflict.source_intent_id, conflict.target_intent_id) if one]


def _conflict(conflict: Conflict, names: dict[str, str], scopes: dict[str, list[ScopeRow]]) -> ConflictSeen:
    source, target = conflict.source_intent_id, conflict.target_intent_id
    return ConflictSeen(
        id=conflict.id,
        kind=conflict.kind,
        severity=conflict.severity,
        status=conflict.status,
        scope=conflict.scope,
        source_intent_id=source,
        source_agent_name=names[source] if source else None,
        source_scopes=_texts(scopes[source]) if source else [],
        target_intent_id=target,
        target_agent_name=names[target],
        target_scopes=_texts(scopes[target]),
    )


def _texts(scopes: list[ScopeRow]) -> list[str]:
    return [f"{scope.kind}:{scope.key}" for scope in scopes]
