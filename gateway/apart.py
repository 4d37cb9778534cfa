"""Range 3: a changed file of one intent imports, or is imported by, a changed file of the other. Shown, no action.

Computed when somebody asks, from the import edges of the line; it asks nothing of anybody, so it is no event.
"""

from collections.abc import Collection, Mapping

import asyncpg

from gateway.text.untrusted import one_line
from protocol.records import IntentRow, PlaceRow
from protocol.states import Verdict
from protocol.surroundings import NearbyIntent
from rules.conflict_texts import RANGE_NAMES
from rules.places import Place, ancestors, covers
from storage.sql import intents, places
from storage.sql.symbols import edges_of

MOST_FILES = 2000


async def one_import_apart(
    connection: asyncpg.Connection, row: IntentRow, met: Collection[str], limit: int
) -> list[NearbyIntent]:
    """Live intents of the line that stand one import from `row` and meet it nowhere, lowest number first."""
    mine = [place.path for place in await places.of_intents(connection, [row.id]) if place.role == "change"]
    edges = await edges_of(connection, row.project_id, row.line, sorted(set(mine))[:MOST_FILES])
    reasons: dict[str, str] = {}
    for path, targets in edges.imports.items():
        reasons.update({target: f"{path} imports {target}" for target in targets})
    for path, sources in edges.imported_by.items():
        reasons.update({source: f"{source} imports {path}" for source in sources})
    files = sorted(reasons.keys() - set(mine))[:MOST_FILES]
    if not files:
        return []
    above = sorted({folder for path in files for folder in ancestors(path)})
    near = await places.met_by(connection, row.project_id, row.line, files, above, row.id)
    wanted = sorted(set(near) - set(met))
    found = _where(await places.of_intents(connection, wanted), files) if wanted else {}
    others = await intents.many(connection, sorted(found))
    agents = await intents.agents_of(connection, sorted(found))
    shown = sorted(others.values(), key=lambda other: other.number)[:limit]
    return [_one(other, agents.get(other.id, other.agent_name), found[other.id], reasons) for other in shown]


def _where(rows: Collection[PlaceRow], files: Collection[str]) -> dict[str, str]:
    """By intent, the first of `files` that it changes."""
    found: dict[str, str] = {}
    for row in rows:
        if row.role == "change":
            hit = next((path for path in files if covers(Place(row.path), Place(path))), None)
            if hit is not None:
                found.setdefault(row.intent_id, hit)
    return found


def _one(other: IntentRow, agent: str, path: str, reasons: Mapping[str, str]) -> NearbyIntent:
    return NearbyIntent(
        id=other.id,
        number=other.number,
        title=one_line(other.title),
        state=other.state,
        acts_for=one_line(other.person_name),
        agent=one_line(agent),
        range=3,
        rule="-",
        verdict=Verdict.SHOWN,
        places=[one_line(path)],
        text=f"Range 3: {RANGE_NAMES[3]} ({one_line(reasons[path])}). No action.",
    )
