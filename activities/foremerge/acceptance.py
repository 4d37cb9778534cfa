"""Accept a ChangeSet, and record the commit with which it landed: Git first, then the record, the ref as the last step."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial

import asyncpg
from temporalio import activity

from activities.change import Change
from activities.exactly_once import once
from activities.folders import Folders
from activities.foremerge.frame import finish_foremerge, transitioned, work_of
from activities.foremerge.kept import (
    accepted_ref,
    earlier,
    exclusions_of,
    kept_changeset,
    name_actor,
    published,
    told,
    vanished,
)
from activities.foremerge.overrides import keep_overrides, overrides_of
from activities.foremerge.sources import Source, source_again
from activities.store import Store
from protocol.commands import Outcome
from protocol.events import EventType
from protocol.foremerge.changesets import AcceptInput
from protocol.foremerge.commands import ForemergeCommand
from protocol.foremerge.validations import ExclusionRules
from protocol.foremerge.words import IntentStatus
from protocol.ids import CommitId
from protocol.records import ProjectRow
from rules.foremerge.acceptance import (
    Accepted,
    ConflictFacts,
    DependencyFacts,
    Overrides,
    Recorded,
    Seen,
    acceptance_event,
    may_accept,
    must_still_hold,
)
from rules.foremerge.fingerprint import Snapshot
from rules.foremerge.refusing import check_failed
from rules.foremerge.stored import scope_claim
from rules.foremerge.verification import NewestRun
from storage.git.errors import StaleRef
from storage.sql import intents, projects
from storage.sql.foremerge import agents, changesets, conflicts, work
from storage.sql.foremerge.changesets import StoredChangeSet
from storage.sql.pool import transaction


@dataclass(frozen=True)
class Facts:
    """What the record says of a ChangeSet that shall be accepted, and where its project is bound to."""

    stored: StoredChangeSet
    record: Recorded
    dependencies: dict[str, StoredChangeSet]
    rules: ExclusionRules
    common_dir: str | None


class ForemergeAcceptance:
    """Acceptances in the repositories of one host."""

    def __init__(self, store: Store, folders: Folders) -> None:
        self._store = store
        self._folders = folders

    @activity.defn(name="foremerge_accept")
    async def accept(self, command: ForemergeCommand) -> Outcome:
        """`accept_changeset`."""
        return await told(self._accept(command))

    async def _accept(self, command: ForemergeCommand) -> Outcome:
        if known := await earlier(self._store.pool, command):
            return known
        given = AcceptInput.model_validate(command.given)
        overrides = overrides_of(given, command.caller, command.by_person)
        async with transaction(self._store.pool, readonly=True) as connection:
            project = await projects.find(connection, command.project_id)
            if project is None:
                raise LookupError(f"project {command.project_id} is not in the record")
            facts = await _facts(connection, command, given.changeset_id, project)
        source, as_it_was = await self._source(command.intent_id, facts.stored, facts.common_dir)
        facts = await self._with_refs(facts, source)
        must_still_hold(facts.record, overrides)
        if not as_it_was:
            raise vanished(facts.stored)
        seen = await _seen(command, given, facts, source)
        accepted = may_accept(facts.record, seen, overrides)
        commit = CommitId(str(seen.candidate))
        await source.keep(commit)
        return await once(
            self._store,
            command,
            partial(_record, facts=facts, source=source, overrides=overrides, before=accepted, commit=commit),
        )

    async def _source(
        self, intent_id: str, stored: StoredChangeSet, common_dir: str | None
    ) -> tuple[Source, bool]:
        bare = self._folders.repository(stored.project_id)
        return await source_again(bare, intent_id, common_dir, stored.worktree)

    async def _with_refs(self, facts: Facts, source: Source) -> Facts:
        """What Git says of the dependencies: where their refs stand, and whether this work contains them."""
        found = []
        for one in facts.record.dependencies:
            if one.accepted_commit is None:
                found.append(one)
                continue
            at = one.ref_commit
            if stored := facts.dependencies.get(one.intent_id):
                own, _ = await self._source(one.intent_id, stored, facts.common_dir)
                at = await own.repository.head(accepted_ref(stored.changeset.id))
            inside = await _contains(source, published(facts.stored), CommitId(one.accepted_commit))
            found.append(one._replace(ref_commit=at, is_ancestor=inside))
        record = facts.record._replace(dependencies=tuple(found))
        return Facts(facts.stored, record, facts.dependencies, facts.rules, facts.common_dir)


async def _contains(source: Source, snapshot: Snapshot, commit: CommitId) -> bool:
    """Whether what was published contains a commit, which its repository may not even have."""
    head = snapshot.head
    if head is None or not await source.repository.commit_exists(commit):
        return False
    there = await source.repository.commit_exists(CommitId(head))
    return there and await source.repository.is_ancestor(commit, CommitId(head))


async def _seen(command: ForemergeCommand, given: AcceptInput, facts: Facts, source: Source) -> Seen:
    snapshot = await source.snapshot(command.project_id, facts.rules)
    name = given.git_ref or facts.stored.changeset.git_ref
    return Seen(snapshot, await source.resolve(name) if name else snapshot.head)


async def _facts(
    connection: asyncpg.Connection, command: ForemergeCommand, changeset_id: str, project: ProjectRow
) -> Facts:
    stored = await kept_changeset(connection, command, changeset_id)
    found = await work.get(connection, command.intent_id)
    if found is None:
        raise LookupError(f"intent {command.intent_id} is not in the record")
    changeset = stored.changeset
    newest = await changesets.newest_run(connection, changeset.id)
    known = [one.conflict for one in await conflicts.of_intents(connection, [found.id])]
    accepted = await changesets.current(connection, changeset.dependencies)
    scopes = (await work.scopes_of(connection, [found.id]))[found.id]
    record = Recorded(
        changeset.id,
        changeset.status,
        found.status,
        project.settings.acceptance_policy,
        NewestRun(*newest) if newest else None,
        published(stored),
        tuple(ConflictFacts(one.id, one.severity, one.status) for one in known),
        tuple(await _dependencies(connection, project.id, changeset.dependencies, accepted)),
        tuple(map(scope_claim, scopes)),
        tuple(project.settings.person_accepts),
    )
    common_dir = await agents.bound_folder(connection, project.id)
    return Facts(stored, record, accepted, exclusions_of(project.settings), common_dir)


async def _dependencies(
    connection: asyncpg.Connection,
    project_id: str,
    wanted: Sequence[str],
    accepted: Mapping[str, StoredChangeSet],
) -> list[DependencyFacts]:
    """What the record says of the work that must be contained; of gitring's own, the commit that landed it is enough."""
    known = {one.id: one for one in await work.many(connection, wanted) if one.project_id == project_id}
    of_gitring = await intents.many(connection, [one.id for one in known.values() if one.of_gitring])
    found = []
    for intent_id in wanted:
        status = known[intent_id].status if intent_id in known else None
        if intent_id in of_gitring:
            landed = of_gitring[intent_id].merged_commit
            found.append(DependencyFacts(intent_id, status, landed, landed))
            continue
        stored = accepted.get(intent_id)
        commit = stored.changeset.accepted_commit if stored is not None else None
        found.append(DependencyFacts(intent_id, status, commit, None))
    return found


def _with_known_refs(now: Recorded, before: Recorded) -> Recorded:
    """The record as it is now, with what Git said of the same dependencies before the transaction."""
    known = {(one.intent_id, one.accepted_commit): one for one in before.dependencies}
    found = [
        one._replace(ref_commit=seen.ref_commit, is_ancestor=seen.is_ancestor)
        if (seen := known.get((one.intent_id, one.accepted_commit)))
        else one
        for one in now.dependencies
    ]
    return now._replace(dependencies=tuple(found))


async def _record(
    change: Change,
    command: ForemergeCommand,
    *,
    facts: Facts,
    source: Source,
    overrides: Overrides,
    before: Accepted,
    commit: CommitId,
) -> Outcome:
    now = await _facts(change.connection, command, facts.stored.changeset.id, change.project)
    accepted = must_still_hold(_with_known_refs(now.record, facts.record), overrides, before)
    changeset = now.stored.changeset
    found = await work_of(change, command.intent_id)
    await name_actor(change, command, changeset.agent_id)
    await keep_overrides(change, command, changeset, overrides, accepted)
    await changesets.accept(
        change.connection,
        changeset.id,
        commit=commit,
        verification=accepted.verification,
        reason=accepted.reason,
        now=change.now,
    )
    await transitioned(change, found, IntentStatus.ACCEPTED)
    ref = accepted_ref(changeset.id)
    told_of = acceptance_event(accepted, commit, ref, command.caller.person_name)
    change.emit(EventType.CHANGESET_ACCEPTED, "ChangeSet", changeset.id, found.id, **told_of)
    answer = (await kept_changeset(change.connection, command, changeset.id)).changeset
    outcome = await finish_foremerge(change, command, answer)
    # The last step before the commit: a run after a crash finds the ref where it would put it, and goes on.
    await _pin(source, ref, commit)
    return outcome


async def _pin(source: Source, ref: str, commit: CommitId) -> None:
    try:
        await source.pin(ref, commit)
    except StaleRef as there:
        raise check_failed(
            f"{ref} is there already and names another commit, {there.actual}.",
            "Somebody made it by hand: delete it, then accept again.",
        ) from None
