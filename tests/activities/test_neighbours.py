"""Whatever happens in whatever order: no circle of holds, held exactly who should be, each release wakes its own."""

import asyncio
from random import Random

import asyncpg
import pytest

from protocol.states import Mediation, Priority, State, Verdict
from rules.order import reaches
from rules.places import Place, covers, parse_place
from tests.activities.world import World, make_world

PATHS = ["a.py", "b.py", "src/c.py", "src/d.py", "src/"]


async def _step(world: World, chance: Random) -> None:
    """One random command."""
    live = [row for row in await world.live() if row.state in (State.ACTIVE, State.HELD)]
    kind = chance.choice(["declare", "declare", "push", "end"]) if live else "declare"
    row = chance.choice(live) if live else None
    match kind:
        case "push" if row is not None and row.state is State.ACTIVE:
            await world.push(row, chance.sample(PATHS[:4], chance.randint(0, 2)))
        case "end" if row is not None:
            await world.end(row, chance.choice([State.WITHDRAWN, State.MERGED]))
        case _:
            after = [other.id for other in chance.sample(live, min(len(live), chance.randint(0, 1)))]
            await world.declare(
                chance.sample(PATHS, chance.randint(1, 2)),
                chance.sample(PATHS, chance.randint(0, 2)),
                priority=chance.choice(list(Priority)),
                dependsOn=after,
            )


async def _check(world: World) -> None:
    """What must hold after every command."""
    live = {row.id: row for row in await world.live()}
    opened = await world.conflicts()
    waits_on: dict[str, set[str]] = {}
    for conflict in opened:
        assert {conflict.first_id, conflict.second_id} <= live.keys(), (
            "a conflict with an intent that is final"
        )
        if conflict.verdict in (Verdict.HOLD, Verdict.NARROW):
            waits_on.setdefault(conflict.second_id, set()).add(conflict.first_id)
    for second, firsts in waits_on.items():
        assert not any(reaches(waits_on, first, second) for first in firsts), "a circle of holds"
    held = {c.second_id for c in opened if c.verdict is Verdict.HOLD}
    for row in live.values():
        if row.state in (State.ACTIVE, State.HELD):
            assert (row.state is State.HELD) == (row.id in held), f"#{row.number} is {row.state}"
    await _yields_nothing_pushed(world)


async def _yields_nothing_pushed(world: World) -> None:
    pushed = [place for place in await world.places() if place.source == "pushed"]
    for conflict in await world.conflicts():
        if conflict.verdict is Verdict.NARROW:
            mine = [Place(p.path) for p in pushed if p.intent_id == conflict.second_id]
            for place in map(parse_place, conflict.places):
                assert not any(covers(place.file, path) for path in mine), "yielded a place it pushed to"


@pytest.mark.parametrize("mediation", list(Mediation))
@pytest.mark.parametrize("seed", range(4))
async def test_random_histories_keep_every_promise(
    pool: asyncpg.Pool, mediation: Mediation, seed: int
) -> None:
    world, chance = await make_world(pool, mediation), Random(seed)
    for _ in range(25):
        before = {row.id: row.state for row in await world.live()}
        await _step(world, chance)
        await _check(world)
        turned = {
            row.id
            for row in await world.live()
            if row.id in before
            and before[row.id] is not row.state
            and row.state in (State.ACTIVE, State.HELD)
        }
        assert turned <= world.woken[-1], "somebody was held or released and not woken"
        assert world.woken[-1] - turned <= before.keys() ^ {row.id for row in await world.live()}


async def test_thirty_declares_at_once_on_one_file_make_one_chain(pool: asyncpg.Pool) -> None:
    world = await make_world(pool)
    rows = await asyncio.gather(*(world.declare(["a.py"]) for _ in range(30)))
    assert sorted(row.number for row in rows) == list(range(1, 31))
    pairs = [(c.first_number, c.second_number) for c in await world.conflicts()]
    assert sorted(pairs) == [(one, two) for one in range(1, 31) for two in range(one + 1, 31)]
    assert [row.number for row in await world.live() if row.state is State.ACTIVE] == [1]


async def test_the_same_records_give_the_same_verdicts_in_whichever_order_they_came(
    pool: asyncpg.Pool,
) -> None:
    """Two intents that push into their overlap in either order end with the same one first."""
    ends = []
    for order in ((0, 1), (1, 0)):
        world = await make_world(pool)
        rows = [await world.declare(["src/c.py"]), await world.declare(["src/d.py"])]
        for index in order:
            await world.push(rows[index], ["src/c.py", "src/d.py"])
        (conflict,) = await world.conflicts()
        ends.append((conflict.first_number, conflict.second_number, conflict.rule))
    assert ends[0] == ends[1] == (1, 2, "R5")
