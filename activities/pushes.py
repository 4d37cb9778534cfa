"""Record a push: which paths it changes, and whom the intent now meets."""

from typing import NamedTuple

from temporalio import activity

from activities.answers import records_of, sight_of
from activities.change import Change, change_project
from activities.declares import pushed_places, set_places
from activities.folders import Folders
from activities.neighbours import settle
from activities.parsing.parsers import Parsers
from activities.store import Store
from activities.symbols import changed_code
from protocol.commands import Outcome, Pushed
from protocol.events import EventType
from protocol.ids import CommitId, new_id
from protocol.records import IntentRow, PushedWork
from protocol.states import Risk
from rules.git_commands import intent_ref
from rules.places import place_of
from rules.risk import risk_of, signature_sentence
from storage.git.changed import paths_of
from storage.git.content import Change as Happened
from storage.git.names import ZERO
from storage.git.patch_id import patch_id
from storage.git.repository import Repository
from storage.sql import intents, projects
from storage.sql.pool import transaction

MOST_DELETED = 1000


class Work(NamedTuple):
    """What a push does since it left the line at `base`, and the (path, symbol) places that it changes."""

    base: str
    pushed: PushedWork
    places: list[tuple[str, str]]


class Pushes:
    """Pushes to the repositories of one host."""

    def __init__(self, store: Store, folders: Folders, parsers: Parsers) -> None:
        self._store = store
        self._pool = store.pool
        self._folders = folders
        self._parsers = parsers

    @activity.defn(name="record_push")
    async def record(self, push: Pushed) -> Outcome:
        """Record that the intent's ref stands at `new`; a push that is recorded already changes nothing."""
        repository = self._folders.repository(push.project_id)
        async with transaction(self._pool) as connection:
            row = await intents.get(connection, push.intent_id)
            line = await projects.line(connection, push.project_id, row.line) if row else None
        if row is None or line is None:
            raise LookupError(f"a push came for {push.intent_id}, which is not in the record")
        work = await self._read(repository, line.head or row.base, push.new)
        async with change_project(self._store, push.project_id, row.agent_name) as change:
            row = await intents.get(change.connection, push.intent_id)
            if row is not None and row.head != push.new:
                await self._record(change, row, push, work)
                await change.flush()
            records = await records_of(change.connection, push.intent_id)
        change.wake_intents.discard(push.intent_id)
        return Outcome(sight=sight_of(records), wake_intents=sorted(change.wake_intents))

    @activity.defn(name="catch_up_push")
    async def catch_up(self, project_id: str, intent_id: str) -> Outcome | None:
        """Record a push whose gateway died between the ref and the record; None when all is recorded."""
        actual = await self._folders.repository(project_id).head(intent_ref(intent_id))
        async with transaction(self._pool) as connection:
            row = await intents.get(connection, intent_id)
        if row is None or actual is None or actual == row.head:
            return None
        push = Pushed(
            project_id=project_id,
            intent_id=intent_id,
            token_id=row.token_id,
            old=row.head or ZERO,
            new=actual,
        )
        return await self.record(push)

    async def _read(self, repository: Repository, line_head: str, head: str) -> Work:
        """What a head changes of its own: what came by merging the line is not its own."""
        start = await repository.merge_base(CommitId(line_head), CommitId(head))
        base = start or CommitId(line_head)
        changed = await repository.changed_paths(base, CommitId(head))
        code = await changed_code(self._pool, self._parsers, repository, base, CommitId(head), changed)
        pushed = PushedWork(
            paths=paths_of(changed),
            deleted=[path.path for path in changed if path.status is Happened.DELETED][:MOST_DELETED],
            signatures=[signature_sentence(path, change) for path, change in code.signatures],
            patch_id=await patch_id(repository, base, CommitId(head)),
        )
        return Work(base, pushed, code.places)

    async def _record(self, change: Change, row: IntentRow, push: Pushed, work: Work) -> None:
        await intents.add_push(
            change.connection,
            push_id=new_id("psh"),
            row=row,
            old=push.old,
            new=push.new,
            token_id=push.token_id,
            work=work.pushed,
            base=work.base,
            now=change.now,
        )
        change.emit(
            EventType.INTENT_PUSHED,
            "Intent",
            row.id,
            row.id,
            number=row.number,
            old=push.old,
            new=push.new,
            paths=len(work.pushed.paths),
        )
        row = row.model_copy(update={"head": push.new, "base": work.base})
        await set_places(change, row, "pushed", pushed_places(work.places))
        await self._weigh(change, row, work)
        await settle(change, row)

    async def _weigh(self, change: Change, row: IntentRow, work: Work) -> None:
        """Risk is computed again at each push: code may be riskier than its plan said."""
        records = await records_of(change.connection, row.id)
        declared = [place_of(item) for item in records.plan.scope.change]
        risk, reasons = risk_of(
            declared,
            change.project.settings.max_places,
            change.project.settings.people_only,
            work.pushed,
        )
        if (risk, reasons) == (row.risk, row.risk_reasons):
            return
        await intents.set_risk(change.connection, row.id, risk, reasons)
        if risk is not row.risk:
            change.emit(
                EventType.RISK_CHANGED,
                "Intent",
                row.id,
                row.id,
                risk=risk,
                reasons=reasons if risk is Risk.HIGH else [],
            )
