"""The queue plans while tests run: it speculates, names who clashes, and blames nobody for a red line."""

import asyncio
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from activities.wakes import start_line
from protocol.answers import DeclareResult
from protocol.commands import LineStart
from protocol.events import Event
from protocol.ids import new_id
from protocol.intents import LandNowInput, WithdrawInput
from protocol.projects import ChangeSettings, ChecksInput, Line, PauseLine
from protocol.refusals import Refused
from protocol.states import State
from tests.support.engine import Engine, ProjectUnderTest, git, write
from tests.workflows.test_line import paused, ready


class Gate:
    """A check that waits until it is let through: a named pipe, so that nothing is timed."""

    def __init__(self, folder: Path) -> None:
        self.pipe = folder / "gate"
        os.mkfifo(self.pipe)
        os.chmod(self.pipe, 0o666)
        self._end = os.open(self.pipe, os.O_RDWR)

    @property
    def command(self) -> str:
        return f"head -c 1 {self.pipe}"

    def let_through(self, checks: int = 1) -> None:
        os.write(self._end, b"." * checks)

    def close(self) -> None:
        os.close(self._end)


@pytest.fixture
def gate() -> Iterator[Gate]:
    """A pipe that the checks' own user can reach."""
    with TemporaryDirectory(prefix="gitring-gate-") as folder:
        os.chmod(folder, 0o755)
        found = Gate(Path(folder))
        yield found
        found.close()


async def seen(project: ProjectUnderTest, wanted: Callable[[Event], bool], count: int = 1) -> None:
    """Wait until the ledger holds `count` such events."""
    async with asyncio.timeout(60):
        async for event in project.engine.operations.live_events(project.agent, project.slug, 0):
            count -= wanted(event)
            if not count:
                return


async def started(project: ProjectUnderTest, intent: DeclareResult, count: int = 1) -> None:
    """Wait until this many checks that speak of the intent have begun."""
    own = intent.intent.id
    await seen(project, lambda e: e.event_type == "check.started" and e.intent_id == own, count)


async def stopped(project: ProjectUnderTest) -> Line:
    """The line, once its queue stands still by itself."""
    by_itself = ("Checks failed on main itself", "drained: ")
    await seen(project, lambda e: e.event_type == "line.paused" and e.payload["reason"].startswith(by_itself))
    return (await project.engine.operations.lines(project.agent, project.slug)).lines[0]


async def test_two_that_fail_only_together_are_both_named_and_the_first_lands(engine: Engine) -> None:
    project = await engine.project(test="! (grep -q new app/f1.py && grep -q new app/f3.py)")
    intents = [await ready(project, n) for n in (1, 2, 3, 4)]
    await paused(project, "until all are queued")
    for intent in intents:
        await project.submit(intent)
    await paused(project, None)
    for intent in (intents[0], intents[1], intents[3]):
        await project.until(intent, State.MERGED)
    back = await project.returned(intents[2])
    assert "the two fail only together, and #1 landed first" in back.change_requests[0].reason


async def test_a_line_that_fails_by_itself_blames_nobody_and_goes_on_when_an_owner_resumes_it(
    engine: Engine,
) -> None:
    project = await engine.project(test="false")
    intent = await ready(project, 1)
    await project.submit(intent)
    line = await stopped(project)
    assert line.stopped_by == "line"
    assert line.paused is not None
    assert line.paused.startswith("Checks failed on main itself at ")
    detail = await project.status(intent)
    assert (detail.intent.state, detail.change_requests) == (State.VERIFYING, [])
    settings = ChangeSettings(checks=ChecksInput(test="true"))
    await engine.operations.change_settings(engine.owner, project.slug, settings)
    await engine.operations.resume_line(engine.owner, project.slug, "main")
    await project.until(intent, State.MERGED)


async def test_an_intent_that_needs_a_person_is_not_blamed_for_a_red_line_either(engine: Engine) -> None:
    project = await engine.project(test="false")
    intent = await project.declare("pyproject.toml")
    await project.decide(intent, "approve", "plan")
    await project.push(intent, {"pyproject.toml": "[project]\n"})
    await project.submit(intent)
    assert (await stopped(project)).stopped_by == "line"
    assert (await project.status(intent)).intent.state is State.VERIFYING
    settings = ChangeSettings(checks=ChecksInput(test="true"))
    await engine.operations.change_settings(engine.owner, project.slug, settings)
    await engine.operations.resume_line(engine.owner, project.slug, "main")
    await project.until(intent, State.AWAITING_APPROVAL)


async def test_what_is_submitted_while_a_check_runs_is_tested_beside_it(engine: Engine, gate: Gate) -> None:
    project = await engine.project(test=gate.command)
    first, second = await ready(project, 1), await ready(project, 2)
    await project.submit(first)
    await started(project, first)
    await project.submit(second)
    await started(project, second)
    gate.let_through(4)
    await project.until(first, State.MERGED)
    gate.let_through(4)
    await project.until(second, State.MERGED)


async def test_withdrawing_one_of_a_candidate_stops_its_test_and_the_others_land(
    engine: Engine, gate: Gate
) -> None:
    project = await engine.project(test=gate.command)
    first, second = await ready(project, 1), await ready(project, 2)
    await paused(project, "until both are queued")
    await project.submit(first)
    await project.submit(second)
    await paused(project, None)
    await started(project, second)
    await engine.operations.withdraw(
        project.agent, WithdrawInput(intent_id=first.intent.id, reason="not needed")
    )
    await started(project, second, 2)
    gate.let_through(4)
    await project.until(second, State.MERGED)
    assert project.line() == ["Merge #2: Work", "first"]


async def test_an_owner_lands_one_before_all_others_and_the_line_is_checked_afterwards(
    engine: Engine,
) -> None:
    project = await engine.project(test="! grep -q new app/f2.py")
    first, urgent = await ready(project, 1), await ready(project, 2)
    await paused(project, "a release")
    await project.submit(first)
    now = LandNowInput(reason="Customers cannot pay.", checks="skip")
    with pytest.raises(Refused, match="Only a person can decide"):
        await engine.operations.land_now(project.agent, urgent.intent.id, now)
    told = await engine.operations.land_now(engine.owner, urgent.intent.id, now)
    assert told.intent.state is State.QUEUED
    landed = await project.until(urgent, State.MERGED)
    assert [(d.kind, d.note) for d in landed.decisions] == [("emergency_unchecked", "Customers cannot pay.")]
    await paused(project, None)
    assert (await stopped(project)).stopped_by == "line"
    assert (await project.status(first)).change_requests == []


async def test_a_drained_line_lands_what_was_queued_and_keeps_what_comes_later(
    engine: Engine, gate: Gate
) -> None:
    project = await engine.project(test=gate.command)
    first, second = await ready(project, 1), await ready(project, 2)
    await project.submit(first)
    await started(project, first)
    told = await engine.operations.drain_line(
        engine.owner, project.slug, "main", PauseLine(reason="Move to another machine")
    )
    assert told.lines[0].draining == "Move to another machine"
    await project.submit(second)
    gate.let_through(4)
    await project.until(first, State.MERGED)
    line = await stopped(project)
    assert (line.stopped_by, line.paused) == ("drained", "drained: Move to another machine")
    assert (await project.status(second)).intent.state is State.VERIFYING
    await engine.operations.resume_line(engine.owner, project.slug, "main")
    await started(project, second)
    gate.let_through(4)
    await project.until(second, State.MERGED)


async def test_a_red_queue_goes_on_when_somebody_mends_the_line_by_hand(engine: Engine) -> None:
    project = await engine.project(test="test -e app/mended.py")
    intent = await ready(project, 1)
    await project.submit(intent)
    assert (await stopped(project)).stopped_by == "line"
    work = engine.folder / new_id("wrk")
    git(engine.folder, "clone", "-q", str(project.repository_path), str(work))
    write(work, {"app/mended.py": "by hand\n"})
    git(work, "add", "-A")
    git(work, "commit", "-qm", "mended by hand")
    git(work, "push", "-q", "origin", "HEAD:main")
    line = LineStart(project_id=project.id, line="main", host=engine.settings.host_name)
    await start_line(engine.found.temporal, line)
    await project.until(intent, State.MERGED)


async def test_a_returned_intent_that_is_mended_stands_where_it_stood(engine: Engine) -> None:
    project = await engine.project(test="! grep -rq broken app")
    first, second = await ready(project, 1, "broken\n"), await ready(project, 2)
    await project.submit(first)
    await project.returned(first)
    await paused(project, "until both are queued")
    await project.submit(second)
    await project.push(first, {"app/f1.py": "mended\n"})
    await project.submit(first)
    await paused(project, None)
    await project.until(second, State.MERGED)
    assert project.line() == ["Merge #2: Work", "Merge #1: Work", "first"]


async def test_a_submitted_intent_hears_its_place_and_why_its_queue_stands_still(engine: Engine) -> None:
    project = await engine.project(test="true")
    before = await ready(project, 1)
    await project.submit(before)
    await project.until(before, State.MERGED)
    first, second = await ready(project, 2), await ready(project, 3)
    await paused(project, "a release")
    await project.submit(first)
    told = await project.submit(second)
    assert told.queue is not None
    assert (told.queue.position, told.queue.of, told.queue.ahead, told.queue.eta_sec) == (2, 2, [2], None)
    assert told.next.startswith("The queue of main stands still, and nothing waits on you")
    await paused(project, None)
    await project.until(second, State.MERGED)
