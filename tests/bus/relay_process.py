"""A relay in a process of its own, for a test to kill: `python -m tests.bus.relay_process DSN NATS_URL`."""

import asyncio
import sys

from bus.connect import connect
from bus.relay import Relay


async def _main(dsn: str, nats_url: str) -> None:
    relay = Relay(dsn, await connect(nats_url, "relay-process"), batch=3)
    work = asyncio.create_task(relay.run())
    await relay.held()
    print("holding", flush=True)  # noqa: T201
    await work


if __name__ == "__main__":
    asyncio.run(_main(*sys.argv[1:]))
