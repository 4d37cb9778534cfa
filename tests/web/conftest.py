"""The pages, served over HTTP on the session's engine, and people who visit them."""

from collections.abc import AsyncIterator

import pytest_asyncio

from tests.support.engine import Engine
from tests.web.served import Pages, serve_pages
from tests.web.visitor import Visitor


@pytest_asyncio.fixture(scope="session")
async def pages(engine: Engine) -> AsyncIterator[Pages]:
    """One served gitring for all tests: each makes projects and people of its own."""
    async with serve_pages(engine) as running:
        yield running


@pytest_asyncio.fixture
async def owner(pages: Pages) -> AsyncIterator[Visitor]:
    """The engine's person, signed in."""
    async with Visitor(pages.url) as visitor:
        await visitor.sign_in(await pages.link(pages.engine.owner.person_id))
        yield visitor
