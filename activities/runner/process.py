"""Runs one command in a launcher of its own: watched, bounded in time and output, and ended as a whole.

On Linux everything the command forked is gone when `run_command` returns, also what took a session of its own, and also
when this server is killed. On other systems that holds for the command's process group; a child that left it lives on,
and its hold on the output is not waited for.
"""

import asyncio
import os
import signal
from collections.abc import Coroutine, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from activities.runner.isolation import Plan, in_words, limit_in_words
from activities.runner.launched import NOBODY, Launched, Watching
from activities.runner.log import DEFAULT_LIMIT, CappedLog

# With the time in which a cancel reaches this host, a cancelled run is gone within 5 s.
GRACE_SEC = 2.0


@dataclass(frozen=True)
class Ended:
    """How a command ended. `problem` says why it could not be run; then there is neither exit code nor signal.

    `over` says in words which of its limits ended it, and is empty when none did.
    """

    exit_code: int | None
    signal: str | None
    problem: str | None
    timed_out: bool
    cancelled: bool
    log_bytes: int
    truncated: bool
    seconds: float
    isolation: tuple[str, ...]
    over: str = ""


async def run_command(
    command: str | Sequence[str],
    *,
    cwd: Path,
    environment: Mapping[str, str],
    timeout_sec: float,
    log_path: Path,
    plan: Plan,
    log_limit: int = DEFAULT_LIMIT,
    watching: Watching = NOBODY,
    grace_sec: float = GRACE_SEC,
    remove: Sequence[Path] = (),
) -> Ended:
    """Run `command` (a shell line, or an argument list without a shell) and answer how it ended.

    Its output, both streams in one, goes to `log_path`; its input is empty. After `timeout_sec` seconds, on `cancel`, and when
    this task is cancelled, all its processes get SIGTERM and `grace_sec` seconds later SIGKILL. `remove` names folders
    made for this run, removed after it. OSError when the log cannot be written; CancelledError only after all is ended.
    """
    argv = ["/bin/sh", "-c", command] if isinstance(command, str) else list(command)
    log = CappedLog(log_path, log_limit)
    run = Launched(_spec(argv, cwd, plan, grace_sec, remove), environment, log, watching)
    why = ""
    try:
        why = await run.watched(timeout_sec)
    finally:
        await _completed(run.end(grace_sec))
    return _ended(run, log, plan, why, argv[0])


def _spec(argv: list[str], cwd: Path, plan: Plan, grace_sec: float, remove: Sequence[Path]) -> dict[str, Any]:
    return {
        "argv": argv,
        "cwd": os.fspath(cwd),
        "grace": grace_sec,
        "no_network": plan.isolation.no_network,
        "own_processes": plan.isolation.own_processes,
        "uid": plan.identity.uid,
        "gid": plan.identity.gid,
        "give": plan.give,
        "limits": plan.rlimits,
        "watch": plan.limits.watched(),
        "remove": [os.fspath(folder) for folder in remove],
    }


async def _completed(work: Coroutine[Any, Any, None]) -> None:
    """Wait for `work` even when this task is cancelled meanwhile; the cancellation is raised afterwards."""
    task = asyncio.ensure_future(work)
    cancelled = False
    while not task.done():
        try:
            await asyncio.shield(task)
        except asyncio.CancelledError:
            if task.cancelled():
                raise
            cancelled = True
    task.result()
    if cancelled:
        raise asyncio.CancelledError


def _ended(run: Launched, log: CappedLog, plan: Plan, why: str, program: str) -> Ended:
    report = run.report()
    status = report.get("status")
    exit_code, signalled = _verdict(status, forced=bool(why) or "over" in report)
    return Ended(
        exit_code=exit_code,
        signal=signalled,
        problem=None if status is not None or why or "over" in report else _problem(report, program),
        timed_out=why == "timeout",
        cancelled=why == "cancel",
        log_bytes=log.written,
        truncated=log.truncated,
        seconds=run.seconds(),
        isolation=in_words(plan, report),
        over=_over(plan, report, exit_code, signalled),
    )


def _over(plan: Plan, report: Mapping[str, Any], exit_code: int | None, signalled: str | None) -> str:
    """The limit that ended the run. Where nobody watches, the kernel's own CPU limit tells by its signal."""
    name = str(report.get("over", ""))
    by_kernel = signalled == "SIGXCPU" or exit_code == 128 + signal.SIGXCPU
    if not name and by_kernel and plan.limits.cpu_sec is not None:
        name = "cpu"
    value = plan.limits.watched().get(name)
    return limit_in_words(name, value) if value is not None else ""


def _verdict(status: int | None, forced: bool) -> tuple[int | None, str | None]:
    """Exit code or signal; a command that did not take the SIGTERM of a stop left no status and was killed."""
    if status is None:
        return None, signal.SIGKILL.name if forced else None
    code = os.waitstatus_to_exitcode(status)
    if code >= 0:
        return code, None
    try:
        return None, signal.Signals(-code).name
    except ValueError:
        return None, f"signal {-code}"  # real-time signals have no name


def _problem(report: Mapping[str, Any], program: str) -> str:
    if "errno" in report:
        at = f"starting {program}" if report.get("at") == "exec" else report.get("at", "starting")
        return f"{os.strerror(report['errno'] or 0)}, while {at}"
    if report.get("stopped"):
        return "the run was stopped from outside before its command ended"
    return "the run's own processes were ended from outside; see the server's memory and its log"
