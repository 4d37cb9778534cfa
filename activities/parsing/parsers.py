"""The parent's side: a few children, started when needed, ended with it."""

import asyncio
import os
import signal
import sys
from asyncio.subprocess import PIPE, Process
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Self

from activities.parsing.frames import ANSWER, READY, request
from protocol.symbols import FileSymbols

STOPPED = "the parser had to be stopped"

_ENTRY = Path(__file__).parent / "__main__.py"
_NICENESS = 10
# Real files of 1 MiB take a tenth of it.
_FILE_SEC = 4.0
_STARTUP_SEC = 30.0
_ANSWER_SEC = 120.0
_GOODBYE_SEC = 1.0
_MOST_CHILDREN = 4
# Signals that say something about who runs the machine, not about the file.
_FROM_OUTSIDE = (-signal.SIGKILL, -signal.SIGTERM, -signal.SIGINT, -signal.SIGHUP)


class ParserLost(Exception):
    """A child did not start, was ended from outside twice, or gave no answer for two minutes; try again later."""


class Parsers:
    """Children that read source files: one lane for what someone waits for, one niced for the background.

    `async with Parsers() as parsers`: at the end of the block every child is gone. `seconds` of processor time
    is what one file may cost.
    """

    def __init__(self, seconds: float = _FILE_SEC) -> None:
        cores = os.cpu_count() or 1
        self._urgent = _Lane(min(cores, _MOST_CHILDREN), 0, seconds)
        self._background = _Lane(max(1, min(cores - 1, _MOST_CHILDREN)), _NICENESS, seconds)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, problem: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._urgent.close()
        await self._background.close()

    async def read(self, language: str, content: bytes, *, background: bool = False) -> FileSymbols:
        """The symbols of a content; with the note STOPPED when reading it ended the child. Raises ParserLost."""
        lane = self._background if background else self._urgent
        return await lane.read(language, content)


class _Lane:
    def __init__(self, size: int, niceness: int, seconds: float) -> None:
        self._gate = asyncio.Semaphore(size)
        self._arguments = (str(niceness), str(seconds))
        self._idle: list[Process] = []

    async def read(self, language: str, content: bytes) -> FileSymbols:
        async with self._gate:
            for _ in range(2):
                child = self._idle.pop() if self._idle else await _start(self._arguments)
                found = await self._ask(child, language, content)
                if found is not None:
                    return found
            raise ParserLost("the parser was ended twice from outside while it read a file")

    async def _ask(self, child: Process, language: str, content: bytes) -> FileSymbols | None:
        """None when the child was ended by someone else."""
        try:
            async with asyncio.timeout(_ANSWER_SEC):
                found = await _converse(child, request(language, content))
        except (asyncio.IncompleteReadError, ConnectionError):
            code = await child.wait()
            await _end(child)
            return None if code in _FROM_OUTSIDE else FileSymbols(language=language, note=STOPPED)
        except TimeoutError:
            await _end(child)
            raise ParserLost(f"the parser gave no answer for {_ANSWER_SEC:g} s") from None
        except BaseException:
            # Cancelled in the middle: what the child would say next belongs to nobody.
            await asyncio.shield(_end(child))
            raise
        self._idle.append(child)
        return found

    async def close(self) -> None:
        while self._idle:
            await _end(self._idle.pop(), _GOODBYE_SEC)


async def _start(arguments: tuple[str, str]) -> Process:
    child = await asyncio.create_subprocess_exec(
        sys.executable,
        "-I",
        str(_ENTRY),
        *arguments,
        stdin=PIPE,
        stdout=PIPE,
        env={"PATH": os.defpath},
        start_new_session=True,
    )
    assert child.stdout is not None
    try:
        async with asyncio.timeout(_STARTUP_SEC):
            hello = await child.stdout.read(len(READY))
    except BaseException as problem:
        await asyncio.shield(_end(child))
        if isinstance(problem, TimeoutError):
            raise ParserLost("the parser did not start in time") from None
        raise
    if hello != READY:
        await _end(child)
        raise ParserLost(
            "the parser ended while it started; its reason stands in this process's error output"
        )
    return child


async def _converse(child: Process, asked: bytes) -> FileSymbols:
    assert child.stdin is not None and child.stdout is not None
    child.stdin.write(asked)
    await child.stdin.drain()
    (size,) = ANSWER.unpack(await child.stdout.readexactly(ANSWER.size))
    return FileSymbols.model_validate_json(await child.stdout.readexactly(size))


async def _end(child: Process, grace: float = 0) -> None:
    """Close its input and give it `grace` seconds, then kill it. Reaps it."""
    if child.stdin is not None:
        child.stdin.close()
    if grace:
        with suppress(TimeoutError):
            async with asyncio.timeout(grace):
                await child.wait()
    if child.returncode is None:
        with suppress(ProcessLookupError):
            child.kill()
    await child.wait()
