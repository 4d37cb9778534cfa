"""Keep an intent's conflicts as its places say, and hold or release whom the rules name.

Called inside the transaction of every change of places or states; compares one intent with those that an
index says it can meet.
"""

from collections.abc import Iterable, Mapping

from activities.change import Change
from protocol.events import EventType
from protocol.ids import new_id
from protocol.records import ConflictRow, IntentRow, PlaceRow
from protocol.states import State, Verdict
from rules.conflict_texts import adapt_request
from rules.order import Contender, Order, goes_first
from rules.overlap import Overlap, Reach, overlap
from rules.places import Place, ancestors, covers
from storage.sql import conflicts, intents, places

_CAN_HOLD = (State.ACTIVE, State.HELD)


def reaches_of(rows: Iterable[PlaceRow]) -> dict[str, Reach]:
    """Where each intent reaches, from its place rows."""
    change: dict[str, set[Place]] = {}
    use: dict[str, set[Place]] = {}
    for row in rows:
        (change if row.role == "change" else use).setdefault(row.intent_id, set()).add(
            Place(row.path, row.symbol)
        )
    return {
        key: Reach(frozenset(change.get(key, ())), frozenset(use.get(key, ()))) for key in {*change, *use}
    }


def _pushed(rows: Iterable[PlaceRow], intent_id: str, met: Overlap) -> bool:
    """True when this intent has pushed code into the overlap (rule R4)."""
    pushed = [Place(row.path) for row in rows if row.intent_id == intent_id and row.source == "pushed"]
    return any(
        covers(place.file, path) or covers(path, place.file) for place in met.places for path in pushed
    )


class Neighbourhood:
    """One intent and those it can meet, read once."""

    def __init__(self, change: Change, row: IntentRow) -> None:
        self._change = change
        self._row = row
        self._others: dict[str, IntentRow] = {}
        self._places: list[PlaceRow] = []
        self._open: dict[str, ConflictRow] = {}
        self._waits_on: dict[str, set[str]] = {}
        self._depends: dict[str, set[str]] = {}

    async def load(self) -> None:
        """Read the neighbours, their places, the open conflicts and who waits on whom."""
        change, row = self._change, self._row
        mine = await places.of_intents(change.connection, [row.id])
        above = sorted({path for place in mine for path in ancestors(place.path)})
        below = sorted({place.path for place in mine})
        met = (
            await places.met_by(change.connection, row.project_id, row.line, below, above, row.id)
            if mine
            else []
        )
        opened = await conflicts.open_of(change.connection, [row.id])
        self._open = {c.first_id if c.second_id == row.id else c.second_id: c for c in opened}
        wanted = sorted({*met, *self._open})
        self._others = await intents.many(change.connection, wanted) if wanted else {}
        self._places = [*mine, *(await places.of_intents(change.connection, wanted) if wanted else [])]
        if met:
            self._waits_on = await conflicts.holds_of_line(change.connection, row.project_id, row.line)
            for pair in opened:
                self._waits_on.get(pair.second_id, set()).discard(pair.first_id)
            self._depends = await conflicts.dependencies_of_line(change.connection, row.project_id, row.line)
            for waiter, first in self._depends.items():
                self._waits_on.setdefault(waiter, set()).update(first)

    async def settle(self) -> list[ConflictRow]:
        """Open, rewrite or end each conflict of the intent; returns those that are open now."""
        reaches = reaches_of(self._places)
        mine = reaches.get(self._row.id, Reach())
        shared = [Place(path) for path in self._change.project.settings.shared_files]
        found: list[ConflictRow] = []
        for other in sorted(self._others.values(), key=lambda row: row.number):
            met = None
            if not (self._row.state.final or other.state.final):
                met = overlap(mine, reaches.get(other.id, Reach()), shared)
            if met is None:
                await self._end(other.id)
            else:
                found.append(await self._keep(other, met))
        await self._hold_or_release([self._row, *self._others.values()])
        return found

    async def _keep(self, other: IntentRow, met: Overlap) -> ConflictRow:
        order, verdict = self._decide(other, met)
        known = self._open.get(other.id)
        names = {self._row.id: self._row.number, other.id: other.number}
        row = ConflictRow(
            id=known.id if known else new_id("cnf"),
            project_id=self._row.project_id,
            first_id=order.first,
            second_id=order.second,
            first_number=names[order.first],
            second_number=names[order.second],
            range=met.range,
            rule=order.rule,
            verdict=verdict,
            places=[place.text for place in met.places][:200],
            state="open",
            created_at=known.created_at if known else self._change.now,
        )
        if row == known:
            return row
        await conflicts.save(self._change.connection, row)
        if verdict is Verdict.HOLD:
            self._waits_on.setdefault(row.second_id, set()).add(row.first_id)
        self._tell(row, EventType.CONFLICT_CHANGED if known else EventType.CONFLICT_OPENED)
        await self._requests(row, known, other)
        return row

    def _decide(self, other: IntentRow, met: Overlap) -> tuple[Order, Verdict]:
        one = self._contender(self._row, met, uses=met.first_uses, after=other)
        two = self._contender(other, met, uses=met.second_uses, after=self._row)
        if met.range == 1 and met.first_uses != met.second_uses:
            # Only one of the two uses what the other changes: the user adapts, whoever came first.
            user, changer = (one, two) if met.first_uses else (two, one)
            return Order(changer.intent_id, user.intent_id, "R1a"), Verdict.ADAPT
        order = goes_first(one, two, self._waits_on)
        return order, {0: Verdict.HOLD, 1: Verdict.ADAPT}.get(met.range, Verdict.WATCH)

    def _contender(self, row: IntentRow, met: Overlap, *, uses: bool, after: IntentRow) -> Contender:
        depends = self._depends.get(row.id, set()) & {after.id}
        return Contender(
            intent_id=row.id,
            number=row.number,
            state=row.state,
            priority=row.priority,
            depends_on=frozenset(depends),
            uses_other=uses,
            pushed_into_overlap=_pushed(self._places, row.id, met),
        )

    def _tell(self, row: ConflictRow, event_type: EventType) -> None:
        for intent_id in (row.first_id, row.second_id):
            self._change.emit(
                event_type,
                "Conflict",
                row.id,
                intent_id,
                first=row.first_number,
                second=row.second_number,
                range=row.range,
                rule=row.rule,
                verdict=row.verdict,
                places=row.places[:20],
            )

    async def _requests(self, row: ConflictRow, known: ConflictRow | None, other: IntentRow) -> None:
        """Open the change request of a new `adapt`, and close those of what the conflict was before."""
        if known is not None:
            await self._close_requests(known)
        if row.verdict is Verdict.ADAPT:
            user = self._row if row.second_id == self._row.id else other
            reason, todo = adapt_request(row)
            await self._change.ask(
                user, kind="conflict", conflict_id=row.id, reason=reason, todo=todo, place=row.places[0]
            )

    async def _end(self, other_id: str) -> None:
        row = self._open.get(other_id)
        if row is None:
            return
        await conflicts.end(self._change.connection, row.id, self._change.now)
        await self._close_requests(row)
        self._tell(row, EventType.CONFLICT_ENDED)

    async def _close_requests(self, row: ConflictRow) -> None:
        for intent_id in (row.first_id, row.second_id):
            for request in await conflicts.requests_of(self._change.connection, intent_id):
                if request.conflict_id == row.id:
                    await self._change.close(request, "the two intents no longer meet there")

    async def _hold_or_release(self, rows: Iterable[IntentRow]) -> None:
        live = [row for row in rows if row.state in _CAN_HOLD]
        opened = await conflicts.open_of(self._change.connection, [row.id for row in live]) if live else []
        holders: Mapping[str, list[int]] = {
            row.id: [c.first_number for c in opened if c.second_id == row.id and c.verdict is Verdict.HOLD]
            for row in live
        }
        for row in live:
            behind = holders[row.id]
            if behind and row.state is State.ACTIVE:
                await self._change.move(row, State.HELD, waits_on=sorted(behind))
            elif not behind and row.state is State.HELD:
                await self._change.move(row, State.ACTIVE, why="released")
            else:
                continue
            self._change.wake_intents.add(row.id)


async def settle(change: Change, row: IntentRow) -> list[ConflictRow]:
    """Decide again whom `row` meets; returns its open conflicts."""
    neighbourhood = Neighbourhood(change, row)
    await neighbourhood.load()
    return await neighbourhood.settle()
