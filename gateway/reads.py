"""Reads: each from one snapshot of the record; none needs a worker or a workflow."""

from collections.abc import AsyncIterator, Collection
from contextlib import asynccontextmanager
from typing import cast

import asyncpg

from gateway.access import Seen, SeenIntent, projects_of, see_intent, see_project
from protocol.answers import CheckView, IntentDetail, IntentView, ProjectList
from protocol.checks import FlakyList
from protocol.events import ChainVerdict, Event
from protocol.live import LOG_LIMIT, ArtifactList, ArtifactView
from protocol.project_checks import Checks
from protocol.projects import Caller, Project
from protocol.records import CheckRow, IntentRecords, ProjectRow
from protocol.refusals import Refused, busy, not_found
from protocol.states import State
from rules.detail import check_view, intent_detail, intent_view
from rules.git_commands import GitAddress
from rules.next_step import stop_step
from storage.sql import artifacts, checks, events, flaky, intents, live_log, projects
from storage.sql.audit import audit
from storage.sql.pool import OutcomeUnknown, RecordBusy, transaction
from storage.sql.snapshot import read_intent

_MOST_FLAKY = 100


class Reads:
    """Everything a caller may look at."""

    def __init__(self, pool: asyncpg.Pool, public_url: str) -> None:
        self._pool = pool
        self.public_url = public_url

    @asynccontextmanager
    async def snapshot(self) -> AsyncIterator[asyncpg.Connection]:
        """One moment of the record; trouble with it is a typed `busy`."""
        try:
            async with transaction(self._pool, isolation="repeatable_read", readonly=True) as connection:
                yield connection
        except (RecordBusy, OutcomeUnknown) as problem:
            raise busy("The record") from problem

    def address(self, caller: Caller, project_id: str) -> GitAddress:
        """Where this caller's git commands go."""
        return GitAddress(self.public_url, project_id, caller.credential_helper)

    async def seen(self, caller: Caller, ref: str | None) -> Seen:
        """The project a call speaks of."""
        async with self.snapshot() as connection:
            return await see_project(connection, caller, ref)

    async def seen_intent(self, caller: Caller, intent_id: str) -> SeenIntent:
        """The intent a call speaks of."""
        async with self.snapshot() as connection:
            return await see_intent(connection, caller, intent_id)

    async def records(self, intent_id: str) -> IntentRecords:
        """All of one intent; the caller's right to it was checked."""
        async with self.snapshot() as connection:
            records = await read_intent(connection, intent_id)
        if records is None:
            raise not_found(f"intent {intent_id}", "Call gitring_board to see the live intents.")
        return records

    async def status(self, caller: Caller, intent_id: str) -> IntentDetail:
        """`gitring_status`."""
        async with self.snapshot() as connection:
            found = await see_intent(connection, caller, intent_id)
            records = await read_intent(connection, intent_id)
        assert records is not None
        return self.detail(caller, records, found.intent.project_id)

    def detail(self, caller: Caller, records: IntentRecords, project_id: str) -> IntentDetail:
        """The answer about an intent for this caller."""
        return intent_detail(records, self.address(caller, project_id))

    def stop_step(self, caller: Caller, records: IntentRecords) -> str:
        """The next step of an agent that can stop waiting for this intent."""
        return stop_step(records, self.address(caller, records.intent.project_id))

    async def projects(self, caller: Caller) -> ProjectList:
        """`gitring_projects`."""
        async with self.snapshot() as connection:
            rows = await projects_of(connection, caller)
            live = await projects.live_counts(connection, [row.id for row in rows])
            heads = {row.id: await projects.line(connection, row.id, row.default_line) for row in rows}
        return ProjectList(
            projects=[
                self._project(
                    caller, row, live.get(row.id, 0), line.head if (line := heads[row.id]) else None
                )
                for row in rows
            ]
        )

    async def project(self, caller: Caller, ref: str) -> Project:
        """One project."""
        async with self.snapshot() as connection:
            row = (await see_project(connection, caller, ref)).project
            live = await projects.live_counts(connection, [row.id])
            line = await projects.line(connection, row.id, row.default_line)
        return self._project(caller, row, live.get(row.id, 0), line.head if line else None)

    def _project(self, caller: Caller, row: ProjectRow, live: int, head: str | None) -> Project:
        settings = row.settings
        return Project(
            id=row.id,
            slug=row.slug,
            default_line=row.default_line,
            head=head,
            live_intents=live,
            checks=Checks(
                test=settings.test,
                timeout_sec=settings.timeout_sec,
                environment=settings.environment,
                network=settings.network,
                named=settings.named_checks,
            ),
            plan_review=settings.plan_review,
            merge_approval=settings.merge_approval,
            mediation=settings.mediation,
            shared_files=settings.shared_files,
            max_places=settings.max_places,
            people_only=settings.people_only,
            folder_writers=settings.folder_writers,
            owner_approves=settings.owner_approves,
            acceptance_policy=settings.acceptance_policy,
            verify_symbol_scopes=settings.verify_symbol_scopes,
            person_accepts=settings.person_accepts,
            exclusions=settings.exclusions,
            git=GitAddress(self.public_url, row.id).remote,
            acting_for=caller.person_name,
            created_at=row.created_at,
        )

    async def intents(
        self, caller: Caller, project_ref: str, states: Collection[State] | None, limit: int
    ) -> list[IntentView]:
        """Intents of a project, newest first."""
        async with self.snapshot() as connection:
            seen = await see_project(connection, caller, project_ref)
            rows = await intents.listed(
                connection, seen.project.id, None if states is None else list(states), limit
            )
            found = [await read_intent(connection, row.id) for row in rows]
        return [intent_view(records) for records in found if records is not None]

    async def check(self, caller: Caller, check_id: str) -> CheckView:
        """One check run."""
        async with self.snapshot() as connection:
            return check_view(await self.seen_check(connection, caller, check_id), self.public_url)

    async def check_log(self, caller: Caller, check_id: str) -> bytes:
        """The log of a run, or what a running one has printed so far: the project's own output."""
        async with self.snapshot() as connection:
            row = await self.seen_check(connection, caller, check_id)
            if row.state == "running":
                return await live_log.printed(connection, row.id, 0, LOG_LIMIT)
            return await checks.log_of(connection, row.id)

    async def check_place(self, caller: Caller, check_id: str) -> tuple[str, list[str]]:
        """The project of a run, and the intents that it speaks of."""
        async with self.snapshot() as connection:
            row = await self.seen_check(connection, caller, check_id)
            return row.project_id, await live_log.intents_of(connection, row.id)

    async def artifacts(self, caller: Caller, check_id: str) -> ArtifactList:
        """The files that a run handed over."""
        async with self.snapshot() as connection:
            row = await self.seen_check(connection, caller, check_id)
            found = await artifacts.listed(connection, row.id)
            ground = await artifacts.ground(connection, row.id)
        where = f"{self.public_url}/api/v1/checks/{row.id}/artifacts"
        return ArtifactList(
            artifacts=[
                ArtifactView(
                    number=file.number, name=file.name, bytes=file.bytes, url=f"{where}/{file.number}"
                )
                for file in found
            ],
            left_out=ground.left_out,
            isolation=ground.isolation,
        )

    async def artifact(self, caller: Caller, check_id: str, number: int) -> tuple[str, bytes]:
        """One of those files: its name and its content, both the project's own."""
        async with self.snapshot() as connection:
            row = await self.seen_check(connection, caller, check_id)
            found = await artifacts.content(connection, row.id, number)
        if found is None:
            raise not_found(
                f"file {number} of check {row.id}", f"GET /api/v1/checks/{row.id}/artifacts lists them."
            )
        return found

    async def seen_check(self, connection: asyncpg.Connection, caller: Caller, check_id: str) -> CheckRow:
        """A run of a project that the caller may read. One that they may not is as if it were not there."""
        row = await checks.get(connection, check_id)
        missing = not_found(f"check {check_id[:60]}", "Take the check's id from gitring_status.")
        if row is None:
            raise missing
        try:
            await see_project(connection, caller, row.project_id)
        except Refused as problem:
            raise missing from problem
        return row

    async def events(self, caller: Caller, project_ref: str, after_seq: int, limit: int) -> list[Event]:
        """The project's ledger after `after_seq`."""
        async with self.snapshot() as connection:
            seen = await see_project(connection, caller, project_ref)
            return await events.read_after(connection, seen.project.id, after_seq, limit)

    async def flaky(self, caller: Caller, project_ref: str) -> FlakyList:
        """The flaky tests of a project."""
        async with self.snapshot() as connection:
            seen = await see_project(connection, caller, project_ref)
            return FlakyList(flaky=await flaky.listed(connection, seen.project.id, _MOST_FLAKY))

    async def audit(self, caller: Caller, project_ref: str) -> ChainVerdict:
        """Whether the ledger's chain holds, from its first row to its head."""
        seen = await self.seen(caller, project_ref)
        try:
            async with self._pool.acquire(timeout=5) as connection:
                return await audit(cast(asyncpg.Connection, connection), seen.project.id)
        except (TimeoutError, OSError, asyncpg.InterfaceError) as problem:
            raise busy("The record") from problem
