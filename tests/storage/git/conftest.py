"""A source repository with one commit, and the bare repository imported from it."""

from pathlib import Path

import pytest_asyncio

from storage.git.repository import Repository
from tests.storage.git.work import Clone, new_clone


@pytest_asyncio.fixture
async def clone(tmp_path: Path) -> Clone:
    """A clone on `main` with one commit of two files."""
    made = await new_clone(tmp_path / "work")
    await made.commit("Start", {"a.txt": "one\ntwo\nthree\n", "src/b.txt": "b\n"})
    return made


@pytest_asyncio.fixture
async def repo(clone: Clone, tmp_path: Path) -> Repository:
    """The bare repository imported from `clone` as it is when the test begins."""
    return await Repository.import_from(tmp_path / "repo.git", str(clone.folder))


async def bring(repo: Repository, clone: Clone) -> None:
    """Fetch every branch of the clone into the bare repository, under refs/heads."""
    await repo.git("fetch", "--quiet", str(clone.folder), "+refs/heads/*:refs/heads/*")
