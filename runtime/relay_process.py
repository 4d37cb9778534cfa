"""`gitring relay`: carries committed events to NATS; for a deployment that wants it apart from the workers."""

import asyncio

from bus.connect import connect
from bus.relay import Relay
from runtime.connections import address
from runtime.processes import run
from runtime.settings import Settings


async def relay(settings: Settings, stopping: asyncio.Event) -> None:
    """Relay until told to stop."""
    link = await connect(address(settings, "nats_url"), "gitring-relay")
    try:
        task = asyncio.create_task(Relay(address(settings, "database_url"), link).run())
        waiting = asyncio.create_task(stopping.wait())
        await asyncio.wait({task, waiting}, return_when=asyncio.FIRST_COMPLETED)
        waiting.cancel()
        if task.done():
            task.result()
        task.cancel()
    finally:
        await link.close()


def main() -> None:
    """Run the relay with the settings of the environment."""
    run("relay", relay)
