"""Write the histories of this version: `python -m tests.replay.record [folder]`. Never overwrites one that is kept.

A kept history is a promise to every workflow that runs somewhere; see docs/history-changes.md.
"""

import asyncio
import os
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.replay.stories import STORIES
from tests.support.engine import Engine, running_engine
from tests.support.servers import (
    TemporalPlace,
    fresh_database,
    nats_server,
    postgres_server,
    served,
    temporal_server,
)

HISTORIES = Path(__file__).with_name("histories")
# Raised with each change that has a row in docs/history-changes.md; the histories of earlier versions stay.
VERSION = 2


async def record(folder: Path) -> None:
    """Run every story on servers of its own and keep what its workflows left."""
    with TemporaryDirectory(prefix="gitring-histories-") as text:
        place = Path(text)
        os.chmod(place, 0o755)
        async with (
            postgres_server(place) as postgres,
            fresh_database(postgres) as dsn,
            served(nats_server(place)) as nats,
            served(temporal_server(place)) as temporal,
            running_engine(
                dsn, nats.url, TemporalPlace(temporal.address, temporal.namespace), place
            ) as engine,
        ):
            for story in STORIES:
                await _keep(engine, folder, await story(engine))


async def _keep(engine: Engine, folder: Path, found: dict[str, str]) -> None:
    for name, workflow_id in found.items():
        history = await engine.found.temporal.get_workflow_handle(workflow_id).fetch_history()
        with (folder / f"{name}.v{VERSION}.json").open("x") as file:
            file.write(history.to_json())


if __name__ == "__main__":
    asyncio.run(record(Path(sys.argv[1]) if len(sys.argv) > 1 else HISTORIES))
