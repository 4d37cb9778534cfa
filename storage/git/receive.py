"""What a push asks for: the lines that git's receive hooks read."""

from typing import Annotated

from pydantic import BaseModel, ConfigDict, StringConstraints

from protocol.ids import Sha
from storage.git.names import ZERO, shown_path

MOST_UPDATES = 2_000


class RefUpdate(BaseModel):
    """One ref that a push moves from `old` to `new`; forty zeros stand for "absent"."""

    model_config = ConfigDict(frozen=True)

    old: Sha
    new: Sha
    ref: Annotated[str, StringConstraints(min_length=1, max_length=1_000)]

    @property
    def creates(self) -> bool:
        """Whether the ref was not there before."""
        return self.old == ZERO

    @property
    def deletes(self) -> bool:
        """Whether the ref goes away."""
        return self.new == ZERO


def parse_updates(lines: bytes) -> list[RefUpdate]:
    """Read `old new ref` lines. Raises ValueError for anything else, and for more than MOST_UPDATES lines."""
    rows = [row for row in lines.split(b"\n") if row]
    if len(rows) > MOST_UPDATES:
        raise ValueError(f"one push may move at most {MOST_UPDATES} refs: push them in several steps")
    return [_update(row) for row in rows]


def _update(row: bytes) -> RefUpdate:
    try:
        old, new, ref = row.split(b" ", 2)
        return RefUpdate.model_validate({"old": old.decode(), "new": new.decode(), "ref": shown_path(ref)})
    except ValueError:
        raise ValueError(
            f"gitring cannot read the ref update {shown_path(row[:200])!r}: rename the ref"
        ) from None
