"""Ends every process below the launcher, whatever session or group it moved to."""

import contextlib
import os
import select
import signal
import time

from activities.runner.launch.kernel import LINUX

KILL_PATIENCE_SEC = 10.0


def kill_all(wake: int, pid: int | None) -> int:
    """SIGKILL until no child is left; answers how many would not die within 10 seconds, stuck in the kernel.

    `pid` is the command's, as its own process group is all that can be ended where there is no /proc.
    """
    deadline = time.monotonic() + KILL_PATIENCE_SEC
    if not LINUX:
        kill_group(pid, signal.SIGKILL)
    while _reap():
        victims = descendants()
        # Stopped first, all of them: what stands still cannot fork faster than it is killed.
        for number in (signal.SIGSTOP, signal.SIGKILL):
            for victim in victims:
                kill(victim, number)
        if time.monotonic() > deadline:
            return len(victims)
        wait([wake], time.monotonic() + 0.2)
        drained(wake)
    return 0


def _reap() -> bool:
    """Take the ends of dead children; whether any child lives."""
    try:
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass
    except ChildProcessError:
        return False
    return True


def descendants() -> list[int]:
    """Every process below this one, from one look at all processes."""
    children: dict[int, list[int]] = {}
    for name in filter(str.isdigit, os.listdir("/proc") if LINUX else []):
        parent = _parent(name)
        if parent is not None:
            children.setdefault(parent, []).append(int(name))
    found: list[int] = []
    queue = [os.getpid()]
    while queue:
        below = children.get(queue.pop(), [])
        found.extend(below)
        queue.extend(below)
    return found


def _parent(pid: str) -> int | None:
    try:
        with open(f"/proc/{pid}/stat", "rb") as stat:
            # The name in brackets may hold anything, brackets too: the fields begin after the last one.
            return int(stat.read().rpartition(b")")[2].split(None, 2)[1])
    except OSError:
        return None  # it ended while we looked


def kill(pid: int, number: int) -> None:
    """Send a signal to a process that may be gone; one that is another user's shows in the count of those left."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.kill(pid, number)


def kill_group(pid: int | None, number: int) -> None:
    """Send a signal to the command's process group, which may be gone."""
    if pid is not None:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(pid, number)


def ask_to_end(pid: int | None, keeper: int) -> None:
    """SIGTERM for everything below the keeper, which ignores it; stopped processes are woken to take it."""
    if not LINUX:
        kill_group(pid, signal.SIGTERM)
        return
    for victim in descendants():
        if victim != keeper:
            kill(victim, signal.SIGTERM)
            kill(victim, signal.SIGCONT)


def wait(fds: list[int], deadline: float | None) -> set[int]:
    """Those of `fds` that can be read (or ended), once there is one; none when `deadline`, in monotonic seconds, passed."""
    poller = select.poll()
    for fd in fds:
        poller.register(fd, select.POLLIN | select.POLLHUP)
    left = None if deadline is None else max(0.0, deadline - time.monotonic()) * 1000
    return {fd for fd, _ in poller.poll(left)}


def drained(wake: int) -> bytes:
    """The signal numbers that came since the last call."""
    try:
        return os.read(wake, 4096)
    except BlockingIOError:
        return b""
