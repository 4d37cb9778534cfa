"""The watchdog on the real servers: it raises once, heals what a wake heals, and clears."""

from datetime import UTC, datetime, timedelta

from activities.store import Store
from protocol.answers import IntentDetail
from protocol.events import Event
from protocol.intents import WithdrawInput
from protocol.names import intent_workflow, line_workflow
from protocol.projects import CreateToken
from protocol.states import Mediation, State
from protocol.watch import Finding, WatchKind
from runtime.watch_engine import Engines
from runtime.watchdog import Watchdog
from storage.sql import checks, lines, watch
from storage.sql.pool import transaction
from tests.support.engine import Engine, ProjectUnderTest
from tests.workflows.test_line import paused, ready


def watchdog(engine: Engine) -> Watchdog:
    store = Store(engine.found.pool, Mediation.HOLD)
    return Watchdog(store, Engines(engine.found.temporal), engine.settings.host_name)


async def look(dog: Watchdog, project: ProjectUnderTest) -> list[Finding]:
    return [one for one in await dog.once() if one.project_id == project.id]


async def told(project: ProjectUnderTest) -> list[Event]:
    found = await project.engine.operations.events(project.agent, project.slug, 0, 500)
    return [event for event in found if event.event_type.startswith("watch.")]


async def age(project: ProjectUnderTest) -> None:
    """Let a minute have passed for all that waits in the project."""
    async with transaction(project.engine.found.pool) as connection:
        await connection.execute(
            "UPDATE intent SET created_at = created_at - $2::interval, queued_at = queued_at - $2::interval, "
            "state_since = state_since - $2::interval WHERE project_id = $1",
            project.id,
            timedelta(minutes=1),
        )


async def test_a_queue_whose_workflow_was_ended_is_found_started_anew_and_cleared(engine: Engine) -> None:
    project, dog = await engine.project(test="true"), watchdog(engine)
    intent = await ready(project, 1)
    await paused(project, "until it is queued")
    await project.submit(intent)
    handle = engine.found.temporal.get_workflow_handle(line_workflow(project.id, "main"))
    await handle.terminate("a test ends it")
    async with transaction(engine.found.pool) as connection:
        await lines.resume(connection, project.id, "main", (await project.status(intent)).intent.state_since)
    assert await look(dog, project) == []
    await age(project)
    [found] = await look(dog, project)
    assert (found.kind, found.line) == (WatchKind.WORKFLOW_MISSING, "main")
    await project.until(intent, State.MERGED)
    assert await look(dog, project) == []
    assert await look(dog, project) == []
    raised, cleared = await told(project)
    assert (raised.event_type, raised.payload["said"]) == ("watch.raised", found.said)
    assert (cleared.event_type, cleared.entity_id) == ("watch.cleared", raised.entity_id)
    assert cleared.payload["heals"] == 1


async def passed(project: ProjectUnderTest, intent: IntentDetail, begun: timedelta) -> None:
    """A run of the checks that passed so long ago, for what was submitted."""
    key, detail = checks.ResultKey(project.id, "", "", ""), await project.status(intent)
    at = datetime.now(UTC) - begun
    where = dict.fromkeys(("line_head", "commit_id", "tree"), "0" * 40)
    given = {"name": "test", "request_id": "chk_green", "line": "main", "command": "true", **where}
    kept = {
        "state": "passed",
        "exit_code": 0,
        "summary": "passed",
        "failure": None,
        "log": b"",
        "timed_out": False,
    }
    async with transaction(project.engine.found.pool) as connection:
        await checks.start(connection, check_id="chk_green", key=key, now=at, **given)
        heads = {intent.intent.id: str(detail.intent.submitted_head)}
        await checks.attach(connection, "chk_green", heads, False, at)
        await checks.finish(connection, "chk_green", **kept, tries=1, flaky=[], now=at)


async def test_what_is_green_and_lies_in_a_sleeping_queue_is_found_and_lands(engine: Engine) -> None:
    project, dog = await engine.project(test="true"), watchdog(engine)
    intent = await ready(project, 1)
    await paused(project, "until it is queued")
    await project.submit(intent)
    await passed(project, intent, timedelta(seconds=40))
    assert await look(dog, project) == []
    # Nobody wakes the queue.
    async with transaction(engine.found.pool) as connection:
        await lines.resume(connection, project.id, "main", datetime.now(UTC))
    await age(project)
    [found] = await look(dog, project)
    assert (found.kind, found.number) == (WatchKind.GREEN_NOT_LANDED, 1)
    await project.until(intent, State.MERGED)
    assert await look(dog, project) == []


async def test_an_intent_whose_workflow_was_ended_is_built_anew_from_the_record(engine: Engine) -> None:
    project, dog = await engine.project(test="true"), watchdog(engine)
    intent = await ready(project, 1)
    handle = engine.found.temporal.get_workflow_handle(intent_workflow(intent.intent.id))
    await handle.terminate("a test ends it")
    await age(project)
    [found] = await look(dog, project)
    assert (found.kind, found.number) == (WatchKind.WORKFLOW_MISSING, 1)
    await project.submit(intent)
    await project.until(intent, State.MERGED)
    assert await look(dog, project) == []


async def test_a_queue_behind_an_intent_whose_token_was_revoked_is_told_until_a_person_acts(
    engine: Engine,
) -> None:
    project, dog = await engine.project(test="true"), watchdog(engine)
    first, operations = await ready(project, 1), engine.operations
    token = await operations.create_token(engine.owner, CreateToken(name="other", projects=[project.slug]))
    lost, project.agent = project.agent, await operations.authenticate(token.token)
    second = await project.declare("app/f2.py", dependsOn=[first.intent.id])
    await project.push(second, {"app/f2.py": "new\n"})
    await project.submit(second)
    assert await look(dog, project) == []
    await operations.revoke_token(engine.owner, lost.token_id)
    await look(dog, project)
    found = {one.kind: one for one in (await operations.watch(project.agent, project.slug)).findings}
    assert set(found) == {WatchKind.NOBODY_MOVES, WatchKind.QUEUE_WAITS_ON_ITSELF}
    behind = found[WatchKind.QUEUE_WAITS_ON_ITSELF]
    assert (behind.number, behind.heals) == (2, 0)
    assert "#1 will not move: its agent's token was revoked" in behind.said
    numbers = await operations.watch_numbers()
    assert numbers.findings["queue_waits_on_itself"] == 1
    assert [queue.queued for queue in numbers.queues if queue.slug == project.slug] == [1]
    given = WithdrawInput(intent_id=first.intent.id, reason="its agent is gone")
    await operations.withdraw(engine.owner, given)
    await project.until(second, State.MERGED)
    assert await look(dog, project) == []
    assert [event.event_type for event in await told(project)] == ["watch.raised"] * 2 + ["watch.cleared"] * 2


async def test_a_run_that_nobody_ends_is_closed_and_its_intents_hear_of_it(engine: Engine) -> None:
    project, dog = await engine.project(test="true"), watchdog(engine)
    intent = await ready(project, 1)
    detail = await project.status(intent)
    async with transaction(engine.found.pool) as connection:
        began = detail.intent.created_at - timedelta(hours=2)
        key = checks.ResultKey(project.id, "", "", "")
        kept = {"name": "test", "request_id": "chk_left", "line": "main", "line_head": "0" * 40}
        kept |= {"commit_id": "0" * 40, "tree": "0" * 40, "command": "true"}
        await checks.start(connection, check_id="chk_left", key=key, now=began, **kept)
        heads = {intent.intent.id: str(detail.intent.head)}
        await checks.attach(connection, "chk_left", heads, False, began)
    [found] = await look(dog, project)
    assert (found.kind, found.number) == (WatchKind.CHECK_SILENT, 1)
    assert [(run.id, run.state) for run in (await project.status(intent)).checks] == [
        ("chk_left", "cancelled")
    ]
    assert await look(dog, project) == []


async def test_one_watchdog_at_a_time_has_the_seat(engine: Engine) -> None:
    async with transaction(engine.found.pool) as connection:
        assert await watch.take_seat(connection, "one", 60)
        assert not await watch.take_seat(connection, "other", 60)
        assert await watch.take_seat(connection, "one", 60)
        await watch.leave_seat(connection, "one")
        assert await watch.take_seat(connection, "other", 60)
        await watch.leave_seat(connection, "other")
