"""Work published through Foremerge on the pages: seen like any other, with nothing to decide about it."""

from protocol.foremerge.words import Operation
from protocol.projects import ChangeSettings
from tests.foremerge.face import Face
from tests.foremerge.work import Bench
from tests.web.served import Pages
from tests.web.visitor import Visitor, words


async def test_published_work_stands_on_board_and_page_and_only_giving_it_up_is_offered(
    pages: Pages, owner: Visitor
) -> None:
    face = await Face.of(pages.engine)
    agent = await face.register("stripe <b>")
    told = await face.publish(agent, "Replace <i>PaymentService</i>", "file:app/f1.py=replace")
    await face.claim(agent, told.intent.id, "file:app/f1.py")
    await face.project.declare("app/f1.py", title="Is held")
    board = words(await owner.get(f"/p/{face.project.slug}"))
    assert "Replace <i>PaymentService</i>" in board
    page = await owner.get(f"/p/{face.project.slug}/i/1")
    assert page.status_code == 200
    shown = words(page)
    assert "Published through Foremerge" in shown
    assert "Claimed file:app/f1.py" in shown
    assert "replace file:app/f1.py" in shown  # what it declared, as the steps of its plan
    assert "Conflict with work of Foremerge: destructive vs additive, high" in shown
    assert "stripe <b>" in shown
    assert "agt_" not in shown
    assert "Withdraw" in shown
    assert "Approve" not in shown and "Send back" not in shown
    held = words(await owner.get(f"/p/{face.project.slug}/i/2"))
    assert "published through Foremerge, touches yours" in held


async def test_validated_work_that_a_person_must_accept_waits_in_the_inbox_until_one_did(
    pages: Pages, owner: Visitor
) -> None:
    bench = await Bench.of(pages.engine)
    changeset = await (await bench.work("takes", "symbol:Cart<b>=remove", "symbol:Till=extend")).published()
    await bench.verify(changeset)
    row = (
        f"Waits for a person to accept: remove symbol:Cart<b> . Run foremerge changeset accept {changeset.id}"
    )
    assert row not in words(await owner.get("/")), "the project has not chosen it"
    chosen = ChangeSettings(person_accepts=[Operation.REMOVE])
    await pages.engine.operations.change_settings(pages.engine.owner, bench.face.project.slug, chosen)
    assert row in words(await owner.get("/"))
    await bench.accept(changeset, operator=True)
    assert row not in words(await owner.get("/"))
