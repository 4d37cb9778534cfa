"""What the steps of a ChangeSet have in common: what is kept of it, who acts, and how their failures are told."""

from collections.abc import Awaitable, Iterable
from pathlib import Path
from typing import Any

import asyncpg
from temporalio import activity

from activities.change import Change
from protocol.commands import Command, Outcome
from protocol.foremerge.changesets import ChangeSet
from protocol.foremerge.errors import ErrorCode, foremerge_refusal
from protocol.foremerge.validations import ExclusionRules
from protocol.projects import ProjectSettings
from protocol.refusals import Refusal, Refused
from rules.foremerge.exclusions import normal_rules
from rules.foremerge.fingerprint import Snapshot
from rules.foremerge.refusing import missing, stale
from storage.git.errors import GitError, NotAWorktree, OutputTooLarge
from storage.sql import commands
from storage.sql.foremerge import agents, changesets
from storage.sql.foremerge.changesets import StoredChangeSet
from storage.sql.pool import transaction

REFS = "refs/foremerge/accepted/"
_TRIES = 4


def accepted_ref(changeset_id: str) -> str:
    """The ref that keeps the commit with which a ChangeSet was accepted."""
    return REFS + changeset_id


async def told(work: Awaitable[Outcome]) -> Outcome:
    """The outcome of a step; what it refuses is a value, so that nothing is tried again for it."""
    try:
        return await work
    except Refused as problem:
        return Outcome(refusal=problem.refusal)
    except OutputTooLarge as problem:
        return _refusal(
            ErrorCode.RESOURCE_LIMIT,
            f"There is more to read than the server takes: {problem.stderr}.",
            "Commit in smaller pieces, and keep build output out of the worktree.",
        )
    except NotAWorktree as problem:
        return _refusal(
            ErrorCode.STALE_CHANGESET, f"{problem}.", "Publish it again from a worktree that is there."
        )
    except (GitError, FileNotFoundError, NotADirectoryError, PermissionError) as problem:
        # Tried without end, a repository that cannot be read would keep its intent from every other call.
        if activity.info().attempt < _TRIES:
            raise
        return _refusal(
            ErrorCode.REPOSITORY_UNREADABLE,
            f"Git could not read the repository: {' '.join(str(problem).split())[:500]}.",
            "See that it is whole and that the server may read it, then send the call again.",
        )


def _refusal(code: ErrorCode, message: str, next_step: str) -> Outcome:
    return Outcome(refusal=foremerge_refusal(code, message, next_step).refusal)


async def earlier(pool: asyncpg.Pool, command: Command) -> Outcome | None:
    """What the command came to in a run before this one."""
    async with transaction(pool, readonly=True) as connection:
        saved = await commands.answer_of(connection, command.command_id)
    return Outcome(**saved) if saved else None


async def kept_changeset(
    connection: asyncpg.Connection, command: Command, changeset_id: str
) -> StoredChangeSet:
    """A ChangeSet of the command's intent; NOT_FOUND for any other."""
    found = await changesets.get(connection, changeset_id)
    at = (command.project_id, command.intent_id)
    if found is None or (found.project_id, found.changeset.intent_id) != at:
        raise missing(f"ChangeSet {changeset_id[:100]}", "Find it with query_work.")
    return found


def published(stored: StoredChangeSet) -> Snapshot:
    """The snapshot that a ChangeSet was published from."""
    fields: dict[str, Any] = stored.snapshot
    return Snapshot(**{**fields, "changed": tuple(fields["changed"]), "excluded": tuple(fields["excluded"])})


def exclusions_of(settings: ProjectSettings) -> ExclusionRules:
    """The project's exclusion rules in their normal form."""
    return normal_rules(settings.exclusions)


async def name_actor(change: Change, command: Command, agent_id: str) -> None:
    """A step that names no agent is in the name of the work's own one, when that is of the caller's person."""
    agent = await agents.get(change.connection, agent_id)
    if agent is not None and agent.person_id == command.caller.person_id:
        change.actor = agent.id
        await agents.seen(change.connection, agent.id, change.now)


def within(texts: Iterable[str], limit: int) -> list[str]:
    """The first of them, at most `limit` characters together: what one answer can carry."""
    kept: list[str] = []
    for text in texts:
        limit -= len(text)
        if limit < 0:
            break
        kept.append(text)
    return kept


def entity_of(changeset: ChangeSet) -> dict[str, Any]:
    """A ChangeSet as its events show it."""
    return changeset.model_dump(mode="json", exclude={"open_conflicts"})


async def refused_for_good(change: Change, command: Command, refusal: Refusal) -> Outcome:
    """A refusal that comes with something kept: it is saved, so that a second run does not keep it twice."""
    await change.flush()
    outcome = Outcome(refusal=refusal)
    saved = outcome.model_dump(mode="json")
    await commands.save_answer(change.connection, command.command_id, command.project_id, saved, change.now)
    return outcome


def is_there(folder: str | None) -> bool:
    """Whether a folder is on this host's disk."""
    return folder is not None and Path(folder).is_dir()


def vanished(stored: StoredChangeSet) -> Refused:
    """STALE_CHANGESET, because the worktree was removed."""
    return stale(
        f"The worktree {str(stored.worktree)[:300]!r} of ChangeSet {stored.changeset.id} is not there any more.",
        "Check the branch out again and publish the ChangeSet from there.",
    )
