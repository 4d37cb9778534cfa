"""A person's clone, driven by real git, for tests of repositories and of Git over HTTP."""

import asyncio
import os
from dataclasses import dataclass
from pathlib import Path

CLIENT_ENV = {
    "PATH": os.environ["PATH"],
    "HOME": "/nonexistent",
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_AUTHOR_NAME": "Ana Ruiz",
    "GIT_AUTHOR_EMAIL": "ana@example.com",
    "GIT_COMMITTER_NAME": "Ana Ruiz",
    "GIT_COMMITTER_EMAIL": "ana@example.com",
}


@dataclass(frozen=True)
class Ran:
    """How a command ended and what it printed."""

    code: int
    out: str
    err: str


async def sh(*command: str, cwd: Path, env: dict[str, str] | None = None) -> Ran:
    """Run a command as a client would; any exit code is an answer."""
    process = await asyncio.create_subprocess_exec(
        *command,
        cwd=cwd,
        env={**CLIENT_ENV, **(env or {})},
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    out, err = await process.communicate()
    assert process.returncode is not None
    return Ran(process.returncode, out.decode("utf-8", "replace"), err.decode("utf-8", "replace"))


@dataclass(frozen=True)
class Clone:
    """A working clone in `folder`."""

    folder: Path

    async def git(self, *args: str, env: dict[str, str] | None = None) -> str:
        """Run git here; it must succeed. Returns what it printed, stripped."""
        ran = await sh("git", *args, cwd=self.folder, env=env)
        assert ran.code == 0, ran.err
        return ran.out.strip()

    async def commit(self, message: str, files: dict[str, str | bytes]) -> str:
        """Write files, commit everything, return the commit id."""
        for name, content in files.items():
            target = self.folder / name
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(content if isinstance(content, bytes) else content.encode())
        await self.git("add", "--all")
        await self.git("commit", "--quiet", "--allow-empty", "--message", message)
        return await self.git("rev-parse", "HEAD")

    async def branch(self, name: str, start: str = "main") -> None:
        """Switch to a new branch from `start`."""
        await self.git("switch", "--quiet", "--create", name, start)


async def new_clone(folder: Path) -> Clone:
    """A fresh repository on `main`, without commits."""
    ran = await sh("git", "init", "--quiet", "--initial-branch=main", str(folder), cwd=Path("/"))
    assert ran.code == 0, ran.err
    return Clone(folder)
