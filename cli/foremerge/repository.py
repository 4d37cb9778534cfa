"""The Git repository a command is run in, read by git itself without a shell."""

import subprocess
from pathlib import Path
from typing import NamedTuple

from cli.clean import one_line
from cli.foremerge.failing import Failure
from protocol.foremerge.errors import ErrorCode

_PATIENCE_SEC = 60


class Repository(NamedTuple):
    """A worktree's root, and the Git folder that all worktrees of the repository share."""

    root: Path
    common_dir: Path


def git(at: Path, *arguments: str) -> str:
    """What git prints, without the last line's end. Raises Failure."""
    done = run_git(at, *arguments)
    if done.returncode:
        said = one_line(done.stderr.strip() or f"git ended with {done.returncode}", 1000)
        raise Failure(ErrorCode.GIT_ERROR, f"`git {arguments[0]}` failed: {said}")
    return done.stdout.removesuffix("\n")


def run_git(at: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """A finished git, whatever came of it. Raises Failure when there is no git to run."""
    try:
        return subprocess.run(
            ["git", *arguments],
            cwd=at,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            encoding="utf-8",
            errors="surrogateescape",
            timeout=_PATIENCE_SEC,
            check=False,
        )
    except FileNotFoundError:
        if not at.is_dir():
            raise Failure(ErrorCode.INVALID_INPUT, f"{at} is no folder. Name another with --cwd.") from None
        raise Failure(ErrorCode.GIT_UNAVAILABLE, "git is not on PATH. Install git 2.38 or newer.") from None
    except NotADirectoryError:
        raise Failure(ErrorCode.INVALID_INPUT, f"{at} is no folder. Name another with --cwd.") from None
    except (OSError, subprocess.TimeoutExpired) as problem:
        raise Failure(ErrorCode.GIT_UNAVAILABLE, f"git cannot be run: {one_line(problem)}.") from None


def repository_at(folder: Path) -> Repository:
    """The repository of `folder`. Raises NOT_A_REPOSITORY, REPOSITORY_UNREADABLE or GIT_UNAVAILABLE."""
    asked = ("--show-toplevel", "--git-common-dir")
    done = run_git(folder, "rev-parse", "--path-format=absolute", *asked)
    if done.returncode:
        said = done.stderr.strip()
        if "not a git repository" in said.lower() or "must be run in a work tree" in said.lower():
            raise Failure(
                ErrorCode.NOT_A_REPOSITORY,
                f"{folder} is in no Git worktree. Go into one, or name one with --cwd.",
            )
        raise Failure(ErrorCode.REPOSITORY_UNREADABLE, f"git cannot read {folder}: {one_line(said, 500)}")
    root, _, common = done.stdout.rstrip("\n").partition("\n")
    return Repository(Path(root).resolve(), Path(common).resolve())
