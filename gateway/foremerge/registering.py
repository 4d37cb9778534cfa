"""Register an agent. With a project's first one, this face is told of gitring's own live intents."""

from datetime import UTC, datetime

import asyncpg

from gateway.access import must_write
from gateway.busy import RecordOrBusy
from gateway.foremerge.surface import Visit
from gateway.foremerge.visits import seen_project
from gateway.foremerge.worktrees import Located, located
from gateway.foremerge.writing import Write, writing
from protocol.events import EventType
from protocol.foremerge.agents import RegisterAgentInput, RegisteredAgent
from protocol.foremerge.records import AgentRow
from protocol.ids import new_id
from protocol.records import ProjectRow
from rules.foremerge.agents import AgentFacts, twins_warning
from rules.foremerge.mirrors import mirrored
from rules.foremerge.refusing import filled
from rules.places import Place
from storage.sql.foremerge import agents, mirrors
from storage.sql.pool import lock_project

_AT_ONCE = 100


class Registering:
    """`register_agent`."""

    def __init__(self, pool: asyncpg.Pool) -> None:
        self._pool = pool

    async def register(self, visit: Visit, given: RegisterAgentInput) -> RegisteredAgent:
        """A new agent, always; a word about earlier ones of the same name and worktree."""
        name = filled(given.name, "name")
        where = await self._located(visit, given.worktree)
        await self._tell_of_gitring(visit)
        async with writing(self._pool, visit) as write:
            while await _mirror_some(write.connection, write.project, write.now):
                pass
            row = _row(write, name, given, where)
            known = [_facts(one) for one in await agents.of_project(write.connection, write.project.id)]
            await agents.add(write.connection, row)
            write.actor = row.id
            shown = row.shown
            write.emit(EventType.AGENT_REGISTERED, "Agent", row.id, None, **shown.model_dump(mode="json"))
            warnings = twins_warning(row.name, row.worktree, known)
        return RegisteredAgent(**shown.model_dump(), warnings=warnings)

    async def _located(self, visit: Visit, folder: str | None) -> Located:
        """Before the transaction, because it asks git."""
        if folder is None:
            return Located(None)
        async with RecordOrBusy(self._pool) as connection:
            seen = await seen_project(connection, visit)
            must_write(seen, visit.caller)
            common_dir = await agents.bound_folder(connection, seen.project.id)
        return await located(common_dir, folder)

    async def _tell_of_gitring(self, visit: Visit) -> None:
        """Many live intents are taken over a hundred at a time, so that nobody waits long for the project."""
        while True:
            async with RecordOrBusy(self._pool) as connection:
                seen = await seen_project(connection, visit)
                must_write(seen, visit.caller)
                if await agents.are_there(connection, seen.project.id):
                    return
                await lock_project(connection, seen.project.id)
                if await _mirror_some(connection, seen.project, datetime.now(UTC)) < _AT_ONCE:
                    return


def _row(write: Write, name: str, given: RegisterAgentInput, where: Located) -> AgentRow:
    return AgentRow(
        id=new_id("agt"),
        project_id=write.project.id,
        person_id=write.caller.person_id,
        token_id=write.caller.token_id,
        of_gitring=False,
        name=name,
        model=given.model,
        capabilities=list(dict.fromkeys(given.capabilities)),
        worktree=where.folder,
        git_branch=where.branch,
        git_head=where.head,
        registered_at=write.now,
        last_seen_at=write.now,
    )


def _facts(row: AgentRow) -> AgentFacts:
    return AgentFacts(row.id, row.name, row.worktree, row.last_seen_at)


async def _mirror_some(connection: asyncpg.Connection, project: ProjectRow, now: datetime) -> int:
    """Take over up to a hundred of gitring's live intents that this face does not know; how many there were."""
    wanted = await mirrors.unknown(connection, project.id, _AT_ONCE)
    for found in await mirrors.read(connection, wanted):
        changes = [Place(one.path, one.symbol) for one in found.changes]
        made = mirrored(found.row, changes, found.names, found.depends_on, project.default_line, now)
        await mirrors.keep(connection, made.agent, (made.task_key, made.task), made.work, made.scopes, now)
    return len(wanted)
