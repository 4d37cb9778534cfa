"""gitring without its HTTP edge, in this process: the real workers, relay and operations on the session's servers."""

import asyncio
import subprocess
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from itertools import count
from pathlib import Path
from typing import Any

import pytest_asyncio
from pydantic import SecretStr

from activities.parsing.parsers import Parsers
from bus.relay import Relay
from bus.waiters import Waiters
from gateway.operations import Operations
from protocol.answers import DeclareResult, IntentDetail, WaitAnswer
from protocol.commands import Pushed
from protocol.ids import new_id
from protocol.intents import DecideInput, DeclareInput, IntentInput, SubmitInput, WaitInput
from protocol.names import index_workflow, intent_workflow
from protocol.projects import Caller, CreateProject, CreateToken
from protocol.states import State
from runtime.connections import Connections, connections
from runtime.settings import Settings
from runtime.worker_process import workers
from storage.git.names import ZERO
from storage.git.repository import Repository
from storage.sql import people
from storage.sql.pool import transaction
from tests.support.servers import TemporalPlace, fresh_database

_SLUGS = count(1)


@dataclass
class Engine:
    """The running whole; `owner` is its person."""

    found: Connections
    settings: Settings
    operations: Operations
    waiters: Waiters
    owner: Caller
    folder: Path
    _workers: AsyncExitStack = field(default_factory=AsyncExitStack)

    async def start_workers(self) -> None:
        """Run a worker of each kind."""
        parsers = await self._workers.enter_async_context(Parsers())
        for worker in workers(self.found, self.settings, parsers):
            await self._workers.enter_async_context(worker)

    async def stop_workers(self) -> None:
        """Stop them; what they were doing is left to the next ones."""
        await self._workers.aclose()
        self._workers = AsyncExitStack()

    async def project(
        self, test: str | None = None, files: dict[str, str] | None = None
    ) -> "ProjectUnderTest":
        """A project made from a small repository, and an agent for it."""
        slug = f"shop-{next(_SLUGS)}"
        source = self.folder / slug
        make_repository(source, files or {f"app/f{n}.py": f"# file {n}\n" for n in range(8)})
        checks: Any = {"test": test} if test is not None else None
        made = await self.operations.create_project(
            self.owner, CreateProject(slug=slug, source=str(source), checks=checks)
        )
        token = await self.operations.create_token(self.owner, CreateToken(name="claude", projects=[slug]))
        agent = await self.operations.authenticate(token.token)
        return ProjectUnderTest(self, made.id, slug, source, agent)


def git(folder: Path, *args: str) -> str:
    """Run git with a fixed identity; its output."""
    who = ("-c", "user.name=Test", "-c", "user.email=test@example.invalid", "-c", "init.defaultBranch=main")
    return subprocess.run(
        ["git", *who, *args], cwd=folder, check=True, capture_output=True, text=True
    ).stdout.strip()


def make_repository(folder: Path, files: dict[str, str]) -> None:
    """A repository with one commit of `files` on main."""
    folder.mkdir(parents=True)
    git(folder, "init", "-q")
    write(folder, files)
    git(folder, "add", "-A")
    git(folder, "commit", "-qm", "first")


def write(folder: Path, files: dict[str, str]) -> None:
    """Put `files` into `folder`."""
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)


@dataclass
class ProjectUnderTest:
    """One project with its agent and its owner."""

    engine: Engine
    id: str
    slug: str
    source: Path
    agent: Caller

    async def declare(self, *change: str, title: str = "Work", **more: Any) -> DeclareResult:
        """Declare an intent that changes these places."""
        given = {
            "projectId": self.slug,
            "title": title,
            "goal": "The goal.",
            "plan": {
                "summary": "The plan.",
                "steps": ["one"],
                "scope": {"change": [{"path": path} for path in change], "use": more.pop("use", [])},
            },
            **more,
        }
        return await self.engine.operations.declare(self.agent, DeclareInput(**given))

    async def declare_symbols(self, *change: tuple[str, str]) -> DeclareResult:
        """Declare an intent that changes these symbols."""
        places = [{"path": path, "symbol": symbol} for path, symbol in change]
        plan = {"summary": "The plan.", "scope": {"change": places}}
        given = DeclareInput(**{"projectId": self.slug, "title": "Work", "goal": "g", "plan": plan})
        return await self.engine.operations.declare(self.agent, given)

    async def push(self, intent: IntentDetail, files: dict[str, str], *, onto: str | None = None) -> str:
        """Commit `files` on the intent's base (or `onto`) and record the push; its head."""
        repository = Repository(self.repository_path)
        base = onto or intent.intent.head or intent.intent.base
        work = self.engine.folder / new_id("wrk")
        git(self.engine.folder, "clone", "-q", "--no-checkout", str(self.repository_path), str(work))
        git(work, "fetch", "-q", "origin", "+refs/*:refs/all/*")
        git(work, "checkout", "-q", "--detach", base)
        write(work, files)
        git(work, "add", "-A")
        git(work, "commit", "-qm", f"work on #{intent.intent.number}")
        head = git(work, "rev-parse", "HEAD")
        ref = f"refs/intents/{intent.intent.id}"
        old = await repository.head(ref)
        git(work, "push", "-q", "--force", "origin", f"HEAD:{ref}")
        push = Pushed(
            project_id=self.id,
            intent_id=intent.intent.id,
            token_id=self.agent.token_id,
            old=old or ZERO,
            new=head,
        )
        handle = self.engine.found.temporal.get_workflow_handle(intent_workflow(intent.intent.id))
        await handle.execute_update("pushed", push)
        return head

    async def submit(self, intent: IntentDetail) -> IntentDetail:
        """Submit the latest push."""
        return await self.engine.operations.submit(self.agent, SubmitInput(intent_id=intent.intent.id))

    async def indexed(self) -> None:
        """Wait until the line's imports are indexed."""
        handle = self.engine.found.temporal.get_workflow_handle(index_workflow(self.id, "main"))
        async with asyncio.timeout(60):
            await handle.result()

    async def status(self, intent: IntentDetail) -> IntentDetail:
        """Read the intent as its agent does."""
        return await self.engine.operations.status(self.agent, IntentInput(intent_id=intent.intent.id))

    async def decide(
        self, intent: IntentDetail, decision: Any, subject: Any, note: str | None = None
    ) -> IntentDetail:
        """Decide as the owner."""
        given = DecideInput(decision=decision, subject=subject, note=note)
        return await self.engine.operations.decide(self.engine.owner, intent.intent.id, given)

    async def returned(self, intent: IntentDetail) -> WaitAnswer:
        """Wait until the intent came back with a change request."""
        seq = 0
        async with asyncio.timeout(60):
            while True:
                given = WaitInput(intent_id=intent.intent.id, after_seq=seq, seconds=30)
                answer = await self.engine.operations.wait(self.agent, given)
                if answer.change_requests:
                    return answer
                seq = answer.after_seq

    async def until(self, intent: IntentDetail, state: State) -> WaitAnswer:
        """Wait, as an agent does, until the intent is in `state`."""
        seq = 0
        async with asyncio.timeout(60):
            while True:
                given = WaitInput(intent_id=intent.intent.id, after_seq=seq, seconds=30)
                answer = await self.engine.operations.wait(self.agent, given)
                if answer.intent.state is state:
                    return answer
                assert not answer.intent.state.final, f"it ended {answer.intent.state}, not {state}"
                seq = answer.after_seq

    @property
    def repository_path(self) -> Path:
        """The bare repository."""
        return self.engine.settings.data_dir / "repositories" / f"{self.id}.git"

    def line(self) -> list[str]:
        """The subjects of the line's first-parent history, newest first."""
        return git(self.repository_path, "log", "--first-parent", "--format=%s", "main").splitlines()


@asynccontextmanager
async def running_engine(
    dsn: str, nats_url: str, temporal: TemporalPlace, folder: Path
) -> AsyncIterator[Engine]:
    """An engine on these servers; a host name of its own keeps its Git and checks apart from others'."""
    settings = Settings(
        data_dir=folder / "data",
        database_url=SecretStr(dsn),
        nats_url=SecretStr(nats_url),
        temporal_address=temporal.address,
        temporal_namespace=temporal.namespace,
        host_name=f"host-{new_id('x')[-8:].lower()}",
        public_url="http://gitring.test",
    )
    async with connections(settings, "test", pool_size=20) as found:
        person = new_id("per")
        async with transaction(found.pool) as connection:
            await people.add(connection, person, "Ana Ruiz", datetime.now(UTC))
        waiters = Waiters(found.link)
        await waiters.start()
        operations = Operations(
            found.pool, found.temporal, waiters, public_url=settings.url, host=settings.host_name
        )
        relay = asyncio.create_task(Relay(dsn, found.link).run())
        engine = Engine(found, settings, operations, waiters, await _owner(found, person), folder)
        try:
            await engine.start_workers()
            yield engine
        finally:
            await engine.stop_workers()
            await waiters.stop()
            relay.cancel()
            await asyncio.wait([relay])


async def _owner(found: Connections, person: str) -> Caller:
    from protocol.projects import TokenKind
    from storage.sql import tokens

    now = datetime.now(UTC)
    async with transaction(found.pool) as connection:
        _, secret = await tokens.create(
            connection, kind=TokenKind.PERSON, name="owner", person_id=person, project_ids=[], now=now
        )
        owner = await tokens.find_by_secret(connection, secret, now)
    assert owner is not None
    return owner


@pytest_asyncio.fixture(scope="session")
async def engine(
    postgres: Any, nats_url: str, temporal: TemporalPlace, tmp_path_factory: Any
) -> AsyncIterator[Engine]:
    """The session's engine; each test makes a project of its own."""
    async with (
        fresh_database(postgres) as dsn,
        running_engine(dsn, nats_url, temporal, tmp_path_factory.mktemp("engine")) as running,
    ):
        yield running
