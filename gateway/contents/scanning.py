"""Has a push read for secrets by a child process, which ends with the push that it was started for."""

import asyncio
import sys
from asyncio.subprocess import PIPE
from pathlib import Path

from pydantic import BaseModel, ConfigDict

from protocol.ids import CommitId
from storage.git.bare import Bare
from storage.git.command import end, environment
from storage.git.names import commit_id, shown_path

_ENTRY = Path(__file__).parent
# Pushes read at the same time; each takes a few dozen MiB, and the processor is shared anyway.
_AT_ONCE = 8
# Below the patience of a push, so that its pusher reads why.
_SECONDS = 45.0


class Found(BaseModel):
    """A line that holds what looks like a secret, and the commit that brought it. `path` is in the form of `shown_path`."""

    model_config = ConfigDict(frozen=True)

    path: str
    line: int
    what: str
    commit: str | None


class Scan(BaseModel):
    """What a push was found to hold: how many new files were read, and the first few secrets in them.

    `blobs` is None when they are more than one push may bring, or were not read in time.
    """

    model_config = ConfigDict(frozen=True)

    blobs: int | None
    found: tuple[Found, ...] = ()


class ScanFailed(Exception):
    """The child ended without an answer; the message has its reason, and nothing of what it read."""


class Scanner:
    """Reads pushes, a few at a time."""

    def __init__(self, seconds: float = _SECONDS) -> None:
        self._gate = asyncio.Semaphore(_AT_ONCE)
        self._seconds = seconds

    async def scan(self, repository: Bare, tip: CommitId) -> Scan:
        """Read what `tip` brings that no ref reaches: text files of at most 5 MiB. Raises ScanFailed.

        Cancelling it ends the child and its gits.
        """
        async with self._gate:
            try:
                async with asyncio.timeout(self._seconds):
                    return _read(await _answer(repository, commit_id(tip)))
            except TimeoutError:
                return Scan(blobs=None)


async def _answer(repository: Bare, tip: CommitId) -> bytes:
    child = await asyncio.create_subprocess_exec(
        sys.executable,
        "-I",
        str(_ENTRY),
        tip,
        cwd=repository.path,
        env=environment(repository.env),
        stdin=PIPE,
        stdout=PIPE,
        stderr=PIPE,
        start_new_session=True,
    )
    try:
        assert child.stdout is not None and child.stderr is not None
        answer, said = await asyncio.gather(child.stdout.read(), child.stderr.read())
        if await child.wait():
            raise ScanFailed(said.decode("utf-8", "replace")[-2_000:])
    finally:
        await end(child)
    return answer


def _read(answer: bytes) -> Scan:
    scan = Scan.model_validate_json(answer)
    found = (one.model_copy(update={"path": shown_path(one.path.encode("latin-1"))}) for one in scan.found)
    return scan.model_copy(update={"found": tuple(found)})
