"""Lay out a new bare repository with gitring's settings, complete or not at all."""

import os
import secrets
import shutil
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from storage.git.command import run
from storage.git.errors import RepositoryExists
from storage.git.names import line_ref

# fsync: a landed commit must survive a power cut, so loose objects are flushed too (git leaves them out).
# gc/maintenance: nothing may repack behind a push; the owner of the host runs `Repository.tidy`.
# denyNonFastForwards: an agent amends its own intent's commits; the pre-receive decision guards every other ref.
# hideRefs: gitring's own refs are neither advertised nor pushable.
# allowFilter, allowAnySHA1InWant: narrow clones fetch blobs later by id; a token reads the whole project anyway.
_SETTINGS = """
[core]
	logAllRefUpdates = false
	fsync = committed
	fsyncMethod = batch
[gc]
	auto = 0
[maintenance]
	auto = false
[transfer]
	hideRefs = refs/gitring
[receive]
	autogc = false
	fsckObjects = true
	denyNonFastForwards = false
	denyDeletes = false
	unpackLimit = 100
[uploadpack]
	allowFilter = true
	allowAnySHA1InWant = true
[http]
	receivepack = true
	uploadpack = true
"""


async def lay_out(folder: Path, line: str) -> None:
    """Make `folder` an empty bare repository whose HEAD names `line`."""
    branch = line_ref(line).removeprefix("refs/heads/")
    await run("init", "--quiet", "--bare", "--template=", f"--initial-branch={branch}", "--", str(folder))
    with (folder / "config").open("a", encoding="utf-8") as config:
        config.write(_SETTINGS)


@asynccontextmanager
async def complete_or_absent(folder: Path) -> AsyncIterator[Path]:
    """A working folder beside `folder` that takes its place when the block ends well, and vanishes otherwise.

    Raises RepositoryExists when `folder` is taken. A crash leaves only a hidden `.…new` folder.
    """
    _claim(folder)
    draft = folder.with_name(f".{folder.name}.{secrets.token_hex(4)}.new")
    try:
        yield draft
        os.rename(draft, folder)
    finally:
        shutil.rmtree(draft, ignore_errors=True)


def _claim(folder: Path) -> None:
    if folder.exists():
        raise RepositoryExists(f"{folder} already exists: choose another project")
    folder.parent.mkdir(parents=True, exist_ok=True)
