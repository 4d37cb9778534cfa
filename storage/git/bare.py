"""One bare repository on this machine's disk: where it is, and how git is run on it."""

from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Self

from storage.git.command import DEFAULT_LIMIT, DEFAULT_TIMEOUT, Output, run


class Bare:
    """A bare repository at `path`. Holds no handle and no state: any number may exist for one path."""

    def __init__(self, path: Path, env: Mapping[str, str] | None = None) -> None:
        self.path = path
        self.env: dict[str, str] = {**(env or {}), "GIT_DIR": str(path)}

    def with_env(self, env: Mapping[str, str]) -> Self:
        """The same repository seen with more environment, such as the quarantine of a push that is being judged."""
        return type(self)(self.path, {**self.env, **env})

    @property
    def cwd(self) -> Path:
        """Where git is run."""
        return self.path

    async def git(
        self,
        *args: str,
        stdin: bytes | None = None,
        accept: Collection[int] = (0,),
        limit: int = DEFAULT_LIMIT,
        truncate: bool = False,
        timeout: float = DEFAULT_TIMEOUT,
    ) -> Output:
        """Run git on this repository; see `storage.git.command.run` for limits and errors."""
        return await run(
            *args,
            cwd=self.cwd,
            stdin=stdin,
            env=self.env,
            accept=accept,
            limit=limit,
            truncate=truncate,
            timeout=timeout,
        )
