"""Whoever reads by ear, by keyboard, on a telephone or without colours: every page, as it is served and as it is drawn."""

from collections import Counter
from collections.abc import AsyncIterator
from html.parser import HTMLParser

import pytest
import pytest_asyncio
from playwright.async_api import Browser, Page

from protocol.intents import CommentInput, UpdatePlanInput
from tests.support.engine import ProjectUnderTest
from tests.web.browser import CHROMIUM, NONE_HERE, chromium
from tests.web.served import Pages
from tests.web.visitor import Visitor

in_a_browser = pytest.mark.skipif(CHROMIUM is None, reason=NONE_HERE)
LONG = "a_name_without_any_place_to_break_it_" * 4
_FIELDS = ("input", "select", "textarea")
# The contrast of each text with what is really behind it; a ground that is not opaque lets the next one through.
WEAK_TEXTS = """() => {
  const channels = (text) => (text.match(/[\\d.]+/g) ?? []).map(Number);
  const solid = (c) => c.length === 3 || c[3] === 1;
  const ground = (node) => {
    for (; node; node = node.parentElement) {
      const found = channels(getComputedStyle(node).backgroundColor);
      if (solid(found) && found.length) return found;
    }
    return [255, 255, 255];
  };
  const light = (c) => c.slice(0, 3).map((v) => v / 255)
    .map((v) => (v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4))
    .reduce((sum, v, at) => sum + v * [0.2126, 0.7152, 0.0722][at], 0);
  const weak = [];
  for (const node of document.querySelectorAll("body *")) {
    const own = Array.from(node.childNodes).some((n) => n.nodeType === 3 && n.data.trim());
    if (!own || !node.checkVisibility() || node.closest("svg")) continue;
    const [a, b] = [light(channels(getComputedStyle(node).color)), light(ground(node))].sort((x, y) => x - y);
    const ratio = (b + 0.05) / (a + 0.05);
    if (ratio < 4.5) weak.push(`${node.tagName}.${node.className} ${node.textContent.trim().slice(0, 30)} ${ratio.toFixed(2)}`);
  }
  return weak;
}"""
# What sticks out at the right, when anything makes the page wider than its window.
TOO_WIDE = """() => document.documentElement.scrollWidth <= innerWidth ? [] : Array.from(document.querySelectorAll("body *"))
  .filter((n) => n.getBoundingClientRect().right > innerWidth + 1 && !n.closest(".scroll, pre"))
  .slice(0, 5).map((n) => `${n.tagName}.${n.className} ${n.textContent.trim().slice(0, 40)}`)"""


class Outline(HTMLParser):
    """What a page is made of: landmarks, headings, fields and what names them."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: Counter[str] = Counter()
        self.ids: Counter[str] = Counter()
        self.labels: set[str] = set()
        self.fields: list[dict[str, str | None]] = []
        self.unnamed: list[str] = []
        self.lang = ""
        self._label_depth = 0
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        self.tags[tag] += 1
        if given.get("id"):
            self.ids[given["id"] or ""] += 1
        if tag == "html":
            self.lang = given.get("lang") or ""
        if tag == "label":
            self._label_depth += 1
            self.labels.add(given.get("for") or "")
        if tag in _FIELDS and given.get("type") != "hidden":
            self.fields.append({**given, "inside": "yes" if self._label_depth else None})
        needs_name = tag == "nav" or (tag == "svg" and given.get("aria-hidden") != "true")
        if needs_name and not (given.get("aria-label") or given.get("aria-labelledby")):
            self.unnamed.append(tag)

    def handle_endtag(self, tag: str) -> None:
        self._label_depth -= tag == "label"

    @property
    def unlabelled(self) -> list[dict[str, str | None]]:
        """Fields that nothing names."""
        return [
            field
            for field in self.fields
            if not (
                field["inside"]
                or field.get("aria-label")
                or (field.get("id") in self.labels and field.get("id"))
            )
        ]


async def project_with_everything(pages: Pages) -> tuple[ProjectUnderTest, list[str]]:
    """A project that fills each page, long names included, and the addresses of the pages."""
    project = await pages.engine.project(test=f"! grep -q value app/f1.py || {{ echo {LONG}; exit 1; }}")
    first = await project.declare("app/f1.py", f"app/{LONG}.py", title=f"Change {LONG}")
    held = await project.declare("app/f1.py")
    for summary in ("Second.", f"Third {LONG}."):
        plan = {"summary": summary, "steps": [summary], "scope": {"change": [{"path": "app/f1.py"}]}}
        await pages.engine.operations.update_plan(
            project.agent, UpdatePlanInput(intent_id=first.intent.id, plan=plan)
        )
    await project.push(first, {"app/f1.py": f"value = '{LONG}'\n", f"app/{LONG}.py": "x\n"})
    for given in (
        CommentInput(text=f"Why {LONG}?", path="app/f1.py", start_line=1),
        CommentInput(text="All of it.", path=f"app/{LONG}.py"),
    ):
        await pages.engine.operations.comment(pages.engine.owner, first.intent.id, given)
    root = f"/p/{project.slug}"
    one, two = (f"{root}/i/{work.intent.number}" for work in (first, held))
    project_pages = [
        f"{root}{rest}" for rest in ("", "/asks", "/finished", "/members", "/settings", "/audit")
    ]
    return project, ["/", "/projects", "/account", *project_pages, f"{one}?from=1&to=3", two]


@pytest_asyncio.fixture(scope="module")
async def everything(pages: Pages) -> list[str]:
    """The addresses of all pages of a full project."""
    return (await project_with_everything(pages))[1]


async def test_each_page_has_its_landmarks_and_every_field_a_name(
    everything: list[str], owner: Visitor
) -> None:
    for path in everything:
        page = await owner.get(path)
        assert page.status_code == 200, path
        outline = Outline(page.text)
        assert (outline.lang, outline.tags["main"], outline.tags["h1"]) == ("en", 1, 1), path
        assert page.text.index('class="skip" href="#main"') < page.text.index("<header"), path
        assert outline.unlabelled == [], path
        assert outline.unnamed == [], path
        assert [found for found, count in outline.ids.items() if count > 1] == [], path
        assert outline.labels - {""} <= set(outline.ids), f"a label of {path} names nothing"


@pytest_asyncio.fixture(scope="module")
async def browser() -> AsyncIterator[Browser]:
    """One browser for the module."""
    async with chromium() as running:
        yield running


async def _signed_in(browser: Browser, pages: Pages, **how: object) -> Page:
    page = await browser.new_page(base_url=pages.url, reduced_motion="reduce", **how)  # type: ignore[arg-type]
    await page.goto(f"/sign-in#{await pages.link(pages.engine.owner.person_id)}")
    await page.get_by_role("button", name="Sign in").click()
    await page.get_by_role("heading", name="Inbox").wait_for()
    return page


@in_a_browser
@pytest.mark.parametrize("scheme", ["light", "dark"])
async def test_every_page_can_be_read_and_none_scrolls_sideways_on_a_telephone(
    pages: Pages, everything: list[str], browser: Browser, scheme: str
) -> None:
    page = await _signed_in(browser, pages, color_scheme=scheme, viewport={"width": 360, "height": 740})
    for path in everything:
        await page.goto(path)
        await page.evaluate("document.querySelectorAll('details').forEach((one) => { one.open = true })")
        assert await page.evaluate(TOO_WIDE) == [], path
        assert await page.evaluate(WEAK_TEXTS) == [], path
    await page.close()


@in_a_browser
async def test_the_keyboard_reaches_everything_in_order_and_shows_where_it_is(
    pages: Pages, everything: list[str], browser: Browser
) -> None:
    page = await _signed_in(browser, pages)
    await page.goto(everything[-2])
    await page.get_by_text("live", exact=True).wait_for()
    seen: list[str] = []
    tops: list[float] = []
    for _ in range(80):
        await page.keyboard.press("Tab")
        found = await page.evaluate(
            "() => { const n = document.activeElement, s = getComputedStyle(n), r = n.getBoundingClientRect();"
            " return [n.outerHTML.slice(0, 60), s.outlineStyle, s.outlineWidth, Boolean(n.closest('main > #live > .cols > div')), r.top + scrollY] }"
        )
        if found[0].startswith("<body") or found[0] in seen[:1]:
            break
        seen.append(found[0])
        assert found[1:3] == ["solid", "2px"], f"no ring on {found[0]}"
        if found[3]:
            tops.append(found[4])
    assert seen[0].startswith('<a class="skip"') and len(seen) > 20
    assert sum(one.startswith("<td") for one in seen) == 2, "each file's lines are one stop"
    assert tops == sorted(tops), "the order on the screen"
    await page.close()
