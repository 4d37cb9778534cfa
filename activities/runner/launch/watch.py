"""Looks now and then at what a run uses, as the kernel's own limits are those of single processes.

Memory is what its processes hold for themselves, CPU what they and their ended children used, all together.
"""

import os
import time

from activities.runner.launch.kernel import LINUX

LOOK_SEC = 0.25
_TICK = os.sysconf("SC_CLK_TCK") if LINUX else 100
_UNIT = {"cpu": _TICK, "memory": 1, "processes": 1}
_PAGE = os.sysconf("SC_PAGESIZE")


class Watch:
    """The limits of one run: `cpu` in seconds, `memory` in bytes, `processes` as a number; each may be left out."""

    def __init__(self, limits: dict[str, int]) -> None:
        told = LINUX and _children_are_told()
        self._limits = {name: most * _UNIT[name] for name, most in limits.items()} if told else {}
        self._next = time.monotonic() + LOOK_SEC

    @property
    def held(self) -> list[str]:
        """The limits that are looked after here."""
        return sorted(self._limits)

    def wake_at(self, deadline: float | None) -> float | None:
        """When to look again, or `deadline` when that is sooner."""
        if not self._limits:
            return deadline
        return self._next if deadline is None else min(deadline, self._next)

    def over(self, keeper: int) -> str:
        """The name of a limit that the processes below the keeper are over; "" when there is none, or it is too soon."""
        if not self._limits or time.monotonic() < self._next:
            return ""
        used = _used(keeper)
        self._next = time.monotonic() + LOOK_SEC
        return next((name for name, most in self._limits.items() if used[name] > most), "")


def _children_are_told() -> bool:
    return os.path.exists(f"/proc/self/task/{os.getpid()}/children")


def _used(keeper: int) -> dict[str, int]:
    """What all below the keeper use, CPU in the kernel's ticks. The keepers are our own program: their memory is none of the run's."""
    own = {os.getpid(), keeper, *_children(keeper, only_ours=True)}
    found, queue = set[int](), [os.getpid()]
    while queue:
        pid = queue.pop()
        found.add(pid)
        queue.extend(child for child in _children(pid) if child not in found)
    runs = found - own
    return {
        "cpu": sum(map(_cpu_ticks, found - {os.getpid()})),
        "memory": sum(map(_private_pages, runs)) * _PAGE,
        "processes": len(runs),
    }


def _children(pid: int, only_ours: bool = False) -> list[int]:
    """The children of a process; `only_ours`: those that run this program still, as process 1 of a namespace does."""
    found: list[int] = []
    try:
        for task in os.listdir(f"/proc/{pid}/task"):
            with open(f"/proc/{pid}/task/{task}/children", "rb") as children:
                found.extend(map(int, children.read().split()))
    except OSError:
        pass  # it ended while we looked
    return [child for child in found if _program(child) == _program(os.getpid())] if only_ours else found


def _program(pid: int) -> bytes:
    try:
        with open(f"/proc/{pid}/cmdline", "rb") as words:
            return words.read(4096)
    except OSError:
        return b""


def _cpu_ticks(pid: int) -> int:
    try:
        with open(f"/proc/{pid}/stat", "rb") as stat:
            fields = stat.read().rpartition(b")")[2].split()
    except OSError:
        return 0
    # Own and ended children's time, as user and in the kernel.
    return sum(map(int, fields[11:15]))


def _private_pages(pid: int) -> int:
    try:
        with open(f"/proc/{pid}/statm", "rb") as statm:
            _, resident, shared = map(int, statm.read().split()[:3])
    except (OSError, ValueError):
        return 0
    return max(0, resident - shared)
