"""Ends what an `up` that was killed left running on its data folder.

Each process is recorded with the moment it started, so a number that the system has given to
someone else since is never touched.
"""

import signal
import time
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

import psutil

# The system's own arithmetic on boot time may move a start time a little between two readings.
SAME_START_SECONDS = 2.0
GRACE_SECONDS = 15.0


def record_of(pid: int, stop: signal.Signals) -> dict[str, Any] | None:
    """What to write down about a process just started; None when it is gone already."""
    try:
        return {"pid": pid, "started": psutil.Process(pid).create_time(), "stop": int(stop)}
    except psutil.NoSuchProcess:
        return None


def end_leftovers(records: Mapping[str, Mapping[str, Any]], grace: float = GRACE_SECONDS) -> list[str]:
    """End the recorded processes that still run, with all they started; the names of those found.

    Blocks for up to `grace` seconds while they stop cleanly; what is left then is killed.
    """
    found = {name: process for name, record in records.items() if (process := _still_running(record))}
    families = [each for process in found.values() for each in _family(process)]
    for name, process in found.items():
        with suppress(psutil.NoSuchProcess):
            process.send_signal(records[name]["stop"])
    _wait(list(found.values()), grace)
    for process in families:
        with suppress(psutil.NoSuchProcess):
            process.kill()
    _wait(families, GRACE_SECONDS)
    return list(found)


def _wait(processes: list[psutil.Process], seconds: float) -> None:
    """Until they have ended, at most `seconds`.

    In a container nobody may collect orphans: one that only waits for that has ended all the same.
    """
    until = time.monotonic() + seconds
    while processes and time.monotonic() < until:
        _, alive = psutil.wait_procs(processes, timeout=0.1)
        processes = [process for process in alive if is_alive(process)]


def is_alive(process: psutil.Process) -> bool:
    """Whether it still runs; one that has ended and was not collected yet does not."""
    try:
        return bool(process.status() != psutil.STATUS_ZOMBIE)
    except psutil.NoSuchProcess:
        return False


def _still_running(record: Mapping[str, Any]) -> psutil.Process | None:
    try:
        process = psutil.Process(record["pid"])
        started = process.create_time()
    except psutil.NoSuchProcess:
        return None
    same = abs(started - record["started"]) <= SAME_START_SECONDS
    return process if same and is_alive(process) else None


def _family(process: psutil.Process) -> list[psutil.Process]:
    try:
        return [process, *process.children(recursive=True)]
    except psutil.NoSuchProcess:
        return []
