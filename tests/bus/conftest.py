"""Links to the session's NATS, and a NATS of a test's own that it may stop and start."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest_asyncio

from bus.connect import Link, connect
from bus.stream import ensure_stream
from runtime.embedded.nats import Nats
from tests.bus.story import OwnNats
from tests.support.servers import nats_server


@pytest_asyncio.fixture
async def link(nats_url: str) -> AsyncIterator[Link]:
    """A link to the session's NATS, the stream made."""
    opened = await connect(nats_url, "test")
    await ensure_stream(opened.jetstream)
    yield opened
    await opened.close()


@pytest_asyncio.fixture
async def own_nats(tmp_path: Path) -> AsyncIterator[OwnNats]:
    """A running NATS on a port and a store that stay the same through `stop` and `start`."""
    server: Nats = nats_server(tmp_path)
    await server.prepare()
    own = OwnNats(server)
    await own.start()
    yield own
    await own.stop()


@pytest_asyncio.fixture
async def own_link(own_nats: OwnNats) -> AsyncIterator[Link]:
    """A link to the test's own NATS, the stream made."""
    opened = await connect(own_nats.url, "test-own")
    await ensure_stream(opened.jetstream)
    yield opened
    await opened.close()
