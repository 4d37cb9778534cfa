"""The inbox: all that a person may decide, in every project of theirs, why, and what to do; nothing that is not theirs."""

from gateway.operations import Operations
from protocol.intents import AcceptDriftInput
from protocol.projects import ChangeSettings, PauseLine
from protocol.states import State
from tests.web.served import Pages
from tests.web.visitor import Visitor, words


async def test_everything_that_waits_is_there_the_oldest_first_and_goes_when_it_is_done(pages: Pages) -> None:
    operations, owner = pages.engine.operations, pages.engine.owner
    one, two = await pages.engine.project(test="true"), await pages.engine.project()
    person = await pages.person("Jonas Weber", one, "owner")
    await _member(pages, two.id, person.person_id)
    asked = ChangeSettings(plan_review="always", merge_approval="always")
    await operations.change_settings(owner, one.slug, asked)

    plan = await one.declare("app/f1.py", title="Plan that waits")
    merge = await one.declare("app/f2.py", title="Merge that waits")
    await one.decide(merge, "approve", "plan")
    head = await one.push(merge, {"app/f2.py": "value = 9\n"})
    await one.submit(merge)
    await one.until(merge, State.AWAITING_APPROVAL)
    first = await two.declare("app/f1.py", title="Goes first")
    held = await two.declare("app/f1.py", title="Is held")
    await two.push(first, {"app/f1.py": "1\n", "extra <b>.txt": "x\n"})

    async with Visitor(pages.url) as visitor:
        await visitor.sign_in(await pages.link(person.person_id))
        page = await visitor.get("/")
        shown = words(page)
        assert "Inbox 2 waiting" in shown, "what does not stand still is not counted"
        said = [
            "Plan that waits",
            "Read plan v1, then approve it or send it back. The project asks a person about every plan.",
            "Merge that waits",
            f"Read what {head[:7]} changes, then approve the merge or send it back. "
            "The project asks a person about every merge.",
            "Worth a look 1",
            "Outside its plan #1 Goes first since",
            "It changes extra <b>.txt , which its plan does not name.",
        ]
        at = [shown.find(words_) for words_ in said]
        assert -1 not in at and at == sorted(at), list(zip(said, at, strict=True))
        assert "by nothing but the lower number" not in shown, "it pushed: rule R4 told the two apart"
        assert f'href="/p/{two.slug}/i/{first.intent.number}#drift"' in page.text

        await operations.accept_drift(owner, first.intent.id, AcceptDriftInput())
        await one.decide(plan, "approve", "plan")
        shown = words(await visitor.get("/"))
        assert "Inbox 1 waiting" in shown and "Plan that waits" not in shown and "Worth a look" not in shown
    assert (await two.status(held)).intent.state is State.HELD


async def test_an_order_by_number_alone_is_worth_a_look_until_a_person_settled_it(pages: Pages) -> None:
    project = await pages.engine.project(test="true")
    person = await pages.person("Jonas Weber", project)
    await project.declare("app/f1.py", title="Lower")
    second = await project.declare("app/f1.py", title="Higher")
    sentence = "It waits on #1 Lower for app/f1.py , by nothing but the lower number (rule R5)."
    async with Visitor(pages.url) as visitor:
        await visitor.sign_in(await pages.link(person.person_id))
        page = words(await visitor.get("/"))
        assert "Held #2 Higher" in page and sentence in page and "Nothing waits for you." in page
        await visitor.post(
            f"/p/{project.slug}/i/2/settle", conflict=second.conflicts[0].id, first="2", note="Smaller."
        )
        assert "Worth a look" not in words(await visitor.get("/"))


async def test_a_viewer_and_a_stranger_are_asked_nothing(pages: Pages) -> None:
    project = await pages.engine.project(test="true")
    operations: Operations = pages.engine.operations
    await operations.change_settings(pages.engine.owner, project.slug, ChangeSettings(plan_review="always"))
    await project.declare("app/f1.py")
    await operations.pause_line(pages.engine.owner, project.slug, "main", PauseLine(reason="Release"))
    for member in (await pages.person("Vera", project, "viewer"), await pages.person("Mallory")):
        async with Visitor(pages.url) as visitor:
            await visitor.sign_in(await pages.link(member.person_id))
            page = words(await visitor.get("/"))
            nothing = (
                "Nothing waits for you." if member.person_name == "Vera" else "You are in no project yet."
            )
            assert nothing in page and "Worth a look" not in page and project.slug not in page


async def _member(pages: Pages, project_id: str, person_id: str) -> None:
    async with pages.engine.found.pool.acquire() as connection:
        await connection.execute("INSERT INTO member VALUES ($1, $2, 'writer')", project_id, person_id)
