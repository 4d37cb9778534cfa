"""Writes that concern no intent: projects, settings, tokens. People only, each one short transaction."""

import asyncio
from datetime import UTC, datetime, timedelta

import asyncpg
from temporalio.client import Client, WorkflowFailureError
from temporalio.service import RPCError

from gateway.access import must_own, must_write, see_intent, see_project
from gateway.auth import AcceptedTokens
from gateway.busy import RecordOrBusy
from gateway.check_settings import with_checks
from gateway.clones import clone_of
from gateway.engine import set_up_project
from gateway.reads import Reads
from protocol.answers import GitToken
from protocol.commands import CreateProjectCommand
from protocol.events import EventType
from protocol.ids import new_id
from protocol.intents import CloneInput
from protocol.projects import (
    Caller,
    ChangeSettings,
    CreateProject,
    CreateToken,
    NewToken,
    Project,
    ProjectSettings,
    TokenInfo,
    TokenKind,
)
from protocol.refusals import Refused, not_found, outcome_unknown, people_only, refused
from rules.foremerge.exclusions import normal_rules
from rules.git_commands import GitAddress, intent_ref
from storage.sql import ledger, projects, tokens
from storage.sql.pool import lock_project

GIT_TOKEN_LIFE = timedelta(minutes=60)
IMPORT_SEC = 300.0


class Administration:
    """What owners do, and the git tokens that agents ask for."""

    def __init__(
        self, pool: asyncpg.Pool, client: Client, reads: Reads, accepted: AcceptedTokens, host: str
    ) -> None:
        self._pool = pool
        self._client = client
        self._reads = reads
        self._accepted = accepted
        self._host = host

    def _record(self) -> RecordOrBusy:
        return RecordOrBusy(self._pool)

    async def create_project(self, caller: Caller, given: CreateProject) -> Project:
        """Import or begin a project; the caller owns it."""
        if not caller.is_person:
            raise people_only(caller.person_name, None)
        async with self._record() as connection:
            # A source is read with the server's own rights, so a guest may not name one.
            if not await projects.may_create(connection, caller.person_id):
                raise refused(
                    "forbidden",
                    f"{caller.person_name} owns nothing on this server, and only owners make projects.",
                    "Ask an owner to make it and to give you the role owner.",
                    403,
                )
            if await projects.find(connection, given.slug):
                raise refused(
                    "exists", f"A project named {given.slug} exists already.", "Choose another slug."
                )
        command = CreateProjectCommand(
            command_id=new_id("cmd"),
            project_id=new_id("prj"),
            owner_id=caller.person_id,
            host=self._host,
            slug=given.slug,
            source=given.source,
            default_line=given.default_line,
            settings=with_checks(ProjectSettings(), given.checks).model_dump(mode="json"),
            at=datetime.now(UTC),
        )
        try:
            async with asyncio.timeout(IMPORT_SEC):
                made = await set_up_project(self._client, command)
        except (TimeoutError, RPCError, WorkflowFailureError) as problem:
            raise outcome_unknown("POST /api/v1/projects", False) from problem
        if made.refusal is not None:
            raise Refused(made.refusal)
        return await self._reads.project(caller, command.project_id)

    async def change_settings(self, caller: Caller, project_ref: str, given: ChangeSettings) -> Project:
        """Change the fields that were given; the event says which."""
        async with self._record() as connection:
            seen = await see_project(connection, caller, project_ref)
            must_own(seen, caller)
            # Read again under the lock: two changes of different fields must not undo each other.
            await lock_project(connection, seen.project.id)
            locked = await projects.find(connection, seen.project.id)
            assert locked is not None
            changed = _changed_settings(locked.settings, given)
            await projects.change_settings(connection, seen.project.id, changed)
            await ledger.settings_changed(
                connection,
                seen.project.id,
                caller.token_name,
                sorted(given.model_fields_set),
                datetime.now(UTC),
            )
        return await self._reads.project(caller, seen.project.id)

    async def create_token(self, caller: Caller, given: CreateToken) -> NewToken:
        """An agent's token for some of the person's projects; shown once."""
        if not caller.is_person:
            raise people_only(caller.person_name, None)
        async with self._record() as connection:
            named = [(await see_project(connection, caller, ref)).project for ref in given.projects]
            token_id, secret = await tokens.create(
                connection,
                kind=TokenKind.AGENT,
                name=given.name,
                person_id=caller.person_id,
                project_ids=[project.id for project in named],
                now=datetime.now(UTC),
                credential_helper=given.credential_helper,
            )
            for project in sorted(named, key=lambda project: project.id):
                await ledger.token_event(
                    connection,
                    project.id,
                    token_id,
                    EventType.TOKEN_CREATED,
                    caller.token_name,
                    given.name,
                    datetime.now(UTC),
                )
        return NewToken(id=token_id, token=secret, name=given.name, projects=[p.slug for p in named])

    async def list_tokens(self, caller: Caller) -> list[TokenInfo]:
        """The person's tokens."""
        if not caller.is_person:
            raise people_only(caller.person_name, None)
        async with self._reads.snapshot() as connection:
            return await tokens.list_of_person(connection, caller.person_id)

    async def revoke_token(self, caller: Caller, token_id: str) -> TokenInfo:
        """Revoke a token of the person's, and the git tokens made from it."""
        if not caller.is_person:
            raise people_only(caller.person_name, None)
        async with self._record() as connection:
            now = datetime.now(UTC)
            info = await tokens.revoke(connection, token_id, caller.person_id, now)
            newly = info is not None and info.revoked_at == now
            for project_id in sorted(await tokens.projects_of(connection, token_id) if newly else ()):
                await ledger.token_event(
                    connection,
                    project_id,
                    token_id,
                    EventType.TOKEN_REVOKED,
                    caller.token_name,
                    info.name if info else "",
                    now,
                )
        if info is None:
            raise not_found(f"token {token_id[:60]}", "GET /api/v1/tokens lists yours.")
        self._accepted.forget(token_id)
        return info

    async def clone(self, caller: Caller, given: CloneInput) -> GitToken:
        """A git token for one project, and the commands to use it with."""
        async with self._record() as connection:
            ref = given.project_id
            found = await see_intent(connection, caller, given.intent_id) if given.intent_id else None
            seen = found.seen if found and ref is None else await see_project(connection, caller, ref)
            must_write(seen, caller)
            if found and found.intent.project_id != seen.project.id:
                raise not_found(f"intent {given.intent_id} in {seen.project.slug}", "Leave out projectId.")
            with_token = given.with_token or not caller.credential_helper
            secret, expires_at = await self._git_token(connection, caller, seen.project.id, with_token)
        address = GitAddress(self._reads.public_url, seen.project.id, helper=not with_token)
        intent_ref_text = intent_ref(given.intent_id or "<your intent id>")
        sparse = None
        if found:
            sparse = await clone_of(self._reads, found.intent.id, address.remote)
        return GitToken(
            remote=address.remote,
            token=secret,
            expires_at=expires_at,
            clone=address.clone,
            push=address.push(intent_ref_text),
            push_power_shell=address.push_powershell(intent_ref_text),
            sparse=sparse,
        )

    async def _git_token(
        self, connection: asyncpg.Connection, caller: Caller, project_id: str, wanted: bool
    ) -> tuple[str | None, datetime | None]:
        if not wanted:
            return None, None
        now = datetime.now(UTC)
        _, secret = await tokens.create(
            connection,
            kind=TokenKind.GIT,
            name=caller.token_name,
            person_id=caller.person_id,
            project_ids=[project_id],
            now=now,
            expires_at=now + GIT_TOKEN_LIFE,
            parent_id=caller.token_id,
        )
        return secret, now + GIT_TOKEN_LIFE


def _changed_settings(old: ProjectSettings, given: ChangeSettings) -> ProjectSettings:
    values = {name: getattr(given, name) for name in given.model_fields_set - {"checks"}}
    if "exclusions" in values:
        values["exclusions"] = normal_rules(values["exclusions"]).paths
    changed = ProjectSettings(**{**old.model_dump(), **values})
    return with_checks(changed, given.checks) if "checks" in given.model_fields_set else changed
