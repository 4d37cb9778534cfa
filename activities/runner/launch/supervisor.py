"""The small process between the server and a check: it isolates the check, waits for it, and ends all it started.

It runs by itself (`python -I -S launch/__main__.py SPEC`), imports only this folder, and holds nothing of the server but
two pipes: `control`, whose end of file means stop (also when the server died), and `report`, where it says what happened.

    launcher  (child subreaper: whatever is orphaned below becomes its child)
      keeper  (process 1 of a namespace of its own where the kernel gives one; waits for the command)
        command

On Linux nothing outlives the command: with a process namespace the kernel ends all of it at once, and without one
orphans, also those with a session of their own, are found as descendants. Elsewhere only the command's process group is.
"""

import contextlib
import json
import os
import signal
import sys
import time
from typing import Any

from activities.runner.launch.ending import ask_to_end, drained, kill_all, wait
from activities.runner.launch.ground import enter_namespaces, give_to_user, remove
from activities.runner.launch.keeper import Spec, keep, tell
from activities.runner.launch.kernel import LINUX, PR_SET_CHILD_SUBREAPER, prctl
from activities.runner.launch.watch import Watch


def main() -> int:
    """Run the command of the JSON spec in `argv[1]`; everything it left is gone when this returns."""
    spec: Spec = json.loads(sys.argv[1])
    for name in ("control", "report"):
        os.set_inheritable(spec[name], False)
    wake = _wake_on_signals()
    if LINUX:
        prctl(PR_SET_CHILD_SUBREAPER, 1)
    told: dict[str, Any] = {"held": [], "refused": {}}
    try:
        enter_namespaces(spec, told)
        give_to_user(spec)
        told |= _supervise(spec, wake)
    except OSError as error:
        told |= {"errno": error.errno, "at": "preparing the run"}
    _report(spec, told)
    remove(spec["remove"])
    return 0


def _wake_on_signals() -> int:
    """A pipe that becomes readable when a child ends or someone asks this process to stop."""
    wake, write = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC) if LINUX else os.pipe()
    os.set_blocking(wake, False)
    os.set_blocking(write, False)
    signal.set_wakeup_fd(write, warn_on_full_buffer=False)
    for number in (signal.SIGCHLD, signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, lambda *_: None)
    return wake


def _supervise(spec: Spec, wake: int) -> dict[str, Any]:
    """Start the keeper, wait for the command's end or a stop, end the rest; the answer goes into the report."""
    answer = _run_keeper(spec, wake, own_processes=spec["own_processes"])
    if answer.get("no_proc"):
        answer = _run_keeper(spec, wake, own_processes=False) | {"no_processes": answer["no_proc"]}
    answer["left"] = kill_all(wake, answer.get("pid"))
    return answer


def _run_keeper(spec: Spec, wake: int, own_processes: bool) -> dict[str, Any]:
    status, write = os.pipe()
    keeper = os.fork()
    if keeper == 0:
        os.close(status)
        keep(spec, write, own_processes)
    os.close(write)
    watch = Watch(spec.get("watch", {}))
    answer: dict[str, Any] = {"watched": watch.held}
    stopping, deadline = False, None
    while True:
        open_control = [] if stopping else [spec["control"]]
        ready = wait([status, wake, *open_control], watch.wake_at(deadline))
        if status in ready and not _take(status, answer):
            break
        asked = wake in ready and _asked_to_stop(wake)
        if not stopping and (asked or spec["control"] in ready):
            stopping, deadline = True, time.monotonic() + spec["grace"]
            ask_to_end(answer.get("pid"), keeper)
        if over := watch.over(keeper):
            answer["over"] = over
            break
        if stopping and deadline is not None and time.monotonic() >= deadline:
            break
    os.close(status)
    if "errno" in answer:
        answer.pop("status", None)  # the end of a child that never became the command
    return answer | {"stopped": stopping}


def _take(status: int, answer: dict[str, Any]) -> bool:
    """Add what the keeper wrote to `answer`; False when it has nothing more to say."""
    data = os.read(status, 65_536)
    for line in data.splitlines():
        answer.update(json.loads(line))
    return bool(data) and "status" not in answer and "errno" not in answer and "no_proc" not in answer


def _asked_to_stop(wake: int) -> bool:
    return any(byte != signal.SIGCHLD for byte in drained(wake))


def _report(spec: Spec, message: dict[str, Any]) -> None:
    # The server may be gone; what is left to do then is to clean up after the check.
    with contextlib.suppress(BrokenPipeError):
        tell(spec["report"], message)
