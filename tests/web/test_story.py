"""One working day of an owner in a real browser: everything is read and decided on the pages, nothing is reloaded."""

from collections.abc import AsyncIterator

import pytest
import pytest_asyncio
from playwright.async_api import Page, expect

from protocol.intents import AckInput, CommentInput
from protocol.projects import ChangeSettings
from protocol.states import State
from tests.web.browser import CHROMIUM, NONE_HERE, chromium
from tests.web.served import Pages

pytestmark = pytest.mark.skipif(CHROMIUM is None, reason=NONE_HERE)

PATIENCE_MS = 30_000


@pytest_asyncio.fixture
async def browser_page(pages: Pages) -> AsyncIterator[Page]:
    """A page of a browser; what its console complains about fails the test."""
    complaints: list[str] = []
    async with chromium() as browser:
        page = await browser.new_page(base_url=pages.url)
        page.set_default_timeout(PATIENCE_MS)
        page.on("console", lambda said: complaints.append(said.text) if said.type == "error" else None)
        page.on("pageerror", lambda problem: complaints.append(str(problem)))
        yield page
    assert complaints == []


@pytest.mark.timeout(150)
async def test_an_owner_takes_an_intent_from_its_plan_to_its_merge(pages: Pages, browser_page: Page) -> None:
    expect.set_options(timeout=PATIENCE_MS)
    page, operations = browser_page, pages.engine.operations
    project = await pages.engine.project(test="cat app/f1.py; ! grep value app/f1.py | grep -qv 9")
    person = await pages.person("Jonas Weber", project, "owner")
    rules = ChangeSettings(plan_review="always", merge_approval="always")
    await operations.change_settings(pages.engine.owner, project.slug, rules)

    # Signing in: the secret leaves the address before anything else happens.
    await page.goto(f"/sign-in#{await pages.link(person.person_id)}")
    await expect(page).to_have_url(f"{pages.url}/sign-in")
    await page.keyboard.press("Enter")
    await expect(page.get_by_text("Nothing waits for you.")).to_be_visible()
    await expect(page.get_by_text("live", exact=True)).to_be_visible()

    # A plan comes in by itself, and is approved.
    work = await project.declare("app/f1.py", title="Nine is right")
    await page.get_by_role("link", name="Nine is right").click()
    await page.get_by_role("button", name="Approve the plan").click()
    await expect(page.get_by_text("Approved.", exact=True)).to_be_visible()
    await expect(page.locator(".facts1 .chip").first).to_have_text("Active")

    # From here on this page is never loaded again: the mark stays.
    await page.reload()
    await page.evaluate("window.mark = true")
    await expect(page.get_by_text("live", exact=True)).to_be_visible()

    # The check fails, and says on the page why.
    await project.push(work, {"app/f1.py": "value = 8\n"})
    await project.submit(work)
    await expect(page.get_by_text("The end of the newest log")).to_be_visible()
    await expect(page.locator("pre.log")).to_contain_text("value = 8")
    await expect(page.locator(".request")).to_contain_text("Checks failed")

    # Mended, it waits for the merge, with the new patch, open to be read; words half typed outlive the news.
    head = await project.push(work, {"app/f1.py": "value = 9\n"})
    await project.submit(work)
    await expect(page.get_by_role("heading", name=f"May {head[:7]} land on main?")).to_be_visible()
    await expect(page.locator(".patch")).to_be_visible()
    await expect(page.locator(".patch")).to_contain_text("value = 9")
    note = page.get_by_label("Note to the agent")
    await note.fill("Say why nine is")
    await project.declare("app/f2.py", title="Something else")
    await expect(page.get_by_role("link", name="Inbox 2 waiting")).to_be_visible()
    await expect(note).to_have_value("Say why nine is")
    assert await page.evaluate("window.mark") is True

    # A comment on a line, chosen in the patch; it stands there at once. Then sent back with a note; the agent does both.
    patch = page.locator("details.file", has_text="app/f1.py")
    await patch.locator("td.ln:nth-child(2)", has_text="1").click()
    await expect(patch.get_by_text("Comment on line 1", exact=True)).to_be_visible()
    await expect(patch.get_by_label("From line")).to_have_value("1")
    await patch.get_by_label("What has to change").fill("Name the house.")
    await patch.get_by_role("button", name="Ask for it").click()
    remark = page.locator("tr:has-text('value = 9') + tr.remarks .remark")
    await expect(remark).to_contain_text("Name the house.")
    await expect(remark).to_contain_text("Open")
    await expect(page.locator(".request")).to_contain_text("at app/f1.py lines 1-1")
    await note.fill("Say why nine is right.")
    await page.get_by_role("button", name="Send back").click()
    await expect(page.get_by_text("Sent back. Its agent has been told.")).to_be_visible()
    await expect(page.locator(".request").first).to_contain_text("Say why nine is right.")
    await page.evaluate("window.mark = true")
    requests = (await project.until(work, State.ACTIVE)).change_requests
    assert len(requests) == 2
    head = await project.push(work, {"app/f1.py": "# Nine: the house number.\nvalue = 9\n"})
    for request in requests:
        await operations.ack(project.agent, AckInput(intent_id=work.intent.id, change_request_id=request.id))
    await project.submit(work)

    # Approved, it is seen to merge. The comment went with its line, and is closed.
    await page.get_by_role("heading", name=f"May {head[:7]} land on main?").wait_for()
    remark = page.locator("tr:has-text('value = 9') + tr.remarks .remark")
    await expect(remark).to_contain_text("Closed")
    await expect(remark).to_contain_text("Name the house.")
    assert await page.evaluate("window.mark") is True
    await page.get_by_role("button", name="Approve the merge").click()
    await expect(page.get_by_text("Approved.", exact=True)).to_be_visible()
    await page.evaluate("window.mark = true")
    await expect(page.locator(".facts1 .chip").first).to_have_text("Merged")
    assert await page.evaluate("window.mark") is True
    await expect(page.get_by_role("button", name="Send back")).to_have_count(0)
    assert "Nine is right" in project.line()[0]


@pytest.mark.timeout(90)
async def test_lines_are_chosen_by_mouse_and_by_keyboard_and_comments_of_others_come_in_by_themselves(
    pages: Pages, browser_page: Page
) -> None:
    page = browser_page
    project = await pages.engine.project(test="true")
    work = await project.declare("app/f1.py")
    await project.push(work, {"app/f1.py": "".join(f"value_{n} = {n}\n" for n in range(1, 9))})
    await page.goto(f"/sign-in#{await pages.link(pages.engine.owner.person_id)}")
    await page.get_by_role("button", name="Sign in").click()
    await page.get_by_role("heading", name="Inbox").wait_for()
    await page.goto(f"/p/{project.slug}/i/{work.intent.number}")
    await expect(page.get_by_text("live", exact=True)).to_be_visible()
    number = page.locator("table.patch td.ln:nth-child(2)")
    first, last = page.get_by_label("From line"), page.get_by_label("to", exact=True)
    taken = page.locator("table.patch tr.taken")

    # A first and a last line by two clicks; a third begins anew, the same once more takes it back.
    await number.filter(has_text="6").click()
    await number.filter(has_text="3").click()
    await expect(first).to_have_value("3")
    await expect(last).to_have_value("6")
    await expect(taken).to_have_count(4)
    await number.filter(has_text="2").click()
    await expect(taken).to_have_count(1)
    await number.filter(has_text="2").click()
    await expect(taken).to_have_count(0)

    # By keyboard alone, from the number that has the focus to the words.
    await page.keyboard.press("ArrowDown")
    await page.keyboard.press("Shift+ArrowDown")
    await page.keyboard.press("Shift+ArrowDown")
    await expect(page.get_by_text("Comment on lines 3–5", exact=True)).to_be_visible()
    for _ in range(4):
        await page.keyboard.press("Tab")
    await page.keyboard.type("Half a thought")

    # Somebody else's comment comes into the patch; what is chosen and half typed stays.
    comment = CommentInput(text="Name them.", path="app/f1.py", start_line=7, end_line=8)
    await pages.engine.operations.comment(pages.engine.owner, work.intent.id, comment)
    await expect(page.locator("tr:has-text('value_8') + tr.remarks")).to_contain_text("Name them.")
    await expect(page.get_by_label("What has to change").first).to_have_value("Half a thought")
    await expect(taken).to_have_count(3)
    assert await number.filter(has_text="4").get_attribute("aria-selected") == "true"


async def test_a_keyboard_reaches_the_content_first(pages: Pages, browser_page: Page) -> None:
    await browser_page.goto(f"/sign-in#{await pages.link(pages.engine.owner.person_id)}")
    await browser_page.keyboard.press("Enter")
    await browser_page.get_by_role("heading", name="Inbox").wait_for()
    await browser_page.keyboard.press("Tab")
    assert await browser_page.evaluate("document.activeElement.textContent") == "Skip to the content"
    await browser_page.keyboard.press("Enter")
    assert await browser_page.evaluate("document.activeElement.id") == "main"
