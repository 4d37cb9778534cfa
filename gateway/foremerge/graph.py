"""`GET /v1/graph`: computed from the record each time it is asked for."""

import asyncio
from datetime import UTC, datetime

import asyncpg

from gateway.foremerge.surface import Visit
from gateway.foremerge.visits import seen_project
from gateway.reads import Reads
from protocol.foremerge.intents import Intent
from protocol.foremerge.ledger import Graph
from protocol.foremerge.records import WorkRow
from rules.foremerge.graph import Recorded, Resolved, graph_of
from storage.sql.foremerge import agents, claims, conflicts, whole


async def semantic_graph(reads: Reads, visit: Visit) -> Graph:
    """Nodes and edges of the whole project; refuses like any read."""
    async with reads.snapshot() as connection:
        project_id = (await seen_project(connection, visit)).project.id
        recorded = await _recorded(connection, project_id)
    # A large project is some ten thousand nodes: other calls go on meanwhile.
    return await asyncio.to_thread(graph_of, recorded)


async def _recorded(connection: asyncpg.Connection, project_id: str) -> Recorded:
    now = datetime.now(UTC)
    rows = await whole.works(connection, project_id)
    held = await claims.of_intents(connection, [row.id for row in rows])
    return Recorded(
        agents=[row.shown for row in await agents.of_project(connection, project_id)],
        tasks=await whole.tasks(connection, project_id),
        intents=[_intent(row) for row in rows],
        claims=[claim.shown(now) for found in held.values() for claim in found],
        changesets=await whole.changesets(connection, project_id),
        attempts=await whole.attempts(connection, project_id),
        decisions=[Resolved(*one) for one in await whole.decisions(connection, project_id)],
        conflicts=await conflicts.of_project(connection, project_id, None),
        detections=await whole.detections(connection, project_id),
        assessments=await whole.assessments(connection, project_id),
    )


def _intent(row: WorkRow) -> Intent:
    """Without scopes and metadata: no node shows them."""
    kept = set(Intent.model_fields) - {"scopes", "metadata", "open_conflicts"}
    return Intent(**row.model_dump(include=kept))
