"""Makes docs/screenshots from a live run: `python -m tests.web.screenshots`. Needs a Chromium.

With `--on DATA_FOLDER` it takes a stack that runs already, and its project storefront when that is there.
"""

import argparse
import asyncio
import json
import tempfile
from pathlib import Path
from typing import Any

from playwright.async_api import Browser, Page

from tests.docs.pages import ROOT
from tests.support.agent import Owner, answered, make_repository, owner_of
from tests.support.stack import running_stack
from tests.web.browser import chromium
from tests.web.scene import CHECK, FILES, working_day

OUT = ROOT / "docs" / "screenshots"
SLUG = "storefront"
WIDE = {"width": 1280, "height": 820}
BOTH_THEMES = ("inbox", "board", "intent")
LIGHT = (*BOTH_THEMES, "red", "settings")
PHONE = {"width": 390, "height": 844}


def main() -> None:
    """Run a stack, fill it, take the pictures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--on", type=Path, help="the data folder of a stack that runs already")
    parser.add_argument("--out", type=Path, default=OUT)
    given = parser.parse_args()
    given.out.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        if given.on:
            asyncio.run(
                shots(json.loads((given.on / "connection.json").read_text()), Path(folder), given.out)
            )
        else:
            asyncio.run(on_a_stack_of_its_own(Path(folder), given.out))


async def on_a_stack_of_its_own(folder: Path, out: Path) -> None:
    """The pictures of a stack that runs for them alone."""
    async with running_stack(folder / "data") as stack:
        await shots(stack.connection, folder, out)


async def shots(connection: dict[str, Any], folder: Path, out: Path) -> None:
    """All pictures of one stack."""
    async with owner_of(connection, folder) as owner:
        await prepare(owner, folder)
        async with chromium() as browser:
            for scheme in ("light", "dark"):
                await pictures(browser, owner, out, scheme)


async def prepare(owner: Owner, folder: Path) -> None:
    """The project, unless it is there already."""
    there = answered(await owner.http.get("/api/v1/projects"))["projects"]
    if any(project["slug"] == SLUG for project in there):
        return
    source = folder / SLUG
    await make_repository(source, FILES)
    body = {"slug": SLUG, "source": str(source), "checks": {"test": CHECK, "timeoutSec": 60}}
    project = answered(await owner.http.post("/api/v1/projects", json=body))
    await working_day(owner, project, source)


async def numbers(owner: Owner) -> dict[str, int]:
    """The intents of the scene by their state."""
    found = answered(await owner.http.get(f"/api/v1/projects/{SLUG}/intents", params={"limit": 50}))
    return {intent["title"]: intent["number"] for intent in found["intents"]}


async def pictures(browser: Browser, owner: Owner, out: Path, scheme: Any) -> None:
    """The pages in one theme; one of them as on a telephone."""
    by_title = await numbers(owner)
    context = await browser.new_context(
        viewport=WIDE,  # type: ignore[arg-type]
        color_scheme=scheme,
        device_scale_factor=1,
        base_url=owner.url,
    )
    page = await context.new_page()
    link = answered(await owner.http.post("/api/v1/sign-in-links", json={}))["link"]
    await page.goto(link)
    await page.get_by_role("button", name="Sign in").click()
    await page.get_by_role("heading", name="Inbox").wait_for()
    paths = {
        "inbox": "/",
        "board": f"/p/{SLUG}",
        "plan": f"/p/{SLUG}/i/{by_title['Keep a history of prices']}",
        "intent": f"/p/{SLUG}/i/{by_title['Depend on the new tax tables']}",
        "red": f"/p/{SLUG}/i/{by_title['Count reserved articles as gone']}",
        "settings": f"/p/{SLUG}/settings",
    }
    for name in LIGHT if scheme == "light" else BOTH_THEMES:
        await page.goto(paths[name])
        await shot(page, out / f"{name}-{scheme}.png")
    if scheme == "light":
        await page.goto(paths["intent"])
        await choose_lines(page)
        await shot(page, out / "comment-light.png", whole=False)
        await page.set_viewport_size(PHONE)  # type: ignore[arg-type]
        await page.goto(paths["plan"])
        await shot(page, out / "plan-phone-light.png", whole=False)
    await context.close()


async def choose_lines(page: Page) -> None:
    """Two lines of the patch taken, and a comment on them begun."""
    file = page.locator("details.file", has_text="pyproject.toml")
    numbers = file.locator("td.ln:nth-child(2)")
    await numbers.filter(has_text="1").click()
    await numbers.filter(has_text="3").click()
    await file.get_by_label("What has to change").fill("Raise the version: taxes change what customers pay.")
    await file.evaluate("(file) => file.scrollIntoView({block: 'center'})")


async def shot(page: Page, to: Path, *, whole: bool = True) -> None:
    """The page (or what a screen shows of it) once its scripts ran."""
    await page.wait_for_load_state("load")
    if await page.locator("body[data-stream]").count():
        await page.get_by_text("live", exact=True).wait_for()
    await page.screenshot(path=to, full_page=whole, animations="disabled")


if __name__ == "__main__":
    main()
