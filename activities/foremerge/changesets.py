"""Publish a ChangeSet: read what was made from where it lies, then record it, in place of the one before."""

from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from temporalio import activity

from activities.change import Change
from activities.exactly_once import once
from activities.folders import Folders
from activities.foremerge.candidates import Candidate, read_candidate
from activities.foremerge.frame import (
    finish_foremerge,
    open_conflicts_of,
    owned_work,
    set_status,
    transitioned,
)
from activities.foremerge.kept import earlier, entity_of, exclusions_of, told, within
from activities.foremerge.sources import PushedSource, Source, disk_source
from activities.store import Store
from protocol.commands import Outcome
from protocol.events import EventType
from protocol.foremerge.changesets import ChangeSet, PublishChangeSetInput
from protocol.foremerge.commands import ForemergeCommand
from protocol.foremerge.records import AgentRow, WorkRow
from protocol.foremerge.scopes import PlainScope, ScopeClaim
from protocol.foremerge.validations import ExclusionRules
from protocol.foremerge.words import ChangeSetStatus, IntentStatus
from protocol.ids import new_id
from rules.foremerge.drift import drift
from rules.foremerge.fingerprint import fingerprint
from rules.foremerge.lifecycle import Move, Step, must_allow, must_own, publication_moves
from rules.foremerge.publication import checked_changeset
from rules.foremerge.refusing import lost_race
from rules.foremerge.stored import must_act, must_be_there, scope_claim
from storage.sql import projects
from storage.sql.foremerge import agents, changesets, claims, work
from storage.sql.foremerge.changesets import StoredChangeSet
from storage.sql.pool import transaction

_MOST_TEXT = 100_000


@dataclass(frozen=True)
class Ready:
    """A publication that may be made, as the record has it."""

    given: PublishChangeSetInput
    agent: AgentRow
    found: WorkRow
    scopes: list[ScopeClaim]
    claimed: list[PlainScope]
    common_dir: str | None
    rules: ExclusionRules


class ForemergeChangeSets:
    """Publications to the repositories of one host."""

    def __init__(self, store: Store, folders: Folders) -> None:
        self._store = store
        self._folders = folders

    @activity.defn(name="foremerge_publish_changeset")
    async def publish(self, command: ForemergeCommand) -> Outcome:
        """`publish_changeset`."""
        return await told(self._publish(command))

    async def _publish(self, command: ForemergeCommand) -> Outcome:
        if known := await earlier(self._store.pool, command):
            return known
        ready = await self._ready(command)
        source = await self._source(command, ready)
        candidate = await read_candidate(source, command.project_id, ready.given, ready.rules)
        return await once(
            self._store, command, partial(_record, ready=ready, source=source, candidate=candidate)
        )

    async def _ready(self, command: ForemergeCommand) -> Ready:
        """What can be refused without looking at any repository is refused here."""
        given = checked_changeset(PublishChangeSetInput.model_validate(command.given))
        async with transaction(self._store.pool, readonly=True) as connection:
            agent = must_act(
                await agents.get(connection, given.agent_id),
                given.agent_id,
                command.project_id,
                command.caller.person_id,
            )
            found = must_be_there(
                await work.get(connection, command.intent_id), command.intent_id, command.project_id
            )
            must_own(found.id, found.agent_id, agent.id)
            must_allow(Step.PUBLISH, found.id, found.status)
            scopes = (await work.scopes_of(connection, [found.id]))[found.id]
            held = (await claims.of_intents(connection, [found.id]))[found.id]
            project = await projects.find(connection, command.project_id)
            common_dir = await agents.bound_folder(connection, command.project_id)
        if project is None:
            raise LookupError(f"project {command.project_id} is not in the record")
        return Ready(
            given,
            agent,
            found,
            [scope_claim(scope) for scope in scopes],
            [claim.scope for claim in held],
            common_dir,
            exclusions_of(project.settings),
        )

    async def _source(self, command: ForemergeCommand, ready: Ready) -> Source:
        bare = self._folders.repository(command.project_id)
        folder = ready.given.worktree or ready.agent.worktree
        if ready.common_dir is None or folder is None:
            return PushedSource(bare, command.intent_id)
        return await disk_source(bare, Path(ready.common_dir), folder)


async def _record(
    change: Change, command: ForemergeCommand, *, ready: Ready, source: Source, candidate: Candidate
) -> Outcome:
    found = await owned_work(change, command, ready.given.agent_id)
    must_allow(Step.PUBLISH, found.id, found.status)
    new = new_id("chg")
    before = await _superseded(change, found)
    for move in publication_moves(found.status):
        found = await _moved(change, found, move, new, before)
    changeset = ChangeSet(
        id=new,
        agent_id=ready.agent.id,
        task_id=found.task_id,
        intent_id=found.id,
        **ready.given.model_dump(
            include={"summary", "contracts", "dependencies", "tests", "decisions", "git_ref"}
        ),
        files=candidate.files,
        symbols=candidate.symbols,
        provenance=_provenance(change, ready, source, candidate),
        base_ref=candidate.base.commit,
        supersedes_changeset_id=before,
        fingerprint=fingerprint(candidate.snapshot),
        status=ChangeSetStatus.PROVISIONAL,
        created_at=change.now,
        updated_at=change.now,
    )
    snapshot = candidate.snapshot._asdict()
    await changesets.add(
        change.connection, StoredChangeSet(changeset, change.project.id, source.folder, snapshot)
    )
    change.emit(EventType.CHANGESET_PUBLISHED, "ChangeSet", new, found.id, **entity_of(changeset))
    seen = await open_conflicts_of(change, found.id)
    return await finish_foremerge(change, command, changeset.model_copy(update={"open_conflicts": seen}))


async def _superseded(change: Change, found: WorkRow) -> str | None:
    """The ChangeSet before this one is SUPERSEDED; its id."""
    before = (await changesets.current(change.connection, [found.id])).get(found.id)
    if before is None:
        return None
    old = before.changeset
    moved = await changesets.move(
        change.connection, old.id, old.status, ChangeSetStatus.SUPERSEDED, change.now
    )
    if not moved:
        raise lost_race(f"ChangeSet {old.id} was changed by somebody else at this moment.")
    return old.id


async def _moved(change: Change, found: WorkRow, move: Move, new: str, before: str | None) -> WorkRow:
    if move.event is not EventType.CHANGESET_REVISED:
        return await transitioned(change, found, move.after)
    change.emit(
        EventType.CHANGESET_REVISED,
        "ChangeSet",
        new,
        found.id,
        supersedes=before,
        invalidated_state=move.before.value,
        new_state=move.after.value,
    )
    return await set_status(change, found, IntentStatus.PROVISIONAL)


def _provenance(change: Change, ready: Ready, source: Source, candidate: Candidate) -> dict[str, Any]:
    agent, found, snapshot = ready.agent, ready.found, candidate.snapshot
    outside = drift(
        [*ready.scopes, *ready.claimed],
        files=candidate.files,
        symbols=candidate.symbols,
        contracts=ready.given.contracts,
    )
    return {
        "agent": agent.shown.model_dump(mode="json", include={"id", "name", "model", "capabilities"}),
        "task": {"id": found.task_id, "title": found.task},
        "intent": {
            "id": found.id,
            "summary": found.summary,
            "rationale": found.rationale,
            "scopes": [scope.model_dump(mode="json") for scope in ready.scopes],
        },
        "git": {
            "form": "pushed" if source.folder is None else "worktree",
            "worktree": source.folder or ready.given.worktree or agent.worktree,
            "branch": candidate.branch,
            "head": snapshot.head,
            "tree": snapshot.tree,
            "candidate": candidate.commit,
            "base_ref": candidate.base.commit,
            "base_resolution": candidate.base.resolution.value,
            "diff_hash": candidate.diff_hash,
            "dirty": snapshot.dirty,
            "changed_files": within(snapshot.changed, _MOST_TEXT),
            "changed_files_total": len(snapshot.changed),
            "excluded_paths": within(snapshot.excluded, _MOST_TEXT),
            "exclusion_ruleset_digest": snapshot.rules_digest,
            "symbol_inference": candidate.inference,
        },
        "scope_drift": outside.shown(),
        "declared": ready.given.provenance,
        "captured_at": change.now.isoformat(),
    }
