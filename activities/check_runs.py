"""Runs one check on one tree: in a clean checkout, and again as often as its `retries` allow while it is red."""

import asyncio
from dataclasses import dataclass
from pathlib import Path

from activities.check_ground import Ground
from activities.folders import Folders
from protocol.checks import CheckDefinition, CheckState, RunResult
from protocol.ids import CommitId
from protocol.live import LOG_LIMIT
from protocol.queue import CheckRequest
from storage.git.checkout import checkout_tree, remove


@dataclass(frozen=True)
class Ran:
    """How the last try ended, and the logs of all. `flaky` are the tests ('' for the check itself) red before the green."""

    result: RunResult
    log: bytes
    tries: int = 1
    flaky: tuple[str, ...] = ()


class CheckRuns:
    """Runs checks with the repositories and the scratch of this host."""

    def __init__(self, folders: Folders, ground: Ground) -> None:
        self._folders = folders
        self._ground = ground

    async def run(self, request: CheckRequest, definition: CheckDefinition, check_id: str) -> Ran:
        """Try until it is not red, or the tries are used up. Each try has a checkout and a share of the log of its own."""
        red: list[RunResult] = []
        logs: list[bytes] = []
        most = definition.retries + 1
        while True:
            result, log = await self._execute(request, definition, check_id, LOG_LIMIT // most)
            logs.append(log)
            if result.state is not CheckState.FAILED or len(logs) == most:
                break
            red.append(result)
        tests = {one.failure.test if one.failure else "" for one in red}
        green = result.state is CheckState.PASSED
        return Ran(result, _joined(logs), len(logs), tuple(sorted(tests)) if green else ())

    async def _execute(
        self, request: CheckRequest, definition: CheckDefinition, check_id: str, log_limit: int
    ) -> tuple[RunResult, bytes]:
        scratch = self._folders.scratch(check_id)
        await remove(scratch)
        scratch.mkdir(parents=True)
        try:
            tree, log = scratch / "tree", scratch / "log"
            repository = self._folders.repository(request.project_id)
            await checkout_tree(repository, CommitId(request.commit), tree)
            result = await self._ground.run(
                request, definition, check_id, tree=tree, log=log, scratch=scratch, log_limit=log_limit
            )
            return result, _read(log)
        finally:
            await asyncio.shield(remove(scratch))


def _joined(logs: list[bytes]) -> bytes:
    if len(logs) == 1:
        return logs[0]
    return b"\n".join(b"[try %d of %d]\n%s" % (at, len(logs), log) for at, log in enumerate(logs, 1))


def _read(log: Path) -> bytes:
    return log.read_bytes() if log.exists() else b""
