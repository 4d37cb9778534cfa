"""Runs one check of a project on a checkout and says how it ended, with the first failing test and the last lines."""

import asyncio
import os
import shutil
import time
from collections.abc import Mapping
from pathlib import Path

from activities.runner.caches import Cache
from activities.runner.environment import check_environment, make_folders
from activities.runner.isolation import Isolation, Limits, plan
from activities.runner.launched import NOBODY, Watching
from activities.runner.log import DEFAULT_LIMIT, read_ends
from activities.runner.process import Ended, run_command
from activities.runner.reports import read_reports
from protocol.checks import CheckDefinition, CheckState, RunResult, TestFailure
from rules.failures import first_failure, last_lines, summary
from rules.failures.text import WINDOW

LAST_LINES = 20
# What a shell answers for a command that is not executable, or not there.
_COULD_NOT_RUN = (126, 127)


async def run_check(
    definition: CheckDefinition,
    folder: Path,
    log_path: Path,
    *,
    watching: Watching = NOBODY,
    isolation: Isolation | None = None,
    limits: Limits | None = None,
    cache: Cache | None = None,
    log_limit: int = DEFAULT_LIMIT,
    server: Mapping[str, str] | None = None,
    scratch: Path | None = None,
) -> RunResult:
    """Run `definition` at the root of the checkout `folder`; its whole output goes to `log_path`.

    `server` is the environment to take from (this process's by default); `scratch` is where the run's home and temporary
    folders are made; `cache` is put in place before the run and kept after a green one. Never raises for what the command does. Raises OSError when the log or the folders cannot be written,
    and CancelledError, after all of the run's processes have ended, when this task is cancelled.
    """
    folders = make_folders(scratch)
    environment = check_environment(folders, definition.environment, os.environ if server is None else server)
    since_ns = time.time_ns()
    try:
        if cache is not None:
            await asyncio.to_thread(cache.fetch, folder, folders.home)
        run = plan(
            isolation or Isolation(),
            limits or Limits(),
            definition.timeout_sec,
            definition.command,
            environment,
            (folder, folders.top),
        )
        ended = await run_command(
            definition.command,
            cwd=folder,
            environment=environment,
            timeout_sec=definition.timeout_sec,
            log_path=log_path,
            plan=run,
            log_limit=log_limit,
            watching=watching,
            # A cache may lie in the home: then it is kept first.
            remove=() if cache is not None else (folders.top,),
        )
        # Reading two ends of a log and some XML is work of a second at worst: not on the loop that answers others.
        result = await asyncio.to_thread(_result, definition, ended, folder, log_path, since_ns)
        if cache is not None and result.state is CheckState.PASSED:
            await asyncio.to_thread(cache.keep, folder, folders.home)
        return result
    finally:
        if folders.top.exists():  # the launcher did not come to it
            await asyncio.to_thread(shutil.rmtree, folders.top, ignore_errors=True)


def _result(
    definition: CheckDefinition, ended: Ended, folder: Path, log_path: Path, since_ns: int
) -> RunResult:
    output = read_ends(log_path, WINDOW)
    failure = _failure(definition, output, ended, folder, since_ns)
    state = _state(ended, failure)
    lines = last_lines(output, LAST_LINES)
    return RunResult(
        state=state,
        exit_code=ended.exit_code,
        signal=ended.signal,
        summary=summary(
            definition.name,
            state,
            exit_code=ended.exit_code,
            signal=ended.signal,
            timed_out_after=definition.timeout_sec if ended.timed_out else None,
            over=ended.over,
            failure=failure,
            last_line=lines[-1] if lines else "",
            reason=ended.problem or "",
        ),
        failure=failure,
        last_lines=tuple(lines),
        log_bytes=ended.log_bytes,
        truncated=ended.truncated,
        seconds=ended.seconds,
        isolation=ended.isolation,
        # Neither says much about the tree: the host's load has a part in both.
        timed_out=ended.timed_out or bool(ended.over),
    )


def _failure(
    definition: CheckDefinition, output: bytes, ended: Ended, folder: Path, since_ns: int
) -> TestFailure | None:
    if ended.exit_code == 0 or ended.cancelled or ended.problem is not None:
        return None
    reports = read_reports(folder, since_ns, definition.artifacts)
    return first_failure(output, reports, os.path.realpath(folder))


def _state(ended: Ended, failure: TestFailure | None) -> CheckState:
    if ended.cancelled:
        return CheckState.CANCELLED
    if ended.timed_out or ended.over:
        return CheckState.FAILED
    if ended.problem is not None:
        return CheckState.ERROR
    # Some tools exit with the number of failed tests: a test that failed tells more than the shell's code.
    if ended.exit_code in _COULD_NOT_RUN and failure is None:
        return CheckState.ERROR
    return CheckState.PASSED if ended.exit_code == 0 else CheckState.FAILED
