"""A real uvicorn server around GitHttp, with a record that tests read and steer."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from socket import socket

import psutil
import uvicorn
from starlette.applications import Starlette
from starlette.routing import Mount
from starlette.types import ASGIApp

from gateway.git_http import GitAccess, GitDenied, GitHttp, token_of
from protocol.ids import CommitId
from storage.git.receive import RefUpdate
from storage.git.repository import Repository

PROJECT = "prj_01JBQ7XK2M9T4V6W8Y0A3C5E7G"
INTENT = "refs/intents/int_01JBQ8M4ZK7V3XW9N2D5HT6RYE"
TOKEN = "gitring_git_right"
READ_ONLY = "gitring_git_reads"


class Story:
    """What the gateway was asked, and what it answers. Tests replace `judge` and `keep`."""

    def __init__(self, repository: Repository) -> None:
        self.repository = repository
        self.judged: list[list[RefUpdate]] = []
        self.recorded: list[list[RefUpdate]] = []
        self.asked: list[tuple[str, str | None, bool]] = []
        self.judge: Callable[[list[RefUpdate], Repository], Awaitable[str | None]] = self._allow
        self.keep: Callable[[], Awaitable[None]] = self._nothing

    async def authorize(
        self, project: str, authorization_header: str | None, write: bool
    ) -> GitAccess | GitDenied:
        self.asked.append((project, authorization_header, write))
        token = token_of(authorization_header)
        if token is None:
            return GitDenied(status=401, message="Call gitring_clone for a git token.")
        if token not in (TOKEN, READ_ONLY):
            return GitDenied(status=401, message="Your git token expired. Call gitring_clone for a new one.")
        if project not in (PROJECT, "storefront"):
            return GitDenied(status=404, message=f"No project {project}.")
        if write and token == READ_ONLY:
            return GitDenied(status=403, message="You may read this project, not push to it.")
        return GitAccess(repository=self.repository.path, project_id=PROJECT, principal=token)

    async def decide(
        self, access: GitAccess, updates: list[RefUpdate], quarantine_env: dict[str, str]
    ) -> str | None:
        self.judged.append(updates)
        return await self.judge(updates, Repository(access.repository).with_env(quarantine_env))

    async def record(self, access: GitAccess, updates: list[RefUpdate]) -> None:
        await self.keep()
        self.recorded.append(updates)

    async def _allow(self, updates: list[RefUpdate], seen: Repository) -> str | None:
        return None

    async def _nothing(self) -> None:
        return None

    def app(self, hooks: Path, max_push: int = 1024**3) -> GitHttp:
        """The application under test."""
        return GitHttp(self.authorize, self.decide, self.record, hooks=hooks, max_push=max_push)

    async def moved(self) -> dict[str, CommitId]:
        """The intent refs of the repository."""
        return await self.repository.list_refs("refs/intents")


class _Server(uvicorn.Server):
    def __init__(self, config: uvicorn.Config) -> None:
        super().__init__(config)
        self.ready = asyncio.Event()

    async def startup(self, sockets: list[socket] | None = None) -> None:
        await super().startup(sockets)
        self.ready.set()


@asynccontextmanager
async def listening(app: ASGIApp) -> AsyncIterator[str]:
    """Serve `app` under /git on a free port; yields the base url."""
    mounted = Starlette(routes=[Mount("/git", app=app)])
    server = _Server(uvicorn.Config(mounted, host="127.0.0.1", port=0, lifespan="off", log_level="error"))
    running = asyncio.create_task(server.serve())
    ready = asyncio.create_task(server.ready.wait())
    await asyncio.wait({running, ready}, return_when=asyncio.FIRST_COMPLETED)
    try:
        host, port = server.servers[0].sockets[0].getsockname()[:2]
        yield f"http://{host}:{port}"
    finally:
        server.should_exit = True
        await running


def git_processes(repository: Path) -> list[psutil.Process]:
    """Processes that serve this repository."""
    found = []
    for process in psutil.process_iter():
        try:
            served = process.environ().get("PATH_TRANSLATED", "").startswith(f"{repository}/")
            if served and process.status() != psutil.STATUS_ZOMBIE:
                found.append(process)
        except psutil.Error:
            continue
    return found


def leftovers(repository: Path) -> list[str]:
    """Quarantine folders and half-written packs."""
    return sorted(str(path) for path in (repository / "objects").rglob("*tmp_*"))
