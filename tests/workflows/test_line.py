"""The merge queue on the real engine: one candidate of all, halves on red, landing that survives a crash."""

import asyncio
from datetime import UTC, datetime

from activities.folders import Folders
from activities.merges import Merges
from activities.queue import Queue
from activities.store import Store
from activities.wakes import start_line
from protocol.answers import DeclareResult
from protocol.commands import LineStart
from protocol.events import Event
from protocol.ids import CommitId, new_id
from protocol.intents import WithdrawInput
from protocol.queue import BuildCandidate, Candidate
from protocol.states import State
from storage.git.repository import Repository
from storage.sql import lines, queue
from storage.sql.pool import transaction
from tests.support.engine import Engine, ProjectUnderTest


async def ready(project: ProjectUnderTest, number: int, text: str = "new\n") -> DeclareResult:
    """An intent with one pushed change."""
    intent = await project.declare(f"app/f{number}.py")
    await project.push(intent, {f"app/f{number}.py": text})
    return intent


async def paused(project: ProjectUnderTest, why: str | None) -> None:
    """Hold the line's queue, or let it go on."""
    engine = project.engine
    async with transaction(engine.found.pool) as connection:
        if why is None:
            await lines.resume(connection, project.id, "main", datetime.now(UTC))
        else:
            await lines.pause(connection, project.id, "main", why, "owner")
    if why is None:
        line = LineStart(project_id=project.id, line="main", host=engine.settings.host_name)
        await start_line(engine.found.temporal, line)


async def log(project: ProjectUnderTest) -> list[Event]:
    """The whole ledger."""
    return await project.engine.operations.events(project.agent, project.slug, 0, 1000)


def runs(events: list[Event]) -> list[str]:
    """The check runs that were started, each once, in order."""
    return list(dict.fromkeys(e.entity_id for e in events if e.event_type == "check.started"))


async def test_intents_queued_together_are_tested_once_and_land_in_order(engine: Engine) -> None:
    project = await engine.project(test="true")
    intents = [await ready(project, n) for n in range(6)]
    await paused(project, "until all are queued")
    for intent in intents:
        assert (await project.submit(intent)).intent.state is State.VERIFYING
    await paused(project, None)
    for intent in intents:
        await project.until(intent, State.MERGED)
    assert project.line() == [f"Merge #{n}: Work" for n in range(6, 0, -1)] + ["first"]
    assert len(runs(await log(project))) == 1
    assert (await engine.operations.audit(engine.owner, project.slug)).valid


async def test_one_bad_intent_among_many_is_found_by_halving_and_the_others_land(engine: Engine) -> None:
    project = await engine.project(test="! grep -rq broken app")
    intents = [await ready(project, n, "broken\n" if n == 4 else "new\n") for n in range(8)]
    await paused(project, "until all are queued")
    for intent in intents:
        await project.submit(intent)
    await paused(project, None)
    for n, intent in enumerate(intents):
        if n != 4:
            await project.until(intent, State.MERGED)
    back = await project.until(intents[4], State.ACTIVE)
    assert [r.kind for r in back.change_requests] == ["check"]
    events = await log(project)
    returned = [e.intent_id for e in events if e.payload.get("why") == "checks_failed"]
    assert returned == [intents[4].intent.id]
    # all; prefixes of 1 to 8 beside the line itself; what is left of them; the bad one alone; the rest
    assert len(runs(events)) <= 1 + 3 + 4 + 1 + 1
    assert "Merge #5: Work" not in project.line()
    assert len(project.line()) == 8


async def test_a_tree_that_was_tested_is_not_tested_again(engine: Engine) -> None:
    project = await engine.project(test="! grep -rq broken app")
    intent = await ready(project, 1, "broken\n")
    await project.submit(intent)
    first = (await project.returned(intent)).checks[0]
    await engine.operations.withdraw(
        project.agent, WithdrawInput(intent_id=intent.intent.id, reason="another tries the same")
    )
    again = await ready(project, 1, "broken\n")
    await project.submit(again)
    second = (await project.returned(again)).checks[0]
    assert (second.id, second.reused) == (first.id, True)


async def test_an_intent_waits_in_the_queue_for_what_it_goes_after(engine: Engine) -> None:
    project = await engine.project(test="true")
    first = await project.declare("app/f1.py")
    second = await project.declare("app/f2.py", dependsOn=[first.intent.id])
    assert [g.number for g in second.intent.depends_on] == [1]
    await project.push(second, {"app/f2.py": "new\n"})
    await project.submit(second)
    await project.push(first, {"app/f1.py": "new\n"})
    await project.submit(first)
    await project.until(second, State.MERGED)
    assert project.line() == ["Merge #2: Work", "Merge #1: Work", "first"]


async def test_a_queued_intent_that_goes_after_a_withdrawn_one_lands(engine: Engine) -> None:
    project = await engine.project(test="true")
    first = await project.declare("app/f1.py")
    second = await project.declare("app/f2.py", dependsOn=[first.intent.id])
    await project.push(second, {"app/f2.py": "new\n"})
    await project.submit(second)
    await engine.operations.withdraw(project.agent, WithdrawInput(intent_id=first.intent.id, reason="no"))
    await project.until(second, State.MERGED)


async def _candidate(project: ProjectUnderTest, merges: Merges, at: int = 1_800_000_000) -> Candidate:
    engine = project.engine
    snapshot = await Queue(Store(engine.found.pool), engine.settings.url, 4).read(project.id, "main")
    wanted = BuildCandidate(
        project_id=project.id, line="main", line_head=str(snapshot.head), entries=snapshot.entries, at=at
    )
    return await merges.build(wanted)


async def test_a_retry_builds_the_identical_merge_commits(engine: Engine) -> None:
    project = await engine.project(test="true")
    await paused(project, "look closer")
    for n in range(2):
        await project.submit(await ready(project, n))
    merges = Merges(Store(engine.found.pool), Folders(engine.settings.data_dir))
    one, again = await _candidate(project, merges), await _candidate(project, merges)
    assert one == again
    assert len({member.commit for member in one.members}) == 2


async def test_a_landing_cut_short_after_the_ref_moved_is_finished_once(engine: Engine) -> None:
    project = await engine.project(test="true")
    await paused(project, "until the marker stands")
    intent = await ready(project, 1)
    await project.submit(intent)
    merges = Merges(Store(engine.found.pool), Folders(engine.settings.data_dir))
    candidate = await _candidate(project, merges)
    await _mark(project, candidate)
    repository = Repository(project.repository_path)
    await repository.update_ref("refs/heads/main", CommitId(candidate.commit), CommitId(candidate.line_head))
    await paused(project, None)
    await project.until(intent, State.MERGED)
    assert project.line() == ["Merge #1: Work", "first"]
    moved = [e for e in await log(project) if e.event_type == "line.moved"]
    assert [e.payload["merged"] for e in moved] == [[1]]


async def test_a_landing_cut_short_before_the_ref_moved_is_finished_once(engine: Engine) -> None:
    project = await engine.project(test="true")
    await paused(project, "until the marker stands")
    intent = await ready(project, 1)
    await project.submit(intent)
    merges = Merges(Store(engine.found.pool), Folders(engine.settings.data_dir))
    await _mark(project, await _candidate(project, merges))
    await paused(project, None)
    await project.until(intent, State.MERGED)
    assert project.line() == ["Merge #1: Work", "first"]


async def _mark(project: ProjectUnderTest, candidate: Candidate) -> None:
    async with transaction(project.engine.found.pool) as connection:
        await queue.prepare(
            connection,
            landing_id=new_id("lnd"),
            project_id=project.id,
            line="main",
            old_head=candidate.line_head,
            members=candidate.members,
            now=datetime.now(UTC),
        )


async def test_a_line_moved_by_hand_is_adopted_and_the_queue_goes_on_from_there(engine: Engine) -> None:
    project = await engine.project(test="true")
    other, intent = await ready(project, 1), await ready(project, 2)
    repository = Repository(project.repository_path)
    by_hand = await repository.head(f"refs/intents/{other.intent.id}")
    assert by_hand is not None
    await repository.update_ref("refs/heads/main", by_hand, CommitId(intent.intent.base))
    await project.submit(intent)
    await project.until(intent, State.MERGED)
    assert project.line()[:2] == ["Merge #2: Work", "work on #1"]
    outside = [e for e in await log(project) if e.payload.get("outside")]
    assert [e.payload["to"] for e in outside] == [by_hand]


async def test_a_withdrawal_while_the_queue_tests_ends_in_one_clear_state(engine: Engine) -> None:
    project = await engine.project(test="sleep 1")
    intent = await ready(project, 1)
    await project.submit(intent)
    await _event(project, "check.started")
    gone = await engine.operations.withdraw(
        project.agent,
        WithdrawInput(intent_id=intent.intent.id, reason="no"),
    )
    assert gone.intent.state is State.WITHDRAWN
    after = await ready(project, 2)
    await project.submit(after)
    await project.until(after, State.MERGED)
    assert project.line() == ["Merge #2: Work", "first"]


async def _event(project: ProjectUnderTest, event_type: str) -> Event:
    async with asyncio.timeout(30):
        async for event in project.engine.operations.live_events(project.agent, project.slug, 0):
            if event.event_type == event_type:
                return event
    raise AssertionError("the stream of events ended")
