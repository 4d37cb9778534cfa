"""The command against the session's stack, and a project for each test."""

from itertools import count
from pathlib import Path

import pytest

from tests.cli.command import Gitring, git
from tests.support.stack import RunningStack

_numbers = count(1)


@pytest.fixture
def gitring(stack: RunningStack) -> Gitring:
    """The command as the owner."""
    return Gitring(stack.folder / "connection.json")


@pytest.fixture
def source(tmp_path: Path) -> Path:
    """A repository to import: two files and a folder."""
    folder = tmp_path / "source"
    (folder / "src").mkdir(parents=True)
    (folder / "docs").mkdir()
    (folder / "src" / "cart.py").write_text("total = 0\n")
    (folder / "docs" / "notes.txt").write_text("nothing yet\n")
    git(folder, "init", "--quiet", "--initial-branch=main")
    git(folder, "add", "--all")
    git(folder, "commit", "--quiet", "--message=First")
    return folder


@pytest.fixture
def project(gitring: Gitring, source: Path) -> str:
    """A project of this test's own, whose check passes; its slug."""
    slug = f"cli-{next(_numbers)}"
    gitring("projects", "create", slug, "--from", str(source), "--test", "grep -q total src/cart.py")
    return slug


@pytest.fixture
def agent(gitring: Gitring, project: str, stack: RunningStack) -> Gitring:
    """The command as an agent of the project."""
    made = gitring.json("tokens", "create", "--project", project, "--name", "robot")
    return Gitring(gitring.connection, token=made["token"])
