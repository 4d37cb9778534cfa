"""The board's queues as they run, what the watchdog says there and in the inbox, and an owner's emergency."""

from datetime import UTC, datetime

from gateway.web.queues import what_is_tested
from protocol.intents import BoardInput
from protocol.states import State
from storage.sql import people
from storage.sql.pool import transaction
from storage.sql.queue_page import Batch
from tests.web.served import Pages
from tests.web.visitor import Visitor, words
from tests.workflows.test_line import ready
from tests.workflows.test_line_planning import Gate, gate, started, stopped
from tests.workflows.test_watchdog import watchdog

__all__ = ["gate"]

NOW = datetime(2026, 11, 30, 12, 0, tzinfo=UTC)


def test_what_a_test_is_for_is_told_from_what_it_holds() -> None:
    def what(line_head: str, *numbers: int) -> str:
        batch = Batch(
            line="main", line_head=line_head, since=NOW, members=len(numbers), numbers=list(numbers), runs=[]
        )
        return what_is_tested(batch, "head", {1, 2, 3})

    assert [what("head"), what("head", 1), what("head", 1, 2)] == ["line", "batch", "batch"]
    assert [what("older", 3), what("older", 1, 2), what("older", 9)] == ["search", "batch", "alone"]


async def test_a_batch_under_test_shows_its_members_its_checks_and_everybodys_place(
    pages: Pages, owner: Visitor, gate: Gate
) -> None:
    project = await pages.engine.project(test=gate.command)
    root = f"/p/{project.slug}"
    intents = [await ready(project, n) for n in (1, 2)]
    await owner.get(root)
    await owner.post(f"{root}/pause", line="main", reason="until both are queued")
    for intent in intents:
        await project.submit(intent)
    standing = words(await owner.get(root))
    assert "Queue of main 2" in standing and "until both are queued since" in standing
    await owner.post(f"{root}/resume", line="main")
    await started(project, intents[1])
    board = await owner.get(root)
    shown = words(board)
    assert "Testing #1 , #2 together" in shown and "test running" in shown
    assert "#2 Work under test" in shown
    entries = (
        await pages.engine.operations.board(project.agent, BoardInput(project_id=project.slug))
    ).entries
    assert [entry.position for entry in entries] == [1, 2]
    page = words(await owner.get(f"{root}/i/2"))
    assert "In the queue Place 2 of 2 Ahead #1 Tested with #1" in page
    drained = await owner.post(f"{root}/drain", line="main", reason="Moving house")
    assert drained.headers["location"] == f"{root}?done=draining"
    assert "Draining What was queued by then lands, and then it stands still. Moving house" in words(
        await owner.get(root)
    )
    gate.let_through(8)
    for intent in intents:
        await project.until(intent, State.MERGED)


async def test_a_line_that_is_red_by_itself_links_the_log_and_an_owner_lands_in_spite_of_it(
    pages: Pages, owner: Visitor
) -> None:
    project = await pages.engine.project(test="false")
    root = f"/p/{project.slug}"
    intent = await ready(project, 1)
    await project.submit(intent)
    await stopped(project)
    board = await owner.get(root)
    assert "Red by itself" in words(board) and "Log of the check that fails</a>" in board.text
    await owner.get(f"{root}/i/1")
    refused = await owner.post(f"{root}/i/1/land-now", reason="", checks="skip")
    assert refused.status_code == 400 and "reason" in words(refused)
    landed = await owner.post(f"{root}/i/1/land-now", reason="Customers cannot pay.", checks="skip")
    assert landed.headers["location"] == f"{root}/i/1?done=landing_now"
    await project.until(intent, State.MERGED)
    assert "Untested" in words(await owner.get(root))


async def test_what_stands_still_is_on_the_board_and_in_the_inbox_of_those_who_may_act(
    pages: Pages, owner: Visitor
) -> None:
    project = await pages.engine.project(test="true")
    await project.declare("app/f1.py", title="Left alone")
    await pages.engine.operations.revoke_token(pages.engine.owner, project.agent.token_id)
    await watchdog(pages.engine).once()
    told = "#1 is active, and its agent's token was revoked."
    assert told in words(await owner.get(f"/p/{project.slug}"))
    inbox = words(await owner.get("/"))
    assert "Left #1 Left alone since" in inbox and told in inbox
    viewer = await pages.person("Vera", project, "viewer")
    async with Visitor(pages.url) as visitor:
        await visitor.sign_in(await pages.link(viewer.person_id))
        assert told not in words(await visitor.get("/"))
        assert told in words(await visitor.get(f"/p/{project.slug}"))
        async with transaction(pages.engine.found.pool) as connection:
            await people.set_role(connection, project.id, viewer.person_id, "writer")
        assert told in words(await visitor.get("/"))
