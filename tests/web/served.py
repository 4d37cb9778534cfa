"""The real app with its pages on a real port, on an engine that runs in this process."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

import uvicorn
from fastapi import FastAPI
from starlette.types import ASGIApp

from gateway.app import create_app
from gateway.repositories import Repositories
from gateway.web.app import add_pages
from gateway.web.sessions import Sessions
from gateway.web.site import Site
from protocol.ids import new_id
from protocol.projects import Caller, TokenKind
from runtime.ports import free_port
from storage.sql import people, sessions, tokens
from storage.sql.pool import transaction
from tests.gateway.edge import answers, echo_git
from tests.support.engine import Engine, ProjectUnderTest

TEMPORAL_UI = "http://temporal.test:8233"


@dataclass
class Pages:
    """A served gitring."""

    engine: Engine
    url: str
    app: FastAPI

    async def link(self, person_id: str, life: timedelta = timedelta(minutes=15)) -> str:
        """The secret of a new sign-in link."""
        async with transaction(self.engine.found.pool) as connection:
            return await sessions.make_link(connection, person_id, None, datetime.now(UTC), life)

    async def person(
        self, name: str, project: ProjectUnderTest | None = None, role: str = "writer"
    ) -> Caller:
        """A new person, with a token, and with a role in a project where one is named."""
        person_id, now = new_id("per"), datetime.now(UTC)
        async with transaction(self.engine.found.pool) as connection:
            await people.add(connection, person_id, name, now)
            if project is not None:
                await people.add_member(connection, project.id, person_id, role)
        return await self.engine.operations.authenticate(await self.token(person_id))

    async def token(self, person_id: str) -> str:
        """A token of a person, for REST."""
        async with transaction(self.engine.found.pool) as connection:
            _, secret = await tokens.create(
                connection,
                kind=TokenKind.PERSON,
                name="laptop",
                person_id=person_id,
                project_ids=[],
                now=datetime.now(UTC),
            )
        return secret


@asynccontextmanager
async def serve_pages(engine: Engine, git_app: ASGIApp = echo_git) -> AsyncIterator[Pages]:
    """Serve until the end of the block."""
    port, stopping = free_port(), asyncio.Event()
    url = f"http://127.0.0.1:{port}"
    site = Site(public_url=url, host_name=engine.settings.host_name, temporal_ui_url=TEMPORAL_UI)
    app = create_app(
        engine.operations,
        public_url=url,
        probes={"postgres": answers},
        git_app=git_app,
        stopping=stopping,
        pages=lambda app: add_pages(
            app,
            engine.operations,
            Sessions(engine.found.pool, ended=engine.waiters.doubt_person),
            pool=engine.found.pool,
            site=site,
            repositories=Repositories(engine.settings.data_dir),
        ),
    )
    server = uvicorn.Server(
        uvicorn.Config(app, port=port, log_level="error", ws="none", timeout_keep_alive=75)
    )
    server.install_signal_handlers = lambda: None  # type: ignore[attr-defined]
    listening = uvicorn.Server.startup
    ready = asyncio.Event()

    async def started(sockets: None = None) -> None:
        await listening(server, sockets)
        ready.set()

    server.startup = started  # type: ignore[method-assign]
    running = asyncio.create_task(server._serve())
    async with asyncio.timeout(40):
        await ready.wait()
    try:
        yield Pages(engine, url, app)
    finally:
        stopping.set()
        server.should_exit = True
        async with asyncio.timeout(40):
            await running
