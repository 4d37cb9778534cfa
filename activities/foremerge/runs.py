"""One run of a named check on a ChangeSet: where it lies, or in a checkout, with both streams told apart."""

import os
import shlex
import shutil
from collections import deque
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from activities.check_ground import limits_of
from activities.runner.environment import check_environment, make_folders
from activities.runner.isolation import Identity, Isolation, Plan, plan
from activities.runner.launched import Watching
from activities.runner.process import Ended, run_command
from protocol.checks import CheckDefinition
from protocol.foremerge.validations import MOST_OUTPUT

LONGEST_SEC = 3_600
_LOG_LIMIT = 64 * 1024


@dataclass(frozen=True)
class Ran:
    """How a run ended; `exit_code` is None for one that timed out, was killed or could not start."""

    command: list[str]
    passed: bool
    exit_code: int | None
    stdout: str
    stderr: str
    duration_ms: int
    run_at: datetime


def argv_of(command: str) -> list[str]:
    """What is run: the arguments that an operator registered as such, else a shell with the line."""
    try:
        words = shlex.split(command)
    except ValueError:
        words = []
    return words if words and shlex.join(words) == command else ["/bin/sh", "-c", command]


async def run_in_worktree(definition: CheckDefinition, root: Path, log: Path) -> Ran:
    """Run a check in somebody's own worktree, as its owner where the server may become that."""
    folders = make_folders()
    environment = check_environment(folders, definition.environment, os.environ)
    identity = _owner(root)
    limits = limits_of(definition)
    given = Plan(
        Isolation(no_network=not definition.network),
        limits,
        limits.as_rlimits(_timeout(definition), own_user=False),
        identity,
        [os.fspath(folders.top)] if identity.uid is not None else [],
    )
    return await _run(definition, root, log, given, environment, folders.top)


async def run_in_checkout(
    definition: CheckDefinition, tree: Path, scratch: Path, user: str | int | None
) -> Ran:
    """Run a check in a checkout made for it, as `user` where the server may become that."""
    folders = make_folders(scratch)
    environment = check_environment(folders, definition.environment, os.environ)
    given = plan(
        Isolation(no_network=not definition.network, user=user),
        limits_of(definition),
        _timeout(definition),
        definition.command,
        environment,
        (tree, folders.top),
    )
    return await _run(definition, tree, scratch / "log", given, environment, folders.top)


def _owner(root: Path) -> Identity:
    if os.geteuid() != 0 or (facts := root.stat()).st_uid == 0:
        return Identity()
    return Identity(facts.st_uid, facts.st_gid, "runs as the owner of the worktree")


def _timeout(definition: CheckDefinition) -> int:
    return min(definition.timeout_sec, LONGEST_SEC)


async def _run(
    definition: CheckDefinition, cwd: Path, log: Path, given: Plan, environment: dict[str, str], own: Path
) -> Ran:
    argv = argv_of(definition.command)
    out, errors = _Tail(), _Tail()
    began = datetime.now(UTC)
    try:
        ended = await run_command(
            argv,
            cwd=cwd,
            environment=environment,
            timeout_sec=_timeout(definition),
            log_path=log,
            plan=given,
            log_limit=_LOG_LIMIT,
            watching=Watching(on_output=out.take, on_errors=errors.take),
            remove=(own,),
        )
    finally:
        shutil.rmtree(own, ignore_errors=True)  # where the launcher did not come to it
    said = _why(ended, _timeout(definition))
    return Ran(
        argv,
        ended.exit_code == 0 and not ended.timed_out and not ended.over,
        None if ended.timed_out or ended.over else ended.exit_code,
        out.text(),
        f"{errors.text()}{said}"[-MOST_OUTPUT:],
        round(ended.seconds * 1_000),
        began,
    )


def _why(ended: Ended, timeout: int) -> str:
    """What the command itself could not say of its end."""
    if ended.timed_out:
        return f"\ntimed out after {timeout} seconds\n"
    if ended.over:
        return f"\nended because it used more than {ended.over}\n"
    if ended.problem is not None:
        return f"\nfailed to run: {ended.problem}\n"
    return f"\nended by {ended.signal}\n" if ended.signal else ""


class _Tail:
    """The last 16 KiB of a stream, however long it is."""

    def __init__(self) -> None:
        self._parts: deque[bytes] = deque()
        self._size = 0

    def take(self, data: bytes) -> None:
        self._parts.append(data)
        self._size += len(data)
        while self._size - len(self._parts[0]) >= MOST_OUTPUT:
            self._size -= len(self._parts.popleft())

    def text(self) -> str:
        """As text that the record can keep."""
        kept = b"".join(self._parts)[-MOST_OUTPUT:]
        return kept.decode("utf-8", "replace").replace("\0", "\N{REPLACEMENT CHARACTER}")
