"""Run another program to its end."""

import asyncio
import os
from collections.abc import Mapping
from pathlib import Path

from benchmarks.repository import QUIET

PATIENCE = 180.0


class ProgramFailed(Exception):
    """It ended with an error or not at all; the text is the last line that names one, shortened."""


async def run(*words: str, folder: Path, env: Mapping[str, str], fine: tuple[int, ...] = (0,)) -> str:
    """Its output. Raises ProgramFailed when its exit code is not `fine`, when it is not there, or after PATIENCE."""
    pipe = asyncio.subprocess.PIPE
    try:
        process = await asyncio.create_subprocess_exec(
            *words,
            cwd=folder,
            env={**os.environ, **QUIET, **env},
            stdin=asyncio.subprocess.DEVNULL,
            stdout=pipe,
            stderr=pipe,
        )
    except OSError as problem:
        raise ProgramFailed(f"{words[0]}: {problem.strerror}") from problem
    try:
        async with asyncio.timeout(PATIENCE):
            out, err = await process.communicate()
    except TimeoutError:
        process.kill()
        await process.wait()
        raise ProgramFailed(f"{Path(words[0]).name} {words[1]} took longer than {PATIENCE:.0f} s") from None
    if process.returncode not in fine:
        raise ProgramFailed(last_error((err or out).decode("utf-8", "replace")))
    return out.decode("utf-8", "replace")


def last_error(text: str) -> str:
    """The last line that says ERROR, or else the last line; at most 160 characters."""
    lines = [line.strip() for line in text.splitlines() if line.strip()] or ["it said nothing"]
    errors = [line for line in lines if line.startswith("ERROR")]
    return (errors or lines)[-1][:160]
