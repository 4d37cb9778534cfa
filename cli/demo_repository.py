"""A real repository of several hundred files, made from packages that are installed anyway.

The demo works in it, and benchmarks may: `make_repository(folder)`. Nothing is fetched, and its check needs only
the Python it was made with.
"""

import os
import shlex
import shutil
import subprocess
import sys
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path, PurePosixPath

PACKAGES = ("rich", "starlette", "fastapi", "pydantic")

PYTHON = shlex.quote(sys.executable)
CHECK = f"{PYTHON} -m compileall -q src && PYTHONPATH=src {PYTHON} -m unittest discover -q -s tests"
"""Compiles every file, then runs the tests; both with the Python that runs this."""

_AUTHOR = {
    "GIT_AUTHOR_NAME": "Olga Owner",
    "GIT_AUTHOR_EMAIL": "olga@example.com",
    "GIT_COMMITTER_NAME": "Olga Owner",
    "GIT_COMMITTER_EMAIL": "olga@example.com",
}

_FIRST_TEST = """\
import unittest

from rich.filesize import decimal


class DecimalSizes(unittest.TestCase):
    def test_a_large_size_is_written_in_megabytes(self) -> None:
        self.assertEqual(decimal(2_500_000), "2.5 MB")


if __name__ == "__main__":
    unittest.main()
"""


class CannotMake(Exception):
    """The repository cannot be made here; the text says why."""


@dataclass(frozen=True)
class MadeRepository:
    """A repository with one commit on `main`."""

    path: Path
    files: int
    head: str


def make_repository(folder: Path, packages: tuple[str, ...] = PACKAGES) -> MadeRepository:
    """Make it in `folder`, which must not be there yet. Raises CannotMake."""
    folder.mkdir(parents=True)
    for package in packages:
        copy_package(package, folder)
    tests = folder / "tests"
    tests.mkdir()
    (tests / "test_decimal_sizes.py").write_text(_FIRST_TEST)
    (folder / ".gitignore").write_text("__pycache__/\n")
    (folder / "README.md").write_text(f"# Toolbox\n\nThe sources of {', '.join(packages)}, in one tree.\n")
    _git(folder, "init", "--quiet", "--initial-branch=main")
    _git(folder, "add", "--all")
    _git(folder, "commit", "--quiet", "--message=Collect the toolbox")
    files = _git(folder, "ls-files").count("\n")
    return MadeRepository(folder, files, _git(folder, "rev-parse", "HEAD").strip())


def copy_package(package: str, folder: Path) -> None:
    """Copy a package's Python sources to `src/`, its licence and description to `licenses/`."""
    try:
        installed = distribution(package)
    except PackageNotFoundError:
        raise CannotMake(f"{package} is not installed beside {sys.executable}. Run `make setup`.") from None
    for file in installed.files or []:
        target = _target(PurePosixPath(file.as_posix()), package)
        if target is not None:
            place = folder / target
            place.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(os.fspath(file.locate()), place)


def _target(path: PurePosixPath, package: str) -> PurePosixPath | None:
    top = path.parts[0]
    if top.endswith(".dist-info"):
        wanted = path.name == "METADATA" or "LICENSE" in path.name.upper()
        return PurePosixPath("licenses", package, path.name) if wanted else None
    if ".." in path.parts or (path.suffix != ".py" and path.name != "py.typed"):
        return None
    return PurePosixPath("src") / path


def _git(folder: Path, *arguments: str) -> str:
    # Whatever the user has set up (signing, hooks, templates) is not for this repository.
    environment = os.environ | _AUTHOR | {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}
    try:
        done = subprocess.run(
            ["git", "-C", str(folder), *arguments],
            env=environment,
            capture_output=True,
            text=True,
            check=False,
        )
    except FileNotFoundError:
        raise CannotMake("git is not installed, or not on PATH. Install git 2.38 or newer.") from None
    if done.returncode:
        raise CannotMake(f"git {arguments[0]} ended with {done.returncode}: {done.stderr.strip()}")
    return done.stdout
