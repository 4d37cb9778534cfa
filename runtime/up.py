"""`gitring up`: one stack in the foreground, from the first line to the last."""

import asyncio
import os
import signal
import sys
import time
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager
from typing import Any

from bus.connect import BusUnreachable
from runtime.bootstrap import bootstrap
from runtime.embedded.account import NoAccount
from runtime.embedded.process import ServerFailed
from runtime.folder import FolderInUse
from runtime.logs import set_up_logs
from runtime.migrate_process import RecordUnreachable
from runtime.ports import PortInUse
from runtime.settings import Settings
from runtime.stack import Bootstrapped, Stack
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


def up(settings: Settings) -> int:
    """Run until a signal; the exit code: 0 after a clean stop, 1 after a failure or a forced stop."""
    set_up_logs(settings.with_values(log_level="warning"), "up")
    return asyncio.run(run_stack(Stack(settings, say=say_line, bootstrap=bootstrap), say_line))


def say_line(line: str) -> None:
    """Print a line at once, also into a pipe; when nobody reads any more, go on in silence."""
    try:
        print(line, flush=True)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


async def run_stack(stack: Stack, say: Callable[[str], None]) -> int:
    """Start `stack`, keep it until the first signal, stop it; a second signal ends everything at once."""
    asked, forced = asyncio.Event(), asyncio.Event()
    with _signals(lambda: (forced if asked.is_set() else asked).set()):
        try:
            failed = await _until(asked, _serve(stack, say), say)
            if asked.is_set():
                say("stopping")
        finally:
            await _stop(stack, forced)
    return 1 if failed or forced.is_set() else 0


@contextmanager
def _signals(handler: Callable[[], None]) -> Iterator[None]:
    """Call `handler` at each signal that asks us to end."""
    numbers = [signal.SIGINT, signal.SIGTERM]
    if signal.getsignal(signal.SIGHUP) is not signal.SIG_IGN:  # nohup means: outlive the terminal
        numbers.append(signal.SIGHUP)
    loop = asyncio.get_running_loop()
    for number in numbers:
        loop.add_signal_handler(number, handler)
    try:
        yield
    finally:
        for number in numbers:
            loop.remove_signal_handler(number)


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
