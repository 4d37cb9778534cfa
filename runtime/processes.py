"""How each of our processes runs: until a signal, then its own end, within bounds."""

import asyncio
import signal
import sys
from collections.abc import Callable, Coroutine
from typing import Any

from bus.connect import BusUnreachable
from runtime.logs import set_up_logs
from runtime.migrate_process import SettingMissing
from runtime.settings import Settings
from storage.sql.pool import RecordBusy

Main = Callable[[Settings, asyncio.Event], Coroutine[Any, Any, None]]


def run(name: str, main: Main) -> None:
    """Run `main` with the environment's settings; SIGINT and SIGTERM set the event that it is given."""
    settings = Settings()
    set_up_logs(settings, name)
    try:
        asyncio.run(_until_signalled(main, settings))
    except (SettingMissing, RecordBusy, BusUnreachable) as problem:
        sys.exit(f"gitring {name}: {problem}")


async def _until_signalled(main: Main, settings: Settings) -> None:
    stopping = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, stopping.set)
    await main(settings, stopping)
