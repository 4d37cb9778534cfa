"""One child process: how it is started, ended, and waited for until it answers.

A child leads its own session, so that Ctrl-C at the terminal reaches only the supervisor, and on Linux the
kernel ends it when the supervisor is gone (`setpriv --pdeathsig`). It must be started from the main thread:
the kernel watches the thread that forked.
"""

import asyncio
import os
import shutil
import signal
import sys
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from runtime.embedded.account import Account

TAIL_BYTES = 2_000
PLAIN_ENVIRONMENT = ("PATH", "HOME", "LANG", "TMPDIR", "TZ")


class ServerFailed(Exception):
    """A server ended or stayed silent before it was ready: `reason` in a line, the text with the end of its log."""

    def __init__(self, reason: str, detail: str = "") -> None:
        super().__init__(reason + detail)
        self.reason = reason


@dataclass(frozen=True)
class Command:
    """What to run. `stop` is the signal that asks for a clean end; output goes to `log`."""

    name: str
    argv: tuple[str, ...]
    log: Path
    env: Mapping[str, str] = field(default_factory=lambda: plain_environment())
    stop: signal.Signals = signal.SIGTERM
    account: Account | None = None
    pass_fds: tuple[int, ...] = ()


def plain_environment() -> dict[str, str]:
    """The few variables a server needs; nothing of the caller's `PG…` or `TEMPORAL_…` leaks into it."""
    return {name: os.environ[name] for name in PLAIN_ENVIRONMENT if name in os.environ} | {
        "LC_ALL": "C.UTF-8"
    }


class Child:
    """A running command."""

    def __init__(self, command: Command, process: asyncio.subprocess.Process) -> None:
        self.command = command
        self._process = process

    @property
    def pid(self) -> int:
        """The process id, which is also its process group."""
        return self._process.pid

    @property
    def ended(self) -> bool:
        """Whether the process is known to be gone."""
        return self._process.returncode is not None

    async def wait(self) -> int:
        """Until it ends; the exit code, negative for a signal."""
        return await self._process.wait()

    def kill(self) -> None:
        """End it and all it started, at once."""
        with suppress(ProcessLookupError, PermissionError):  # the second: macOS, about a group of zombies
            os.killpg(self.pid, signal.SIGKILL)

    async def stop(self, grace: float = 15) -> bool:
        """Ask for a clean end, insist after `grace` seconds; True when it ended by itself."""
        clean = True
        if not self.ended:
            with suppress(ProcessLookupError):
                self._process.send_signal(self.command.stop)
            try:
                await asyncio.wait_for(self._process.wait(), grace)
            except TimeoutError:
                clean = False
        self.kill()
        await self._process.wait()
        return clean


def _argv(command: Command) -> list[str]:
    """The command behind the small launcher of util-linux, where there is one."""
    launcher = shutil.which("setpriv") if sys.platform == "linux" else None
    if launcher is None:
        return list(command.argv)
    account = command.account.launcher_options() if command.account else []
    return [launcher, "--pdeathsig", command.stop.name[3:], *account, "--", *command.argv]


async def spawn(command: Command) -> Child:
    """Start `command` in a session of its own; OSError when the program cannot be started."""
    argv = _argv(command)
    account = command.account if argv[0] == command.argv[0] else None
    with command.log.open("ab") as log:
        process = await asyncio.create_subprocess_exec(
            *argv,
            stdin=asyncio.subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            env=dict(command.env),
            start_new_session=True,
            pass_fds=command.pass_fds,
            user=account.uid if account else None,
            group=account.gid if account else None,
            extra_groups=[] if account else None,
        )
    return Child(command, process)


async def until_ready(child: Child, probe: Awaitable[object], limit: float) -> None:
    """Wait for `probe`, at most `limit` seconds; ServerFailed when the child ends or the time is up."""
    probing = asyncio.ensure_future(probe)
    ending = asyncio.ensure_future(child.wait())
    try:
        await asyncio.wait({probing, ending}, timeout=limit, return_when=asyncio.FIRST_COMPLETED)
        if probing.done():
            probing.result()
            return
        reason = (
            f"ended with {outcome(ending.result())}" if ending.done() else f"did not answer in {limit:g} s"
        )
        raise ServerFailed(f"{child.command.name} {reason}", log_tail(child.command.log))
    finally:
        for task in (probing, ending):
            task.cancel()
        await asyncio.gather(probing, ending, return_exceptions=True)


async def answering(attempt: Callable[[], Awaitable[None]], *retry_on: type[Exception]) -> None:
    """Repeat `attempt` until it passes; the caller bounds it (`until_ready`). Other errors go through.

    A server says nowhere that it listens now, so connecting is the event; the pauses grow to 0.2 s.
    """
    pause = 0.01
    while True:
        try:
            return await attempt()
        except retry_on:
            await asyncio.sleep(pause)
            pause = min(pause * 1.5, 0.2)


async def until_connected(host: str, port: int) -> None:
    """Until something accepts connections there."""

    async def connect() -> None:
        _, writer = await asyncio.open_connection(host, port)
        writer.close()
        await writer.wait_closed()

    await answering(connect, OSError)


def outcome(returncode: int) -> str:
    """An exit as people read it: `exit code 1`, `signal SIGKILL`."""
    if returncode >= 0:
        return f"exit code {returncode}"
    try:
        return f"signal {signal.Signals(-returncode).name}"
    except ValueError:
        return f"signal {-returncode}"


def log_tail(log: Path) -> str:
    """Where the log is and its last lines; no text when there is none."""
    if not log.exists() or not log.stat().st_size:
        return ""
    with log.open("rb") as file:
        file.seek(max(0, log.stat().st_size - TAIL_BYTES))
        text = file.read().decode(errors="replace").strip()
    return f". The end of {log}:\n{text}"
