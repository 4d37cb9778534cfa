"""One house for all tests here: what one of them is refused changes nothing for the next."""

from collections.abc import AsyncIterator

import pytest_asyncio

from tests.security.house import House, open_house
from tests.security.words import Spoilt, spoil
from tests.support.engine import Engine


@pytest_asyncio.fixture(scope="session")
async def house(engine: Engine) -> AsyncIterator[House]:
    """Both projects, filled and served."""
    async with open_house(engine) as opened:
        yield opened


@pytest_asyncio.fixture(scope="session")
async def spoilt(house: House) -> Spoilt:
    """A project in which every text is an attack."""
    return await spoil(house.pages)
