"""Put one commit's files into a folder for a check, and take the folder away again.

The folder is a small repository of its own that borrows the objects of the bare one (git's `alternates`), on a
detached HEAD with the project's tags: no history is copied, yet `git describe`, `git status` and tools such as
setuptools-scm work. A linked worktree would be as cheap, but git inside it writes the project's own refs: a check
that commits or tags would change the project. Here it changes its own folder, and two checks share nothing.
This keeps accidents apart; it is no sandbox against a check that means harm.
"""

import asyncio
import os
import shutil
import stat
from pathlib import Path

from protocol.ids import CommitId
from storage.git.bare import Bare
from storage.git.command import run
from storage.git.names import commit_id

_CHECKOUT_TIMEOUT = 600.0


async def checkout_tree(repo: Bare, commit: CommitId, folder: Path) -> None:
    """Fill `folder` (absent or empty) with the files of `commit`; submodules become empty folders.

    Any number may run at once. Raises GitFailed when the commit is missing or a file cannot be written.
    """
    await run("init", "--quiet", "--template=", "--", str(folder))
    tags = await repo.git("for-each-ref", "--format=%(objectname) %(refname)", "refs/tags")
    _borrow(folder / ".git", repo.path, tags.stdout)
    await run(
        *("-c", "advice.detachedHead=false", "-c", "checkout.workers=0"),
        *("checkout", "--quiet", "--force", "--detach", commit_id(commit)),
        cwd=folder,
        env={"GIT_DIR": ".git", "GIT_WORK_TREE": "."},
        timeout=_CHECKOUT_TIMEOUT,
    )


def _borrow(inside: Path, bare: Path, tags: bytes) -> None:
    alternates = inside / "objects" / "info" / "alternates"
    alternates.parent.mkdir(exist_ok=True)
    alternates.write_bytes(os.fsencode(bare.absolute() / "objects") + b"\n")
    (inside / "packed-refs").write_bytes(tags)


async def remove(folder: Path) -> None:
    """Delete a folder a check ran in, read-only parts included; absent is fine. Links are not followed.

    Raises OSError when something in it belongs to another user, or is still being written.
    """
    await asyncio.to_thread(_remove, folder)


def _remove(folder: Path) -> None:
    if folder.is_symlink() or not folder.exists():
        return
    try:
        shutil.rmtree(folder)
    except PermissionError:
        # Package caches are often left read-only.
        _open_folders(folder)
        shutil.rmtree(folder)


def _open_folders(folder: Path) -> None:
    os.chmod(folder, stat.S_IRWXU)
    for place, names, _ in os.walk(folder):
        for name in names:
            if not os.path.islink(os.path.join(place, name)):
                os.chmod(os.path.join(place, name), stat.S_IRWXU)
