"""Keep an intent's conflicts as its places say, decide their order, and hold or release whom the rules name.

Called inside the transaction of every change of places or states. An index says whom one intent can meet;
the order is then decided for all conflicts that hang together, because one verdict may turn another.
"""

from collections.abc import Sequence
from typing import NamedTuple

from activities.change import Change
from activities.mediation import Mediation, Meeting
from protocol.records import ConflictRow, IntentRow, PlaceRow
from protocol.states import State
from rules.order import Contender, Pair, decide, decide_last
from rules.overlap import Overlap, Reach, overlap
from rules.places import Place, ancestors, covers
from storage.sql import conflicts, intents, places

_CAN_HOLD = (State.ACTIVE, State.HELD)


def reaches_of(rows: Sequence[PlaceRow]) -> dict[str, Reach]:
    """Where each intent reaches, from its place rows."""
    change: dict[str, set[Place]] = {}
    use: dict[str, set[Place]] = {}
    for row in rows:
        side = change if row.role == "change" else use
        side.setdefault(row.intent_id, set()).add(Place(row.path, row.symbol))
    both = {*change, *use}
    return {key: Reach(frozenset(change.get(key, ())), frozenset(use.get(key, ()))) for key in both}


def pushed_into(rows: Sequence[PlaceRow], intent_id: str, met: Overlap) -> bool:
    """True when this intent has pushed code into the overlap (rule R4)."""
    pushed = [
        Place(row.path, row.symbol) for row in rows if row.intent_id == intent_id and row.source == "pushed"
    ]
    return any(covers(place, path) or covers(path, place) for place in met.places for path in pushed)


async def settle(change: Change, row: IntentRow) -> list[ConflictRow]:
    """Decide again whom `row` meets and who goes first; returns its open conflicts."""
    around = await _around(change, row)
    if not around.touched:
        return []
    last = await _decide_last(change, row, around)
    if last is not None:
        parted = around.touched - _ids(last)
        await hold_or_release(change, sorted({row.id, *parted}), row)
        return last
    open_now = await _decide(change, row, around)
    await hold_or_release(change, sorted({row.id, *around.touched, *_ids(open_now)}), row)
    return [c for c in open_now if row.id in (c.first_id, c.second_id)]


def _ids(rows: Sequence[ConflictRow]) -> set[str]:
    return {intent_id for c in rows for intent_id in (c.first_id, c.second_id)}


class _Around(NamedTuple):
    """Whom an intent meets now; everyone whose pair with it began, stands or ended; whether it led any of them."""

    meetings: list[Meeting]
    touched: set[str]
    led: bool


async def _around(change: Change, row: IntentRow) -> _Around:
    """Read who stands around `row`, and end what no longer meets."""
    connection = change.connection
    mine = await places.of_intents(connection, [row.id])
    below = sorted({place.path for place in mine})
    above = sorted({path for place in mine for path in ancestors(place.path)})
    met = await places.met_by(connection, row.project_id, row.line, below, above, row.id) if mine else []
    opened = await conflicts.open_of(connection, [row.id])
    known = {c.first_id if c.second_id == row.id else c.second_id: c for c in opened}
    wanted = sorted({*met, *known})
    if not wanted:
        return _Around([], set(), False)
    others = await intents.many(connection, wanted)
    rows = [*mine, *await places.of_intents(connection, wanted)]
    reaches = reaches_of(rows)
    shared = [Place(path) for path in change.project.settings.shared_files]
    found: list[Meeting] = []
    for other in others.values():
        meets = None
        if not (row.state.final or other.state.final):
            meets = overlap(reaches.get(row.id, Reach()), reaches.get(other.id, Reach()), shared)
        if meets is None:
            if other.id in known:
                await Mediation(change).end(known[other.id])
        else:
            pushed = frozenset(i for i in (row.id, other.id) if pushed_into(rows, i, meets))
            found.append(Meeting.of(row, other, meets, pushed, known.get(other.id)))
    return _Around(found, set(wanted), any(c.first_id == row.id for c in opened))


async def _decide_last(change: Change, row: IntentRow, around: _Around) -> list[ConflictRow] | None:
    """The conflicts of an intent that led nobody and goes after all whom it meets, as most do when declared."""
    if around.led:
        return None
    ids = sorted({row.id, *(intent_id for meeting in around.meetings for intent_id in meeting.key)})
    rows = {**await intents.many(change.connection, ids), row.id: row}
    after = await conflicts.dependencies_of_line(change.connection, row.project_id, row.line)
    contenders = {key: _contender(rows.get(key), key, after) for key in {*ids, *after}}
    pairs = [_pair(meeting) for meeting in around.meetings if meeting.range <= 1]
    orders = decide_last(contenders, row.id, pairs)
    if orders is None:
        return None
    mediation = Mediation(change)
    await mediation.load_places(ids)
    return [await mediation.keep(meeting, orders.get(meeting.key), rows) for meeting in around.meetings]


async def _decide(change: Change, row: IntentRow, around: _Around) -> list[ConflictRow]:
    """Order every pair that hangs together with `row`, and write what changed."""
    meetings, touched = around.meetings, around.touched
    together = await conflicts.hanging_together(change.connection, sorted({row.id, *touched}))
    fresh = {meeting.key for meeting in meetings}
    standing = [Meeting.standing(c) for c in together if frozenset({c.first_id, c.second_id}) not in fresh]
    pairs = [*meetings, *standing]
    if not pairs:
        return []
    ids = sorted({intent_id for pair in pairs for intent_id in pair.key})
    rows = {**await intents.many(change.connection, ids), row.id: row}
    after = await conflicts.dependencies_of_line(change.connection, row.project_id, row.line)
    contenders = {key: _contender(rows.get(key), key, after) for key in {*ids, *after}}
    ordered = [pair for pair in pairs if pair.range <= 1]
    orders = decide(contenders, [_pair(meeting) for meeting in ordered])
    mediation = Mediation(change)
    await mediation.load_places(ids)
    return [await mediation.keep(pair, orders.get(pair.key), rows) for pair in pairs]


def _pair(meeting: Meeting) -> Pair:
    one, other = sorted(meeting.key)
    return Pair(one, other, meeting.depends, meeting.pushed, meeting.settled)


def _contender(row: IntentRow | None, intent_id: str, after: dict[str, set[str]]) -> Contender:
    depends_on = frozenset(after.get(intent_id, ()))
    if row is None:  # stands between two others by `dependsOn` alone
        return Contender(intent_id, 0, depends_on=depends_on)
    return Contender(row.id, row.number, row.state, row.priority, depends_on)


async def hold_or_release(change: Change, intent_ids: Sequence[str], row: IntentRow) -> None:
    """Active becomes Held and Held Active, as the open conflicts say; each is woken."""
    rows = {**await intents.many(change.connection, intent_ids), row.id: row}
    live = [found for found in rows.values() if found.state in _CAN_HOLD and found.landing != "external"]
    holders = await conflicts.holders_of(change.connection, [found.id for found in live]) if live else {}
    for found in sorted(live, key=lambda found: found.number):
        behind = holders.get(found.id)
        if behind and found.state is State.ACTIVE:
            await change.move(found, State.HELD, waits_on=behind)
        elif not behind and found.state is State.HELD:
            await change.move(found, State.ACTIVE, why="released")
        else:
            continue
        change.wake_intents.add(found.id)
