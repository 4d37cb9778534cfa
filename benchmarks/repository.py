"""A repository to work on, and git as an agent runs it."""

import asyncio
import os
import random
from collections.abc import Mapping
from pathlib import Path

FILES = 400
AREAS = 20
QUIET = {
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_CONFIG_SYSTEM": os.devnull,
    "GIT_AUTHOR_NAME": "Bench",
    "GIT_AUTHOR_EMAIL": "bench@example.invalid",
    "GIT_COMMITTER_NAME": "Bench",
    "GIT_COMMITTER_EMAIL": "bench@example.invalid",
}


class GitFailed(Exception):
    """A git command ended with an error; the text is what it said."""


async def git(folder: Path, *words: str, env: Mapping[str, str] | None = None) -> str:
    """Run git in `folder`; its output. Raises GitFailed."""
    process = await asyncio.create_subprocess_exec(
        "git",
        *words,
        cwd=folder,
        env={**os.environ, **QUIET, **(env or {})},
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    out, err = await process.communicate()
    if process.returncode:
        raise GitFailed(f"git {' '.join(words)}: {err.decode('utf-8', 'replace')[-2000:]}")
    return out.decode()


def file_of(number: int) -> str:
    """The path of the n-th file."""
    return f"app/area{number % AREAS:02}/module{number:03}.py"


async def make_repository(folder: Path) -> Path:
    """A repository of several hundred Python files with one commit on `main`."""
    dice = random.Random(7)
    for number in range(FILES):
        path = folder / file_of(number)
        path.parent.mkdir(parents=True, exist_ok=True)
        lines = [f"VALUE_{i} = {dice.randrange(10**9)}" for i in range(dice.randrange(20, 120))]
        path.write_text(f'"""Module {number}."""\n\n' + "\n".join(lines) + "\n")
    await git(folder, "init", "--quiet", "--initial-branch=main")
    await git(folder, "add", "--all")
    await git(folder, "commit", "--quiet", "--message=All modules")
    return folder


async def clone(source: Path, name: str) -> Path:
    """A clone beside `source` to work in; `source` itself stays as it was imported."""
    folder = source.with_name(f"work-{name}")
    await git(source, "clone", "--quiet", str(source), str(folder))
    return folder


async def commit_on_branch(folder: Path, branch: str, number: int, line: str) -> str:
    """A branch off `main` that adds one line to the n-th file; its commit."""
    await git(folder, "checkout", "--quiet", "-B", branch, "main")
    with (folder / file_of(number)).open("a") as file:
        file.write(line + "\n")
    await git(folder, "commit", "--quiet", "--all", f"--message=Change module {number}")
    return (await git(folder, "rev-parse", "HEAD")).strip()


def token_env(url: str, token: str) -> dict[str, str]:
    """git's environment with the token for the gateway at `url`."""
    return {
        "GIT_CONFIG_COUNT": "1",
        "GIT_CONFIG_KEY_0": f"http.{url}/.extraHeader",
        "GIT_CONFIG_VALUE_0": f"Authorization: Bearer {token}",
    }
