"""Who may use git on a project, and what a push may do; decided while its objects are in quarantine."""

import asyncio
from functools import partial

import asyncpg
import structlog
from temporalio.client import Client
from temporalio.service import RPCError, RPCStatusCode

from gateway.access import see_project
from gateway.auth import AcceptedTokens
from gateway.contents.refusing import Contents
from gateway.engine import start_intent, until_ready
from gateway.git_access import GitAccess, GitDenied, token_of
from gateway.repositories import Repositories
from protocol.commands import IntentStart, Pushed
from protocol.names import intent_workflow
from protocol.projects import Caller, TokenKind
from protocol.records import IntentRow
from protocol.refusals import Refused
from protocol.states import Verdict
from rules.folders import Writer, folder_refusal, writers_of
from rules.git_commands import intent_ref
from rules.places import Place
from rules.states import why_closed, yields_refusal
from storage.git.changed import changed_paths
from storage.git.names import INTENT_REFS, LINE_REFS, TAG_REFS, ZERO
from storage.git.receive import RefUpdate
from storage.git.repository import Repository
from storage.sql import conflicts, intents, people, projects
from storage.sql.pool import transaction

_log = structlog.get_logger("gateway.git")

RECORD_SEC = 30.0

ONLY_GIT_TOKENS = (
    "git accepts only a git token. Call gitring_clone (or POST /api/v1/projects/<id>/git-token) with your agent "
    "token, then send the git token it returns; it lasts 60 minutes."
)
EXPIRED = (
    "Your git token was not accepted: it is missing, wrong, revoked, or older than 60 minutes. Call gitring_clone for "
    "a new one; your work is safe in your checkout, and what you pushed is safe on your intent's ref."
)


class GitRules:
    """The three questions of `gateway.git_http`: authorize, decide, record."""

    def __init__(
        self, pool: asyncpg.Pool, client: Client, tokens: AcceptedTokens, repositories: Repositories
    ) -> None:
        self._pool = pool
        self._client = client
        self._tokens = tokens
        self._repositories = repositories
        self._contents = Contents()

    async def authorize(
        self, project: str, authorization_header: str | None, write: bool
    ) -> GitAccess | GitDenied:
        """Only a git token of this very project reads or pushes."""
        raw = token_of(authorization_header)
        if raw is None:
            return GitDenied(status=401, message=EXPIRED)
        try:
            caller = await self._tokens.caller(raw)
        except Refused:
            return GitDenied(status=401, message=EXPIRED)
        if caller.kind is not TokenKind.GIT:
            return GitDenied(status=403, message=ONLY_GIT_TOKENS)
        try:
            async with transaction(self._pool, readonly=True) as connection:
                seen = await see_project(connection, caller, project)
        except Refused as problem:
            return GitDenied(status=403, message=problem.refusal.text)
        if write and seen.role == "viewer":
            return GitDenied(status=403, message=f"You may read {seen.project.slug}, but not push to it.")
        return GitAccess(
            repository=self._repositories.path(seen.project.id),
            project_id=seen.project.id,
            principal=caller.model_dump_json(),
        )

    async def decide(
        self, access: GitAccess, updates: list[RefUpdate], quarantine_env: dict[str, str]
    ) -> str | None:
        """None when the push may go on, else the words its pusher reads."""
        caller = Caller.model_validate_json(access.principal)
        if len(updates) != 1:
            return "Push one ref at a time: your commits to refs/intents/<your intent id>."
        update = updates[0]
        async with transaction(self._pool, readonly=True) as connection:
            refusal = await self._judge(connection, access, caller, update)
            if refusal is not None:
                return refusal
            intent_id = update.ref.removeprefix(INTENT_REFS)
            opened = await conflicts.open_of(connection, [intent_id])
            row = await intents.get(connection, intent_id)
            project = await projects.find(connection, access.project_id)
            if row is None or project is None or update.new is None:
                return None
            line = await projects.line(connection, access.project_id, row.line)
            names = await people.names_of(connection, writers_of(project.settings))
        yielded = [c for c in opened if c.second_id == intent_id and c.verdict is Verdict.NARROW]
        # Outside the transaction: Git may take its time over a large push.
        repository = Repository(access.repository).with_env(quarantine_env)
        base = line.head if line and line.head else row.base
        paths = await changed_paths(repository, base, update.new)
        writer = Writer(row.person_id, row.by_agent, project.slug, project.owner_name, names)
        folder = folder_refusal(map(Place, paths), project.settings, writer)
        refusal = folder.refusal.text if folder else yields_refusal(yielded, paths)
        return refusal or await self._contents.refusal(repository, update.new)

    async def _judge(
        self, connection: asyncpg.Connection, access: GitAccess, caller: Caller, update: RefUpdate
    ) -> str | None:
        if not update.ref.startswith(INTENT_REFS):
            return await self._not_an_intent(connection, access.project_id, caller, update.ref)
        row = await intents.get(connection, update.ref.removeprefix(INTENT_REFS))
        if row is None or row.project_id != access.project_id:
            return f"There is no intent {update.ref.removeprefix(INTENT_REFS)[:60]} here. Declare one with gitring_declare."
        if row.person_id != caller.person_id:
            return f"Intent #{row.number} is {row.person_name}'s; push to an intent of your own."
        closed = why_closed(row, await conflicts.open_of(connection, [row.id]))
        if closed:
            return " ".join(closed)
        if update.deletes:
            return f"The ref of intent #{row.number} stays. To give the work up, call gitring_withdraw."
        return None

    async def _not_an_intent(
        self, connection: asyncpg.Connection, project_id: str, caller: Caller, ref: str
    ) -> str:
        mine = await intents.live_of_person(connection, project_id, caller.person_id, 2)
        where = (
            f"{intent_ref(mine[0].id if len(mine) == 1 else '<your intent id>')}, then call gitring_submit."
        )
        line = ref.removeprefix(LINE_REFS)
        if ref.startswith(LINE_REFS) and await projects.line(connection, project_id, line):
            return f"gitring writes {line}. Push to {where}"
        project = await projects.find(connection, project_id)
        owner = project.owner_name if project else "an owner"
        ask = {
            LINE_REFS: f"Ask {owner} to create {line[:200]}, then declare your intent into it. ",
            TAG_REFS: f"Ask {owner} to create the tag {ref.removeprefix(TAG_REFS)[:200]}. ",
        }
        asked = next((text for start, text in ask.items() if ref.startswith(start)), "")
        return f"Refused: only people create lines and tags. {asked}Push your work to {where}"

    async def record(self, access: GitAccess, updates: list[RefUpdate]) -> None:
        """Have the intent's workflow record the push; the sweep and the next submit catch what this one cannot."""
        caller = Caller.model_validate_json(access.principal)
        for update in updates:
            async with transaction(self._pool, readonly=True) as connection:
                row = await intents.get(connection, update.ref.removeprefix(INTENT_REFS))
                project = await projects.find(connection, access.project_id)
            if row is None or project is None:
                raise LookupError(f"{update.ref} moved, and is no intent's")
            push = Pushed(
                project_id=access.project_id,
                intent_id=row.id,
                token_id=caller.token_id,
                old=update.old or ZERO,
                new=update.new or ZERO,
            )
            async with asyncio.timeout(RECORD_SEC):
                await until_ready(partial(self._send, push, row, project.host))

    async def _send(self, push: Pushed, row: IntentRow, host: str) -> None:
        handle = self._client.get_workflow_handle(intent_workflow(row.id))
        update_id = f"push-{push.old[:20]}-{push.new}-{row.head or 'none'}"
        try:
            await handle.execute_update("pushed", push, id=update_id)
        except RPCError as problem:
            if problem.status is not RPCStatusCode.NOT_FOUND:
                raise
            start = IntentStart(intent_id=row.id, project_id=row.project_id, host=host, resumed=True)
            await start_intent(self._client, start)
            await handle.execute_update("pushed", push, id=update_id)
