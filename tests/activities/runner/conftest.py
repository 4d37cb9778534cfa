"""What the runner's tests share: a checkout, a way to run a command in it, and a pipe that tells who is still alive."""

import os
import select
from collections.abc import Callable, Coroutine, Iterator
from pathlib import Path
from typing import Any

import pytest

from activities.runner.environment import check_environment, make_folders
from activities.runner.isolation import Isolation, Limits, plan
from activities.runner.process import Ended, run_command

BARE = Isolation(no_network=False, own_processes=False)

Run = Callable[..., Coroutine[Any, Any, Ended]]


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """An empty folder to run in."""
    folder = tmp_path / "checkout"
    folder.mkdir()
    return folder


class Log:
    """Where the run's log goes."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def text(self) -> str:
        """What stands in it, as text."""
        return self.path.read_text()

    def data(self) -> bytes:
        """What stands in it."""
        return self.path.read_bytes()

    def size(self) -> int:
        """Its length in bytes."""
        return self.path.stat().st_size


@pytest.fixture
def log(tmp_path: Path) -> Log:
    """A log that is not there yet."""
    return Log(tmp_path / "run.log")


@pytest.fixture
def run(checkout: Path, log: Log, tmp_path: Path) -> Run:
    """Run a command in the checkout; keyword arguments are those of `run_command`, and `isolation` and `limits`."""

    async def runs(
        command: str | list[str],
        isolation: Isolation = BARE,
        limits: Limits = Limits(),  # noqa: B008 - frozen
        timeout_sec: float = 60,
        **options: Any,
    ) -> Ended:
        folders = make_folders(tmp_path)
        environment = check_environment(folders, [], os.environ)
        line = command if isinstance(command, str) else " ".join(command)
        made = plan(isolation, limits, timeout_sec, line, environment, (checkout, folders.top))
        asked: dict[str, Any] = {
            "cwd": checkout,
            "environment": environment,
            "remove": (folders.top,),
            **options,
        }
        return await run_command(command, timeout_sec=timeout_sec, log_path=log.path, plan=made, **asked)

    return runs


class Holders:
    """A named pipe: each process that opened it for writing holds it until it dies."""

    def __init__(self, path: Path) -> None:
        os.mkfifo(path)
        self.path = path
        self._end = os.open(path, os.O_RDONLY | os.O_NONBLOCK)

    def said(self) -> bytes:
        """What the holders wrote, once all of them are gone; fails at once when one still lives."""
        data = b""
        while True:
            try:
                piece = os.read(self._end, 65_536)
            except BlockingIOError:
                pytest.fail(f"a process of the run still lives (it wrote {data!r})")
            if not piece:
                return data
            data += piece

    def wait(self) -> None:
        """Return once all who had it are gone; for processes that nobody else waits for."""
        # On this end, which was open before they came: one opened after they left would never hear of it.
        poller = select.poll()
        poller.register(self._end, 0)  # only the hang-up, which is always told
        poller.poll(60_000)

    def close(self) -> None:
        """Let go of the pipe."""
        os.close(self._end)


@pytest.fixture
def holders(tmp_path: Path) -> Iterator[Holders]:
    """A fresh pipe for a test's processes to hold."""
    pipe = Holders(tmp_path / "held")
    yield pipe
    pipe.close()
