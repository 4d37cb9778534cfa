"""Gitring's own intents in the eyes of this face: kept beside it, and compared with its live work.

Called from gitring's commands. A project in which nobody works with this face pays one look-up for it.
"""

from activities.change import Change
from activities.foremerge.detection import compared_with, dismiss_vanished, keep_findings, tell_gitring
from protocol.records import IntentRow
from rules.foremerge.mirrors import mirrored
from rules.foremerge.stored import subject_of
from rules.places import Place
from storage.sql.foremerge import agents, mirrors, work


async def mirror(change: Change, row: IntentRow) -> None:
    """Keep what this face shows of an intent that was declared, or whose plan changed, and settle it with live work."""
    if not await agents.are_there(change.connection, change.project.id):
        return
    (found,) = await mirrors.read(change.connection, [row.id])
    changes = [Place(one.path, one.symbol) for one in found.changes]
    made = mirrored(
        found.row, changes, found.names, found.depends_on, change.project.default_line, change.now
    )
    task = (made.task_key, made.task)
    await mirrors.keep(change.connection, made.agent, task, made.work, made.scopes, change.now)
    own = await work.get(change.connection, row.id)
    if own is None or not own.live:
        return
    scopes = await work.scopes_of(change.connection, [row.id])
    pairs = await compared_with(change, subject_of(own, scopes[row.id]), only_external=True)
    findings = [finding for pair in pairs for finding in pair.findings]
    await dismiss_vanished(change, row.id, findings)
    await tell_gitring(change, own, pairs)
    await keep_findings(change, row.id, findings)
