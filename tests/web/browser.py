"""A real Chromium, driven by Playwright. Where none is installed, the tests that need one are skipped, in words."""

import shutil
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from playwright.async_api import Browser, async_playwright

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
NONE_HERE = "no Chromium on this machine: install one (Debian: apt-get install chromium) to run this test"
_FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--font-render-hinting=none",
]


@asynccontextmanager
async def chromium() -> AsyncIterator[Browser]:
    """The browser without a window; closed at the end of the block."""
    assert CHROMIUM is not None, NONE_HERE
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=CHROMIUM, headless=True, args=_FLAGS)
        try:
            yield browser
        finally:
            await browser.close()
