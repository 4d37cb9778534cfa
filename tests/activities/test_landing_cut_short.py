"""A landing that is cut short at any of its waits, and repeated: the record and the ref agree, each lands once.

Real Postgres and git; what is cut is the product's own `land`, wherever it waits for one of the two.
"""

from collections import Counter
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import asyncpg

from activities.change import change_project
from activities.folders import Folders
from activities.merges import Merges
from protocol.ids import CommitId, new_id
from protocol.queue import BuildCandidate, Candidate, LandCandidate, Landed, LandingState, QueueEntry
from protocol.records import IntentRow
from protocol.states import State
from storage.git.commits import Signature, commit_writer
from storage.git.refs import RefChange
from storage.git.repository import Repository
from storage.sql import events, intents, lines, projects, queue
from storage.sql.pool import transaction
from tests.activities.world import World, make_world
from tests.support.cut import ended_before

MAIN = "refs/heads/main"
ANA = Signature(name="Ana Ruiz", email="ana@example.com", at=1_700_000_000)


@dataclass
class Place:
    """One project with its repository, and the activities that land there."""

    world: World
    repository: Repository
    merges: Merges
    at: int = 0

    async def ref(self) -> str:
        """Where git has the line."""
        return str(await self.repository.head(MAIN))

    async def recorded(self) -> str:
        """Where the record has the line."""
        async with transaction(self.world.store.pool) as connection:
            found = await projects.line(connection, self.world.project_id, "main")
        assert found is not None
        return str(found.head)

    async def opened(self) -> bool:
        """Whether a marker is open."""
        async with transaction(self.world.store.pool) as connection:
            return await queue.open_landing(connection, self.world.project_id, "main") is not None

    async def commit(self, parent: str, by_hand: bool = False) -> CommitId:
        """A commit that changes nothing, or one file that nobody else changes; each call makes another one."""
        self.at += 1
        tree = await self.repository.tree_of(CommitId(parent))
        if by_hand:
            text = f"moved for the {self.at}th time\n".encode()
            blob = (await self.repository.git("hash-object", "-w", "--stdin", stdin=text)).stdout.strip()
            row = b"100644 blob %s\tby-hand.txt\n" % blob
            tree = (await self.repository.git("mktree", stdin=row)).stdout.decode().strip()
        who = ANA.model_copy(update={"at": ANA.at + self.at})
        async with commit_writer(self.repository) as writer:
            return await writer.write(tree, [CommitId(parent)], who, who, "work")

    async def queued(self, path: str) -> IntentRow:
        """An intent that stands in the queue, its work an empty commit: what merges is another test's question."""
        row = await self.world.declare([path])
        head = await self.commit(await self.ref())
        async with change_project(self.world.store, self.world.project_id) as change:
            await intents.set_submitted(change.connection, row.id, head, [])
            await change.move(row, State.VERIFYING)
            await intents.enqueue(change.connection, row.id, change.now)
        return await self.world.row(row.id)

    async def candidate(self, rows: list[IntentRow]) -> LandCandidate:
        """What the queue would land of them now."""
        entries = [
            QueueEntry(
                intent_id=row.id,
                number=row.number,
                head=str(row.submitted_head),
                title="Work",
                message=f"Merge #{row.number}",
                author_name="Ana Ruiz",
                author_email="ana@example.com",
            )
            for row in rows
        ]
        wanted = BuildCandidate(
            project_id=self.world.project_id,
            line="main",
            line_head=await self.ref(),
            entries=entries,
            at=ANA.at,
        )
        return self.landing(await self.merges.build(wanted))

    def landing(self, candidate: Candidate) -> LandCandidate:
        return LandCandidate(
            landing_id=new_id("lnd"), project_id=self.world.project_id, line="main", candidate=candidate
        )

    async def landed(self, wanted: LandCandidate) -> Landed:
        """A second try: the same activity again, or what the line's next round does with an open marker."""
        if await self.opened() and wanted.candidate.members[0].number % 4 == 1:
            return await self.merges.finish_landing(self.world.project_id, "main")
        return await self.merges.land(wanted)

    async def by_hand(self, onto: str) -> None:
        """Somebody with a shell on the host moves the line."""
        moved = await self.commit(onto, by_hand=True)
        await self.repository.update_refs([RefChange(ref=MAIN, old=CommitId(await self.ref()), new=moved)])


Between = Callable[[Place, LandCandidate], Awaitable[None]]


async def nothing(place: Place, wanted: LandCandidate) -> None:
    """The second try finds all as the first left it."""


async def moved_on(place: Place, wanted: LandCandidate) -> None:
    """The line moves on from wherever the first try left it."""
    await place.by_hand(await place.ref())


async def moved_aside(place: Place, wanted: LandCandidate) -> None:
    """The line goes on from where it was before the landing; what landed is on it no more, unless it is recorded."""
    if (await place.world.row(wanted.candidate.members[0].intent_id)).state is not State.MERGED:
        await place.by_hand(wanted.candidate.line_head)


async def _place(pool: asyncpg.Pool, folder: Path) -> Place:
    world = await make_world(pool)
    folders = Folders(folder)
    repository = await Repository.create(folders.repository_path(world.project_id), "main")
    await repository.git("config", "core.fsync", "none")
    head = await repository.begin_line("main", "Start", ANA)
    async with transaction(pool) as connection:
        await lines.move(connection, world.project_id, "main", head)
    return Place(world, repository, Merges(world.store, folders))


async def _round(place: Place, at: int, between: Between) -> bool:
    """One landing of two, cut at a wait, disturbed, cut again, repeated. True when it was over before the first cut."""
    rows = [await place.queued(f"src/f{at}-{n}.py") for n in range(2)]
    wanted = await place.candidate(rows)
    over = await ended_before(place.merges.land(wanted), at)
    await between(place, wanted)
    await ended_before(place.landed(wanted), at)
    again = await place.landed(wanted)
    if again.state is not LandingState.LANDED:
        assert [(await place.world.row(row.id)).state for row in rows] == [State.VERIFYING] * 2
        assert await place.recorded() == await place.ref()
        again = await place.merges.land(await place.candidate(rows))
    assert again.state is LandingState.LANDED
    # Moved by hand after the landing was recorded: the line's next round takes it over.
    await place.merges.adopt_line(place.world.project_id, "main")
    assert await place.recorded() == await place.ref()
    assert not await place.opened()
    for row in rows:
        assert (await place.world.row(row.id)).state is State.MERGED
        assert await place.repository.is_ancestor(
            CommitId(str(row.submitted_head)), CommitId(await place.ref())
        )
    return over


async def _each_landed_once(place: Place) -> None:
    async with transaction(place.world.store.pool) as connection:
        told = await events.read_after(connection, place.world.project_id, 0, 100_000)
        numbers = [
            row.number for row in (await intents.many(connection, [str(e.intent_id) for e in told])).values()
        ]
    merged = Counter(e.payload["number"] for e in told if e.payload.get("to") == "merged")
    moved = Counter(n for e in told if e.event_type == "line.moved" for n in e.payload["merged"])
    assert merged == moved == Counter(numbers)
    heads = [(e.payload["from"], e.payload["to"]) for e in told if e.event_type == "line.moved"]
    assert all(before[1] == after[0] for before, after in pairwise(heads))


async def _cut_everywhere(place: Place, between: Between, at: int = 0, step: int = 1) -> int:
    while not await _round(place, at, between):
        at += step
    await _each_landed_once(place)
    return at


async def test_a_landing_cut_short_at_any_wait_and_repeated_lands_each_once(
    pool: asyncpg.Pool, tmp_path: Path
) -> None:
    waits = await _cut_everywhere(await _place(pool, tmp_path), nothing)
    # The marker, the ref and the record are some waits each; fewer would mean that nothing was cut.
    assert waits > 10


async def test_a_landing_cut_short_while_the_line_moves_on_by_hand_lands_each_once(
    pool: asyncpg.Pool, tmp_path: Path
) -> None:
    # Every step is several waits long.
    await _cut_everywhere(await _place(pool, tmp_path), moved_on, step=3)


async def test_a_landing_cut_short_and_taken_back_by_hand_lands_each_once(
    pool: asyncpg.Pool, tmp_path: Path
) -> None:
    await _cut_everywhere(await _place(pool, tmp_path), moved_aside, at=1, step=3)
