"""Small stand-ins for the gateway and the worker, and `gitring up` around them, as a program.

python -m tests.support.standins up FOLDER [KIND OF GATEWAY]
python -m tests.support.standins NAME OF A STAND-IN
"""

import asyncio
import os
import signal
import sys
from collections.abc import Callable
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

from runtime.files import write_private
from runtime.settings import Settings


@dataclass(frozen=True)
class Owner:
    """What the bootstrap gives."""

    owner_token: str
    first_start: bool
    signin_link: str | None


async def bootstrap(settings: Settings) -> Owner:
    """An owner whose token is kept in the folder."""
    from runtime.up import say_line

    say_line("the record is prepared")
    kept = settings.data_dir / "owner_token"
    if kept.exists():
        return Owner(kept.read_text().strip(), False, None)
    token = f"gitring_person_{os.urandom(8).hex()}"
    write_private(kept, token + "\n")
    return Owner(token, True, f"{settings.url}/sign-in/once")


class _Ready(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        self.send_response(200 if self.path == "/readyz" else 404)
        self.end_headers()


def gateway() -> None:
    """Answer /readyz until ended."""
    settings = Settings()
    HTTPServer((settings.host, settings.port), _Ready).serve_forever()


def worker() -> None:
    """Say ready, then wait to be ended."""
    descriptor = Settings().ready_fd
    assert descriptor is not None
    os.write(descriptor, b"ready\n")
    os.close(descriptor)
    signal.pause()


def stubborn_gateway() -> None:
    """A gateway that does not let itself be asked to end."""
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    gateway()


def silent_gateway() -> None:
    """A gateway that never becomes ready."""
    signal.pause()


def broken_gateway() -> None:
    """End at once, as a process with a bug would."""
    sys.exit("the gateway is broken")


def brief_worker() -> None:
    """Say ready, then end."""
    os.write(Settings().ready_fd or -1, b"ready\n")
    sys.exit(3)


def up(folder: str, gateway_kind: str = "gateway") -> None:
    """`gitring up --port 0` with the stand-ins."""
    from runtime.stack import Stack
    from runtime.up import run_stack, say_line

    settings = Settings(data_dir=Path(folder), port=0)
    commands = COMMANDS | {"gateway": command(gateway_kind)}
    stack = Stack(settings, say=say_line, bootstrap=bootstrap, commands=commands)
    sys.exit(asyncio.run(run_stack(stack, say_line)))


def command(name: str) -> tuple[str, ...]:
    """The command line of a stand-in."""
    return (sys.executable, "-m", "tests.support.standins", name)


COMMANDS = {"gateway": command("gateway"), "worker": command("worker")}

PARTS: dict[str, Callable[..., None]] = {
    each.__name__: each
    for each in (up, gateway, stubborn_gateway, silent_gateway, broken_gateway, worker, brief_worker)
}

if __name__ == "__main__":
    PARTS[sys.argv[1]](*sys.argv[2:])
