"""The repository on the server's disk that an owner binds a project to: its worktrees are read where they lie."""

import posixpath
from datetime import UTC, datetime

import asyncpg

from gateway.access import must_live, must_own
from gateway.busy import RecordOrBusy
from gateway.foremerge.surface import Visit
from gateway.foremerge.visits import seen_project
from protocol.foremerge.operators import Binding, BindInput
from rules.foremerge.refusing import bad_input
from storage.sql import ledger
from storage.sql.foremerge import changesets
from storage.sql.pool import lock_project


async def bind_project(pool: asyncpg.Pool, visit: Visit, given: BindInput) -> Binding:
    """Bind it, in place of the folder before. The folder is looked at when the first worktree of it is."""
    folder = given.common_dir
    if not folder.startswith("/") or posixpath.normpath(folder) != folder or not folder.isprintable():
        raise bad_input(
            f"{folder[:200]!r} is no plain absolute path.",
            "Send what `git rev-parse --path-format=absolute --git-common-dir` prints on the server's host.",
        )
    now = datetime.now(UTC)
    async with RecordOrBusy(pool) as connection:
        seen = await seen_project(connection, visit)
        must_own(seen, visit.caller)
        await lock_project(connection, seen.project.id)
        await must_live(connection, visit.caller)
        await changesets.bind(connection, seen.project.id, folder, visit.caller.person_id, now)
        await ledger.settings_changed(
            connection, seen.project.id, visit.caller.token_name, ["git_common_dir"], now
        )
    return Binding(project_id=seen.project.id, common_dir=folder)
