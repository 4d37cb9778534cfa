"""What a conflict asks of the one that goes second, kept in the record with its change requests."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from activities.change import Change
from protocol.events import EventType
from protocol.ids import new_id
from protocol.records import ConflictRow, IntentRow, PlaceRow
from protocol.states import Mediation as Mode
from protocol.states import Verdict
from rules.conflict_texts import adapt_request, narrow_notice, narrow_request
from rules.order import Order
from rules.overlap import Overlap
from rules.places import Place, covers, meet, parse_place
from storage.sql import conflicts, places

MOST_PLACES = 200


@dataclass(frozen=True)
class Meeting:
    """A pair that meets, whoever goes first: how, where, who uses, who depends, who pushed into it."""

    key: frozenset[str]
    range: int
    places: tuple[str, ...]
    uses: frozenset[str]
    depends: frozenset[str]
    pushed: frozenset[str]
    known: ConflictRow | None
    settled: str | None = None

    @classmethod
    def of(
        cls, row: IntentRow, other: IntentRow, met: Overlap, pushed: frozenset[str], known: ConflictRow | None
    ) -> "Meeting":
        """The meeting of `row` and `other` as it is now."""
        uses = {row.id: met.first_uses, other.id: met.second_uses}
        depends = {row.id: met.first_depends, other.id: met.second_depends}
        return cls(
            key=frozenset({row.id, other.id}),
            range=met.range,
            places=tuple(place.text for place in met.places[:MOST_PLACES]),
            uses=frozenset(key for key, yes in uses.items() if yes),
            depends=frozenset(key for key, yes in depends.items() if yes),
            pushed=pushed,
            known=known,
            settled=known.settled if known else None,
        )

    @classmethod
    def standing(cls, row: ConflictRow) -> "Meeting":
        """A meeting that nothing changed, as the record has it."""
        return cls(
            key=frozenset({row.first_id, row.second_id}),
            range=row.range,
            places=tuple(row.places),
            uses=frozenset(row.uses),
            depends=frozenset(row.depends),
            pushed=frozenset(row.pushed),
            known=row,
            settled=row.settled,
        )


class Mediation:
    """Writes conflicts, and the requests that follow from them, into one change."""

    def __init__(self, change: Change) -> None:
        self._change = change
        self._declared: dict[str, list[Place]] = {}

    async def load_places(self, intent_ids: Sequence[str]) -> None:
        """Where each of these declared to change: narrowing asks what lies elsewhere."""
        if self._change.mode is not Mode.NARROW:
            return
        rows: list[PlaceRow] = await places.of_intents(self._change.connection, intent_ids)
        for row in rows:
            if row.role == "change" and row.source == "declared":
                self._declared.setdefault(row.intent_id, []).append(Place(row.path, row.symbol))

    async def keep(self, meeting: Meeting, order: Order | None, rows: Mapping[str, IntentRow]) -> ConflictRow:
        """Open the conflict, or rewrite what it says; nothing is written when nothing changed."""
        first, second, rule = self._sides(meeting, order, rows)
        known = meeting.known
        row = ConflictRow(
            id=known.id if known else new_id("cnf"),
            project_id=self._change.project.id,
            first_id=first.id,
            second_id=second.id,
            first_number=first.number,
            second_number=second.number,
            range=meeting.range,
            rule=rule,
            verdict=self._verdict(meeting, second),
            places=list(meeting.places),
            uses=sorted(meeting.uses),
            depends=sorted(meeting.depends),
            pushed=sorted(meeting.pushed),
            settled=meeting.settled,
            state="open",
            created_at=known.created_at if known else self._change.now,
        )
        if row == known:
            return row
        await conflicts.save(self._change.connection, row)
        if known is None or _asks(row) != _asks(known):
            self._tell(row, EventType.CONFLICT_CHANGED if known else EventType.CONFLICT_OPENED)
            await self._requests(row, known, first, second)
        return row

    def _sides(
        self, meeting: Meeting, order: Order | None, rows: Mapping[str, IntentRow]
    ) -> tuple[IntentRow, IntentRow, str]:
        if meeting.range == 1 and len(meeting.uses) == 1:
            # Only one of the two uses what the other changes: the user adapts, whoever came first.
            (user,) = meeting.uses
            (changer,) = meeting.key - {user}
            return rows[changer], rows[user], "R1a"
        if order is not None:
            return rows[order.first], rows[order.second], order.rule
        first, second = sorted((rows[key] for key in meeting.key), key=lambda row: row.number)
        return first, second, "R5"

    def _verdict(self, meeting: Meeting, second: IntentRow) -> Verdict:
        if second.landing == "external" and meeting.range <= 2:
            # Another face's work: nobody there would wait or answer. It is told of the meeting by that face's rules.
            return Verdict.WATCH
        if meeting.range == 1:
            return Verdict.ADAPT
        if meeting.range > 1:
            return Verdict.WATCH if meeting.range == 2 else Verdict.SHOWN
        return Verdict.NARROW if self._can_narrow(meeting, second) else Verdict.HOLD

    def _can_narrow(self, meeting: Meeting, second: IntentRow) -> bool:
        """Part of its scope lies elsewhere, and it has pushed nothing into the overlap."""
        if self._change.mode is not Mode.NARROW or second.id in meeting.pushed:
            return False
        met = [parse_place(text) for text in meeting.places]
        elsewhere = (p for p in self._declared.get(second.id, ()) if not any(covers(q, p) for q in met))
        return any(True for _ in elsewhere)

    async def end(self, row: ConflictRow) -> None:
        """End a conflict: the two no longer meet, or one of them is final."""
        await conflicts.end(self._change.connection, row.id, self._change.now)
        await self._close_requests(row, "the two intents no longer meet there")
        self._tell(row, EventType.CONFLICT_ENDED)

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

    async def _requests(
        self, row: ConflictRow, known: ConflictRow | None, first: IntentRow, second: IntentRow
    ) -> None:
        """The requests of what the conflict asks now, in place of those of what it asked before."""
        if known is not None:
            await self._close_requests(known, "the conflict changed")
        if row.verdict is Verdict.ADAPT:
            used = await self._used(row, second)
            reason, todo = adapt_request(row, used)
            await self._ask(second, row, reason, todo, place=used[0])
        elif row.verdict is Verdict.NARROW:
            await self._ask(second, row, *narrow_request(row))
            reason, todo = narrow_notice(row)
            await self._ask(first, row, reason, todo, kind="notice", blocking=False)

    async def _used(self, row: ConflictRow, user: IntentRow) -> list[str]:
        """The places of the conflict that `user` uses: not all of them where each uses what the other changes."""
        if len(row.uses) < 2:
            return row.places
        found: list[PlaceRow] = await places.of_intents(self._change.connection, [user.id])
        uses = [Place(one.path, one.symbol) for one in found if one.role == "use"]
        return [text for text in row.places if any(meet(parse_place(text), use) for use in uses)]

    async def _ask(
        self, row: IntentRow, conflict: ConflictRow, reason: str, todo: str, **more: object
    ) -> None:
        fields = {"kind": "conflict", **more}
        await self._change.ask(row, conflict_id=conflict.id, reason=reason, todo=todo, **fields)

    async def _close_requests(self, row: ConflictRow, how: str) -> None:
        for intent_id in (row.first_id, row.second_id):
            for request in await conflicts.requests_of(self._change.connection, intent_id):
                if request.conflict_id == row.id:
                    await self._change.close(request, how)


def _asks(row: ConflictRow) -> tuple[object, ...]:
    """What of a conflict its parties must hear of: not who pushed what into it."""
    return row.first_id, row.range, row.rule, row.verdict, tuple(row.places)
