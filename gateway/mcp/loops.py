"""Notices an agent that asks for an intent's status again and again instead of waiting for news.

Kept in this process alone and forgotten with it: with several gateways an agent is told a little later.
"""

import time
from collections import OrderedDict, deque
from collections.abc import Callable

from protocol.answers import IntentDetail
from protocol.projects import Caller

MOST_LOOKS = 3
WITHIN_SEC = 60.0
MOST_KEPT = 5_000

# Both move with every event of the project, whoever it is about.
_NOT_NEWS = {"after_seq", "next"}


class _Looks:
    """When one token saw the same answer about one intent."""

    __slots__ = ("answer", "times")

    def __init__(self, answer: int) -> None:
        self.answer = answer
        self.times: deque[float] = deque(maxlen=MOST_LOOKS)


class StatusLoops:
    """The last looks of each token at each intent, the newest 5,000 of them."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._kept: OrderedDict[tuple[str, str], _Looks] = OrderedDict()

    def looked(self, caller: Caller, answer: IntentDetail) -> bool:
        """Note one look; True when the same answer was given three times already within the last minute."""
        key = (caller.token_id, answer.intent.id)
        shown = hash(answer.model_dump_json(exclude=_NOT_NEWS))
        looks = self._kept.pop(key, None)
        if looks is None or looks.answer != shown:
            looks = _Looks(shown)
        now = self._clock()
        again = len(looks.times) == MOST_LOOKS and now - looks.times[0] < WITHIN_SEC
        looks.times.append(now)
        self._kept[key] = looks
        if len(self._kept) > MOST_KEPT:
            self._kept.popitem(last=False)
        return again
