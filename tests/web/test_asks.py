"""The page of asks: written by a person, seen by them and by owners, taken up by their agent, withdrawn."""

import re

from protocol.intents import WithdrawInput
from tests.web.served import Pages
from tests.web.visitor import Visitor, words


async def test_an_ask_is_written_on_its_page_taken_up_by_an_agent_and_each_leads_to_the_other(
    pages: Pages, owner: Visitor
) -> None:
    project = await pages.engine.project()
    root = f"/p/{project.slug}"
    empty = words(await owner.get(f"{root}/asks"))
    assert "No open asks. Write one below" in empty
    draft = {"title": "Price with currency", "change": "app/f1.py\napp/f2.py#total", "use": "", "goal": ""}
    made = await owner.post(f"{root}/asks", text="Show <prices> in euros.", **draft)
    assert made.headers["location"] == f"{root}/asks?done=asked_agents"
    page = await owner.get(f"{root}/asks")
    shown = words(page)
    assert "Show <prices> in euros." in shown and "app/f2.py#total" in shown and "Open 1" in shown
    assert "1 open : no agent took it up yet." in words(await owner.get(root))
    assert "1 open ask of yours" in words(await owner.get("/projects"))

    (ask_id,) = re.findall(r'<li id="(ask_\w+)"', page.text)
    work = await project.declare("app/f1.py", title="Prices", askId=ask_id)
    taken = await owner.get(f"{root}/asks?show=taken")
    assert f"taken up as #{work.intent.number} Prices Active" in words(taken)
    assert f'/asks?show=taken#{ask_id}"' in (await owner.get(f"{root}/i/{work.intent.number}")).text
    assert "None open." in words(await owner.get(root))
    await pages.engine.operations.withdraw(
        project.agent, WithdrawInput(intent_id=work.intent.id, reason="not wanted")
    )
    assert "Prices Withdrawn" in words(await owner.get(f"{root}/asks?show=taken"))


async def test_an_ask_is_between_its_person_and_owners(pages: Pages, owner: Visitor) -> None:
    project, elsewhere = await pages.engine.project(), await pages.engine.project()
    jonas, eva = [await pages.person(name, project) for name in ("Jonas Weber", "Eva Lind")]
    path = f"/p/{project.slug}/asks"
    async with Visitor(pages.url) as his, Visitor(pages.url) as hers:
        await his.sign_in(await pages.link(jonas.person_id))
        await hers.sign_in(await pages.link(eva.person_id))
        await his.get(path)
        await his.post(path, text="Only for my agents")
        (ask_id,) = re.findall(r'<li id="(ask_\w+)"', (await his.get(path)).text)
        assert "Only for my agents" not in words(await hers.get(path))
        assert (await hers.post(f"{path}/close", id=ask_id)).status_code == 404
    page = words(await owner.get(path))
    assert "Only for my agents" in page and "Jonas Weber" in page
    assert (await owner.post(f"/p/{elsewhere.slug}/asks/close", id=ask_id)).status_code == 404
    assert "Open 1" in words(await owner.get(path)), "an ask is closed on the page of its own project"
    assert (await owner.post(f"{path}/close", id=ask_id)).headers["location"] == f"{path}?done=withdrawn"
    assert "Only for my agents" in words(await owner.get(f"{path}?show=closed"))
    refused = await owner.post(f"{path}/close", id=ask_id)
    assert (refused.status_code, "is closed already" in words(refused)) == (409, True)


async def test_what_was_typed_stays_when_a_place_is_wrong(pages: Pages, owner: Visitor) -> None:
    path = f"/p/{(await pages.engine.project()).slug}/asks"
    await owner.get(path)
    refused = await owner.post(path, text="Keep this", change="../up", goal="And this")
    assert refused.status_code == 400 and "may not hold '.', '..'" in words(refused)
    assert ">Keep this</textarea>" in refused.text and ">And this</textarea>" in refused.text
    assert "<details open><summary>Add a draft" in refused.text
    refused = await owner.post(path, text="Keep this", change="a.py#")
    assert "a.py# names no symbol after its #." in words(refused)
    assert "Open 0" in words(await owner.get(path))


async def test_asks_are_shown_page_by_page(pages: Pages, owner: Visitor) -> None:
    project = await pages.engine.project()
    path = f"/p/{project.slug}/asks"
    await owner.get(path)
    for number in range(51):
        await owner.post(path, text=f"Wish {number:02}")
    newest = await owner.get(path)
    assert "Wish 50" in newest.text and "Wish 00" not in newest.text
    (older,) = re.findall(r'href="([^"]*before=[^"]*)"', newest.text)
    oldest = await owner.get(older.replace("&amp;", "&"))
    assert "Wish 00" in oldest.text and "Wish 01" not in oldest.text
