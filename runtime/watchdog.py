"""A watchdog that speaks: what stands still though it should move is told once, healed where a wake heals it, and told
again when it ends.

Every worker has one; they share a seat, and whoever sits in it looks. The rule is `rules/watch.py`'s, the words too.
"""

import asyncio
from collections.abc import Collection, Mapping, Sequence
from datetime import UTC, datetime, timedelta

import asyncpg
import structlog
from temporalio.service import RPCError

from activities.change import Change, change_project
from activities.store import Store
from protocol.events import EventType
from protocol.ids import new_id
from protocol.watch import Finding, OpenFinding, WatchFacts, WatchKind
from rules.watch import LEFT, findings
from runtime.watch_engine import Engines
from runtime.watch_heals import Heals
from storage.sql import watch, watch_facts
from storage.sql.pool import OutcomeUnknown, RecordBusy, transaction

EVERY_SEC = 10.0
# One round may be missed before another worker takes the seat.
SEAT_SEC = 2.5 * EVERY_SEC
# What a wake did not set right in a minute it may set right later, after what broke it was mended.
HEAL_AGAIN = timedelta(seconds=60)
# A project's lock is held meanwhile; the rest is told in the next rounds.
MOST_TOLD = 50
_TROUBLE = (RecordBusy, OutcomeUnknown, RPCError, OSError, asyncpg.PostgresError)

_log = structlog.get_logger("runtime.watchdog")


class Watchdog:
    """The watchdog of one worker. `once` is one look, whether or not the seat is free."""

    def __init__(self, store: Store, engines: Engines, host: str) -> None:
        self._store = store
        self._pool = store.pool
        self._engines = engines
        self._heals = Heals(store, engines)
        self._host = host
        self._holder = new_id("wdg")

    async def run(self) -> None:
        """Look every few seconds, for as long as the seat is ours; until cancelled."""
        try:
            while True:
                try:
                    if await self._sit_down():
                        await self.once()
                except _TROUBLE as problem:
                    _log.warning("watchdog.put_off", problem=f"{type(problem).__name__} {problem}")
                except Exception:
                    # A defect here must not stop the work that is watched: it is told, and the watchdog's age shows it.
                    _log.exception("watchdog.failed")
                await asyncio.sleep(EVERY_SEC)
        finally:
            await self._leave()

    async def _sit_down(self) -> bool:
        async with transaction(self._pool) as connection:
            await watch.hear(connection, self._host)
            return await watch.take_seat(connection, self._holder, SEAT_SEC)

    async def _leave(self) -> None:
        try:
            async with transaction(self._pool) as connection:
                await watch.leave_seat(connection, self._holder)
        except _TROUBLE as problem:
            # It is free by itself a little later.
            _log.warning("watchdog.seat_kept", problem=f"{type(problem).__name__} {problem}")

    async def once(self) -> list[Finding]:
        """One whole look: tell what is new, tell what ended, heal what can be healed. Returns all that is found."""
        found = findings(await self._look())
        async with transaction(self._pool, readonly=True) as connection:
            known = await watch.all_open(connection)
        # While the engine does not answer, nothing is known of workflows: what was missing is not taken for mended.
        unsure = () if self._engines.answered else (WatchKind.WORKFLOW_MISSING,)
        await self._tell(found, known, unsure)
        await self._heal(found)
        async with transaction(self._pool) as connection:
            await watch.looked(connection)
        return found

    async def _look(self) -> WatchFacts:
        async with transaction(self._pool, isolation="repeatable_read", readonly=True) as connection:
            now: datetime = await connection.fetchval("SELECT now()")
            lines = await watch_facts.lines(connection, now)
            facts = WatchFacts(
                now=now,
                checks=await watch_facts.checks(connection),
                stands=await watch_facts.stands(connection),
                lives=await watch_facts.lives(connection, now, now - LEFT),
                heard=await watch_facts.heard(connection),
            )
            live = await watch_facts.live_ids(connection, now - self._engines.FRESH)
        lost = await self._engines.lost_intents(live)
        if lost:
            async with transaction(self._pool, readonly=True) as connection:
                missing = await watch_facts.without_workflow(connection, lost)
            facts = facts.model_copy(update={"lost": missing})
        return facts.model_copy(update={"lines": await self._engines.with_workflows(lines)})

    async def _tell(
        self, found: Sequence[Finding], known: Sequence[OpenFinding], unsure: Collection[WatchKind]
    ) -> None:
        now_found = {_key(one) for one in found}
        before = {_key(one) for one in known}
        opened = [one for one in found if _key(one) not in before]
        ended = [one for one in known if _key(one) not in now_found and one.kind not in unsure]
        touched = {one.project_id for one in opened} | {one.project_id for one in ended}
        for project_id in sorted(touched):
            async with change_project(self._store, project_id) as change:
                for raised in [one for one in opened if one.project_id == project_id][:MOST_TOLD]:
                    await _raise(change, raised)
                for cleared in [one for one in ended if one.project_id == project_id][:MOST_TOLD]:
                    await _clear(change, cleared)

    async def _heal(self, found: Sequence[Finding]) -> None:
        async with transaction(self._pool, readonly=True) as connection:
            known: Mapping[tuple[str, str, str], OpenFinding] = {
                _key(one): one for one in await watch.all_open(connection)
            }
        now = datetime.now(UTC)
        for one in found:
            row = known.get(_key(one))
            if row is None or one.heal is None:
                continue
            if row.healed_at is not None and now - row.healed_at < HEAL_AGAIN:
                continue
            async with transaction(self._pool) as connection:
                await watch.note_heal(connection, row.id, now)
            _log.info("watchdog.heals", kind=one.kind, subject=one.subject, how=one.heal)
            await self._heals.heal(one)


def _key(one: Finding | OpenFinding) -> tuple[str, str, str]:
    return (one.project_id, one.kind, one.subject)


async def _raise(change: Change, found: Finding) -> None:
    finding_id = new_id("wat")
    if not await watch.open_one(change.connection, finding_id, found, change.now):
        return
    _log.warning("watchdog.raised", kind=found.kind, subject=found.subject, said=found.said)
    change.emit(
        EventType.WATCH_RAISED,
        "Watch",
        finding_id,
        found.intent_id,
        kind=found.kind,
        line=found.line,
        number=found.number,
        check_id=found.check_id,
        since=found.since.isoformat(),
        said=found.said,
    )


async def _clear(change: Change, known: OpenFinding) -> None:
    if not await watch.close_one(change.connection, known.id, change.now):
        return
    _log.info("watchdog.cleared", kind=known.kind, subject=known.subject)
    change.emit(
        EventType.WATCH_CLEARED,
        "Watch",
        known.id,
        known.intent_id,
        kind=known.kind,
        line=known.line,
        number=known.number,
        said=known.said,
        heals=known.heals,
    )
