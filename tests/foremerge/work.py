"""An intent of the Foremerge face with a repository to work in: a bound worktree on disk, or a clone that pushes."""

import asyncio
import os
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from protocol.checks import CheckDefinition
from protocol.commands import Pushed
from protocol.foremerge.changesets import (
    AcceptInput,
    ChangeSet,
    PublishChangeSetInput,
    RecordCommitInput,
)
from protocol.foremerge.validations import RunVerificationInput, Validation, ValidationAttempt
from protocol.foremerge.words import AcceptancePolicy
from protocol.ids import new_id
from protocol.names import intent_workflow
from storage.git.names import ZERO
from storage.git.repository import Repository
from storage.sql import projects
from storage.sql.foremerge import changesets
from storage.sql.pool import transaction
from tests.foremerge.face import Face
from tests.support.engine import Engine, ProjectUnderTest, git, make_repository, write

CHECKS = {
    "ok": "true",
    "no": "sh -c 'echo out; echo err >&2; exit 3'",
    "litter": "sh -c 'mkdir -p out && echo x > out/report.txt'",
    "slow": "sh -c 'exec 3> ../began; echo began >&3; cat ../go'",
    "gone": "sh -c 'cd .. && rm -rf tree'",
    "swap": "sh -c 'mv .git ../kept && echo gitdir: ../kept > .git'",
    "late": "sleep 30",
    "absent": "/no/such/program --flag",
}
FILES = {"app/cart.py": "".join(f"line {n}\n" for n in range(1, 31)), "README.md": "shop\n"}


@dataclass
class Bench:
    """A project, bound to `repository` on this host's disk, with its face."""

    engine: Engine
    face: Face
    repository: Path

    @classmethod
    async def of(
        cls,
        engine: Engine,
        project: ProjectUnderTest | None = None,
        *,
        bound: bool = True,
        **settings: Any,
    ) -> "Bench":
        """A project (a new one, imported from the repository) with the named checks of `CHECKS`."""
        face = await Face.of(engine, project or await engine.project(files=FILES))
        bench = cls(engine, face, face.project.source)
        await bench.settle(**settings)
        if bound:
            await bench.bind(bench.repository / ".git")
        return bench

    async def bind(self, common_dir: Path) -> None:
        """Bind the project to a repository."""
        async with transaction(self.engine.found.pool) as connection:
            now, person = datetime.now(UTC), self.engine.owner.person_id
            await changesets.bind(connection, self.face.project.id, str(common_dir), person, now)

    async def settle(
        self,
        policy: AcceptancePolicy = AcceptancePolicy.STRICT,
        exclusions: tuple[str, ...] = (),
        timeout: int = 60,
        verify_symbols: bool = False,
    ) -> None:
        """Change what an operator sets."""
        async with transaction(self.engine.found.pool) as connection:
            found = await projects.find(connection, self.face.project.id)
            assert found is not None
            named = [
                CheckDefinition(name=name, command=command, timeout_sec=timeout)
                for name, command in CHECKS.items()
            ]
            new = found.settings.model_copy(
                update={
                    "named_checks": named,
                    "acceptance_policy": policy,
                    "exclusions": list(exclusions),
                    "verify_symbol_scopes": verify_symbols,
                }
            )
            await projects.change_settings(connection, found.id, new)

    async def work(
        self, name: str = "one", *scopes: str, start: str = "main", folder: Path | None = None
    ) -> "Work":
        """A claimed intent of a new agent, with a worktree of its own on branch `name`."""
        scopes = scopes or (f"symbol:Of{name}=extend",)
        root = folder or self.repository.parent / f"{self.repository.name}-{name}" / "tree"
        if folder is None:
            git(self.repository, "worktree", "add", "-q", "-b", name, str(root), start)
        agent = await self.face.register(name, worktree=str(root))
        intent = (await self.face.publish(agent, f"The work {name}", *scopes, task=name)).intent.id
        await self.face.claim(agent, intent, *(scope.rpartition("=")[0] for scope in scopes))
        return Work(self, agent, intent, root)

    async def verify(self, changeset: ChangeSet, check: str = "ok") -> Validation:
        """`run_verification`."""
        given = RunVerificationInput(changeset_id=changeset.id, check=check)
        return await self.face.writes.run_verification(self.face.visit, given)

    async def accept(self, changeset: ChangeSet, *, operator: bool = False, **given: Any) -> ChangeSet:
        """`accept_changeset`."""
        visit = self.face.operator if operator else self.face.visit
        return await self.face.writes.accept_changeset(visit, AcceptInput(changeset_id=changeset.id, **given))

    async def land(self, changeset: ChangeSet, commit: str) -> ChangeSet:
        """`record_commit`."""
        given = RecordCommitInput(changeset_id=changeset.id, git_ref=commit)
        return await self.face.writes.record_commit(self.face.visit, given)

    async def now(self, changeset: ChangeSet) -> ChangeSet:
        """`get_changeset`."""
        async with transaction(self.engine.found.pool, readonly=True) as connection:
            found = await changesets.get(connection, changeset.id)
        assert found is not None
        return found.changeset

    async def attempts(self, changeset: ChangeSet) -> list[ValidationAttempt]:
        """The runs of checks on a ChangeSet."""
        async with transaction(self.engine.found.pool, readonly=True) as connection:
            return await changesets.attempts(connection, changeset.id)

    async def types(self) -> list[str]:
        """The types of the ledger's events."""
        return [event.event_type for event in await self.face.events()]

    @property
    def bare(self) -> Path:
        """gitring's own repository of the project."""
        return self.face.project.repository_path


@dataclass
class Work:
    """One intent with its worktree."""

    bench: Bench
    agent: str
    intent: str
    root: Path

    def git(self, *args: str) -> str:
        """Run git in the worktree."""
        return git(self.root, *args)

    def commit(self, files: dict[str, str] | None = None, message: str = "work") -> str:
        """Write and commit."""
        write(self.root, files or {})
        self.git("add", "-A")
        self.git("commit", "-q", "--allow-empty", "-m", message)
        return self.git("rev-parse", "HEAD")

    def edited(self, line: int = 10, text: str = "line ten\n") -> dict[str, str]:
        """`app/cart.py` with one line replaced."""
        return {"app/cart.py": FILES["app/cart.py"].replace(f"line {line}\n", text)}

    async def publish(self, **more: Any) -> ChangeSet:
        """`publish_changeset`."""
        given = PublishChangeSetInput(
            agent_id=self.agent, intent_id=self.intent, summary="What was made", **more
        )
        return await self.bench.face.writes.publish_changeset(self.bench.face.visit, given)

    async def published(self, files: dict[str, str] | None = None, **more: Any) -> ChangeSet:
        """One commit, published."""
        self.commit(files or self.edited())
        return await self.publish(**more)

    async def accepted(self, **more: Any) -> ChangeSet:
        """One commit, published, validated and accepted."""
        changeset = await self.published(**more)
        await self.bench.verify(changeset)
        return await self.bench.accept(changeset)

    async def push(self, commit: str = "HEAD") -> str:
        """Push to the intent's ref and record it, as gitring's own door does."""
        project = self.bench.face.project
        ref = f"refs/intents/{self.intent}"
        old = await Repository(project.repository_path).head(ref)
        self.git("push", "-q", "--force", str(project.repository_path), f"{commit}:{ref}")
        new = self.git("rev-parse", commit)
        push = Pushed(
            project_id=project.id,
            intent_id=self.intent,
            token_id=project.agent.token_id,
            old=old or ZERO,
            new=new,
        )
        handle = self.bench.engine.found.temporal.get_workflow_handle(intent_workflow(self.intent))
        await handle.execute_update("pushed", push)
        return new


class SlowCheck:
    """The check `slow` of a worktree, which waits for the test: it has begun, may go on, and has ended."""

    def __init__(self, root: Path) -> None:
        self._began, self._go = root.parent / "began", root.parent / "go"
        for pipe in (self._began, self._go):
            os.mkfifo(pipe)

    async def began(self) -> None:
        """Wait until it runs."""
        self._seen = await asyncio.to_thread(self._began.open)
        assert await asyncio.to_thread(self._seen.readline) == "began\n"

    async def go_on(self) -> None:
        """Let it end."""
        await asyncio.to_thread(self._go.write_text, "on\n")

    async def ended(self) -> None:
        """Wait until all of its processes are gone."""
        with self._seen:
            assert await asyncio.to_thread(self._seen.read) == ""


def other_repository(bench: Bench) -> Path:
    """A repository that has nothing to do with the project."""
    folder = bench.repository.parent / new_id("oth")
    make_repository(folder, FILES)
    return folder
