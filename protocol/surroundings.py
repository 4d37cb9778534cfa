"""Answers about what happens around an intent: `gitring_nearby` and `gitring_brief`."""

from datetime import datetime

from protocol.answers import BoardEntry, ChangeRequestView
from protocol.states import State, Verdict
from protocol.wire import Answer


class NearbyIntent(Answer):
    """Another live intent that meets this one: how near (`range`), where, and what the rules say of the two."""

    id: str
    number: int
    title: str
    state: State
    acts_for: str
    agent: str
    range: int
    rule: str
    verdict: Verdict
    places: list[str]
    text: str


class MergedNear(Answer):
    """An intent that landed on the line since this one began. `places` are the changed paths that meet its scope."""

    id: str
    number: int
    title: str
    commit: str | None
    merged_at: datetime
    changed: list[str]
    changed_count: int
    places: list[str]


class Nearby(Answer):
    """`gitring_nearby`: the nearest live intents, and what merged since, first what meets this one's places."""

    intent_id: str
    number: int
    project_id: str
    line: str
    base: str
    head: str | None
    intents: list[NearbyIntent]
    more_intents: bool = False
    merged: list[MergedNear]
    more_merged: bool = False
    change_requests: list[ChangeRequestView] = []
    next: str
    after_seq: int


class FolderCount(Answer):
    """How many live intents change something below one top folder."""

    folder: str
    live: int


class Landed(Answer):
    """An intent that merged on the line, with the folders its last push changed."""

    id: str
    number: int
    title: str
    commit: str | None
    merged_at: datetime
    folders: list[str]
    more_folders: int = 0


class BriefAsk(Answer):
    """An open ask of the person, cut to one line; `draft` says that `gitring_asks` holds more."""

    id: str
    text: str
    draft: bool


class Brief(Answer):
    """`gitring_brief`: the project at `seq`, in parts; a part with a cursor has more to show.

    `unchanged` stands for the whole answer when the line has not moved since the `afterSeq` given; `part` names the
    only part shown when a cursor was given. Paths and titles are cut, so that the whole stays small.
    """

    project_id: str
    project: str
    line: str
    head: str | None
    seq: int
    acting_for: str
    unchanged: bool = False
    declared_since: int | None = None
    open_asks: int = 0
    asks: list[BriefAsk] = []
    asks_cursor: str | None = None
    has_area: bool = False
    part: str | None = None
    live: list[BoardEntry] = []
    live_cursor: str | None = None
    folders: list[FolderCount] = []
    folders_cursor: str | None = None
    landed: list[Landed] = []
    landed_cursor: str | None = None
    rules: list[str] = []
    rules_cursor: str | None = None
    next: str
