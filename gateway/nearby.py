"""`gitring_nearby`: who works on the same code, and what landed there since an intent began."""

from collections.abc import Collection, Sequence

import asyncpg

from gateway.access import see_intent
from gateway.apart import one_import_apart
from gateway.reads import Reads
from gateway.text.untrusted import one_line
from protocol.intents import IntentInput
from protocol.projects import Caller
from protocol.records import IntentRow
from protocol.surroundings import MergedNear, Nearby, NearbyIntent
from rules.detail import request_view
from rules.nearness import meeting, pair_text
from storage.sql import boards, conflicts, events, intents, places, projects
from storage.sql.boards import LandedRow

MOST_INTENTS = 50
MOST_MERGED = 20
MERGED_READ = 100
MOST_PATHS = 20


class Surroundings:
    """What surrounds one intent."""

    def __init__(self, reads: Reads) -> None:
        self._reads = reads

    async def nearby(self, caller: Caller, given: IntentInput) -> Nearby:
        """The live intents that meet it, and what merged on its line since; everything at one moment."""
        async with self._reads.snapshot() as connection:
            row = (await see_intent(connection, caller, given.intent_id)).intent
            seq = await events.last_seq(connection, row.project_id)
            line = await projects.line(connection, row.project_id, row.line)
            near = await _near(connection, row)
            near += await one_import_apart(connection, row, {one.id for one in near}, MOST_INTENTS + 1)
            mine = {place.path for place in await places.of_intents(connection, [row.id])}
            came = await boards.landed_at(connection, row.project_id, row.line, row.base, row.created_at)
            since = await boards.landed(connection, row.project_id, row.line, came, MERGED_READ + 1)
            asked = await conflicts.requests_of(connection, row.id)
        merged = _merged([one for one in since[:MERGED_READ] if one.id != row.id], mine)
        return Nearby(
            intent_id=row.id,
            number=row.number,
            project_id=row.project_id,
            line=row.line,
            base=row.base,
            head=line.head if line else None,
            intents=near[:MOST_INTENTS],
            more_intents=len(near) > MOST_INTENTS,
            merged=merged[:MOST_MERGED],
            more_merged=len(since) > MERGED_READ or len(merged) > MOST_MERGED,
            change_requests=[request_view(request) for request in asked],
            next=_next(row, near, merged),
            after_seq=seq,
        )


async def _near(connection: asyncpg.Connection, row: IntentRow) -> list[NearbyIntent]:
    pairs = await boards.nearest_pairs(connection, row.id, MOST_INTENTS + 1)
    ids = [pair.first_id if pair.second_id == row.id else pair.second_id for pair in pairs]
    others = await intents.many(connection, ids)
    agents = await intents.agents_of(connection, ids)
    return [
        NearbyIntent(
            id=other.id,
            number=other.number,
            title=one_line(other.title),
            state=other.state,
            acts_for=one_line(other.person_name),
            agent=one_line(agents.get(other.id, other.agent_name)),
            range=pair.range,
            rule=pair.rule,
            verdict=pair.verdict,
            places=[one_line(place) for place in pair.places],
            text=pair_text(pair),
        )
        for pair, other in zip(pairs, map(others.__getitem__, ids), strict=True)
    ]


def _merged(rows: Sequence[LandedRow], mine: Collection[str]) -> list[MergedNear]:
    """Those that changed one of our places first, newest first in each half."""
    found = [_one_merged(row, meeting(row.paths, mine)) for row in rows]
    return sorted(found, key=lambda one: not one.places)


def _one_merged(row: LandedRow, met: Sequence[str]) -> MergedNear:
    others = [path for path in row.paths[: 2 * MOST_PATHS] if path not in met]
    return MergedNear(
        id=row.id,
        number=row.number,
        title=one_line(row.title),
        commit=row.commit,
        merged_at=row.merged_at,
        changed=[one_line(path) for path in [*met, *others][:MOST_PATHS]],
        changed_count=row.path_count,
        places=[one_line(path) for path in met[:MOST_PATHS]],
    )


def _next(row: IntentRow, near: Sequence[NearbyIntent], merged: Sequence[MergedNear]) -> str:
    if row.state.final:
        return f"Nothing: #{row.number} is {row.state.text.lower()}. Declare a new intent for more work."
    said = []
    if any(one.places for one in merged):
        said.append(f"merge {row.line} into your work before you submit")
    if near:
        said.append("read the plan of one you meet with gitring_board and its intentId")
    said.append("call gitring_status before each push")
    text = "; ".join(said)
    return f"{text[0].upper()}{text[1:]}."
