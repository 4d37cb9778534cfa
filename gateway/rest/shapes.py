"""Answers only REST gives: lists with room for more fields."""

from protocol.answers import IntentView
from protocol.events import Event
from protocol.projects import TokenInfo
from protocol.wire import Answer


class IntentList(Answer):
    """`GET /projects/{id}/intents`, newest first."""

    intents: list[IntentView]


class TokenList(Answer):
    """`GET /tokens`, without secrets."""

    tokens: list[TokenInfo]


class EventPage(Answer):
    """`GET /projects/{id}/events`, oldest first; ask again with `afterSeq` for what follows."""

    events: list[Event]
    after_seq: int
