"""Following a running check: what it prints, as it prints it, and the verdict at the end.

The record has the output; a ring over NATS only says that there is more. Whoever follows is asked for their right
to the project at each look, so a stream ends with the right.
"""

import asyncio
from collections.abc import AsyncGenerator
from datetime import UTC, datetime
from typing import NamedTuple

from bus.waiters import Waiters
from gateway.access import must_still_see
from gateway.reads import Reads
from protocol.live import LiveProgress, LogNews, LogPiece, Progress
from protocol.projects import Caller
from protocol.records import CheckRow
from protocol.wire import Answer
from rules.detail import check_view
from rules.kept_log import rest_of, whole_characters
from rules.progress import in_words
from storage.sql import checks, live_log
from storage.sql.live_log import LiveRow

# Rings may be lost: then the record is looked at this often.
LOOK_SEC = 10.0
PIECE_BYTES = 64 * 1024
END = "end"
"""In place of an offset: begin with what is printed from now on."""


class Heard(NamedTuple):
    """One event of a followed log; `at` is where a follower goes on after it: an offset and the try it counts in."""

    news: LogNews
    at: str
    data: Answer


Following = AsyncGenerator[Heard, None]


class _Look(NamedTuple):
    """What one look into the record showed."""

    row: CheckRow
    live: LiveRow | None
    piece: bytes
    kept: bytes


class _Place:
    """Where a follower is: `offset` bytes into the output of the try that began at `began`, in microseconds."""

    def __init__(self, at: str) -> None:
        offset, _, began = at.partition(".")
        self.at_end = at == END
        self.offset = 0 if self.at_end else int(offset)
        self.began = int(began) if began else None

    def __str__(self) -> str:
        return f"{self.offset}.{self.began}" if self.began else str(self.offset)


class LiveLogs:
    """The followed logs of this process."""

    def __init__(self, reads: Reads, waiters: Waiters) -> None:
        self._reads = reads
        self._waiters = waiters

    async def follow(self, caller: Caller, check_id: str, at: str = "0") -> Following:
        """The log from `at` on (an offset, or the `at` of a news), ended by the verdict. Refuses at any step."""
        place = _Place(at)
        project_id, intent_ids = await self._reads.check_place(caller, check_id)
        told: Progress | None = None
        with self._waiters.register(
            project_id, [check_id, *intent_ids], person_id=caller.person_id
        ) as waiter:
            while not self._waiters.stopped:
                look = await self._look(caller, check_id, place)
                if _begins_anew(place, look.live):
                    place.offset = 0
                    yield Heard(LogNews.RESTART, str(place), LogPiece(text="", offset=0))
                    continue
                if look.row.state != "running":
                    if look.row.tries > 1 and place.offset:
                        # Kept are the logs of all tries, one behind the other; heard was that of the last alone.
                        place.offset = 0
                        yield Heard(LogNews.RESTART, str(place), LogPiece(text="", offset=0))
                    for heard in self._ending(place, look):
                        yield heard
                    return
                if look.piece:
                    place.offset += len(look.piece)
                    yield Heard(LogNews.OUTPUT, str(place), _piece(look.piece, place.offset))
                progress = live_progress(look.live) if look.live else None
                if progress is not None and told != (counted := Progress(**progress.model_dump())):
                    told = counted
                    yield Heard(LogNews.PROGRESS, str(place), progress)
                if not look.piece:
                    await waiter.rung(asyncio.get_running_loop().time() + LOOK_SEC)

    async def _look(self, caller: Caller, check_id: str, place: _Place) -> _Look:
        async with self._reads.snapshot() as connection:
            row = await self._reads.seen_check(connection, caller, check_id)
            await must_still_see(connection, caller, row.project_id)
            if row.state != "running":
                return _Look(row, None, b"", await checks.log_of(connection, check_id))
            live = await live_log.live(connection, check_id)
            if live is not None and place.at_end:
                place.offset, place.at_end = live.written, False
            piece = await live_log.printed(connection, check_id, place.offset, PIECE_BYTES)
        return _Look(row, live, whole_characters(piece), b"")

    def _ending(self, place: _Place, look: _Look) -> list[Heard]:
        """The rest of the kept log, and the verdict."""
        start = len(look.kept) if place.at_end else rest_of(look.kept, place.offset)
        found = []
        while start < len(look.kept):
            piece = look.kept[start : start + PIECE_BYTES]
            # A last piece may end inside a character, as the log does.
            piece = (whole_characters(piece) if start + len(piece) < len(look.kept) else piece) or piece
            start += len(piece)
            found.append(Heard(LogNews.OUTPUT, str(start), _piece(piece, start)))
        return [*found, Heard(LogNews.END, str(start), check_view(look.row, self._reads.public_url))]


def live_progress(live: LiveRow) -> LiveProgress:
    """How far a running check is, at this moment."""
    counted = Progress(**live.progress)
    elapsed = max(0.0, round((datetime.now(UTC) - live.began_at).total_seconds(), 1))
    return LiveProgress(
        **counted.model_dump(), elapsed_sec=elapsed, bytes=live.written, said=in_words(counted, elapsed)
    )


def _begins_anew(place: _Place, live: LiveRow | None) -> bool:
    """Whether the output is another try's than the one that was followed; from here on it is this one's."""
    if live is None:
        return False
    began = round(live.began_at.timestamp() * 1_000_000)
    before, place.began = place.began, began
    return (before is not None and before != began) or place.offset > live.written


def _piece(piece: bytes, offset: int) -> LogPiece:
    return LogPiece(text=piece.decode("utf-8", "replace"), offset=offset)
