"""`gitring up`: one stack in the foreground, from the first line to the last."""

import asyncio
import signal
import time
from collections.abc import Callable, Coroutine
from importlib import import_module
from typing import Any, cast

from bus.connect import BusUnreachable
from runtime.embedded.account import NoAccount
from runtime.embedded.process import ServerFailed
from runtime.folder import FolderInUse
from runtime.logs import set_up_logs
from runtime.migrate_process import RecordUnreachable
from runtime.ports import PortInUse
from runtime.settings import Settings
from runtime.stack import Bootstrap, Bootstrapped, Stack
from runtime.supervise import GaveUp
from storage.sql.migrate import MigrationFailed, MigrationRefused

# What can go wrong on a machine, told in a line or two; anything else is a bug and keeps its trace.
TOLD = (
    FolderInUse,
    PortInUse,
    NoAccount,
    ServerFailed,
    GaveUp,
    MigrationFailed,
    MigrationRefused,
    RecordUnreachable,
    BusUnreachable,
)
SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


def up(settings: Settings) -> int:
    """Run until a signal; the exit code: 0 after a clean stop, 1 after a failure or a forced stop."""
    set_up_logs(settings.with_values(log_level="warning"), "up")
    bootstrap = cast(Bootstrap, import_module("runtime.bootstrap").bootstrap)
    return asyncio.run(run_stack(Stack(settings, say=say_line, bootstrap=bootstrap), say_line))


def say_line(line: str) -> None:
    """Print a line at once, also into a pipe."""
    print(line, flush=True)


async def run_stack(stack: Stack, say: Callable[[str], None]) -> int:
    """Start `stack`, keep it until the first signal, stop it; a second signal ends everything at once."""
    asked, forced = asyncio.Event(), asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in SIGNALS:
        loop.add_signal_handler(number, lambda: (forced if asked.is_set() else asked).set())
    try:
        failed = await _until(asked, _serve(stack, say), say)
        if asked.is_set():
            say("stopping")
        await _stop(stack, forced)
    finally:
        for number in SIGNALS:
            loop.remove_signal_handler(number)
    return 1 if failed or forced.is_set() else 0


async def _serve(stack: Stack, say: Callable[[str], None]) -> None:
    began = time.monotonic()
    say(f"starting gitring in {stack.folder.path}")
    owner = await stack.start()
    for line in welcome(stack, owner, time.monotonic() - began):
        say(line)
    await stack.keep()


async def _until(
    asked: asyncio.Event, serving: Coroutine[Any, Any, None], say: Callable[[str], None]
) -> bool:
    """Serve until asked to stop; True when serving failed, which is said."""
    work = asyncio.create_task(serving)
    asking = asyncio.create_task(asked.wait())
    await asyncio.wait({work, asking}, return_when=asyncio.FIRST_COMPLETED)
    asking.cancel()
    work.cancel()
    try:
        await work
    except asyncio.CancelledError:
        return False
    except TOLD as problem:
        say(f"gitring up: {problem}")
    return True


async def _stop(stack: Stack, forced: asyncio.Event) -> None:
    stopping = asyncio.create_task(stack.stop())
    forcing = asyncio.create_task(forced.wait())
    await asyncio.wait({stopping, forcing}, return_when=asyncio.FIRST_COMPLETED)
    forcing.cancel()
    if not stopping.done():
        stack.kill()
    await stopping


def welcome(stack: Stack, owner: Bootstrapped, seconds: float) -> list[str]:
    """The lines of a stack that is ready: where everything is, without any password."""
    settings = stack.settings
    lines = [
        f"gitring is ready after {seconds:.1f} s",
        f"  pages and API  {settings.url}",
        f"  MCP            {settings.url}/mcp",
        f"  Git            {settings.url}/git",
        f"  Temporal       {settings.temporal_ui_url or settings.temporal_address}",
        f"  everything     {stack.folder.path / 'connection.json'}",
    ]
    if owner.signin_link:
        lines.append(f"Sign in as the owner with this link, which works once: {owner.signin_link}")
    return [*lines, "Stop it with Ctrl-C."]
