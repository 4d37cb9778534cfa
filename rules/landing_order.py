"""In which order queued intents may land: as queued, but never before what they go after."""

from collections.abc import Collection, Mapping, Sequence


def landing_order(queued: Sequence[str], goes_after: Mapping[str, Collection[str]]) -> list[str]:
    """The queue with each intent behind its open dependencies, else in its own order.

    One whose dependency is not in the queue is left out, and so is all that goes after it; each beginning
    of the result can therefore land by itself.
    """
    placed: dict[str, None] = {}
    left = list(queued)
    while ready := next((i for i in left if all(on in placed for on in goes_after.get(i, ()))), None):
        placed[ready] = None
        left.remove(ready)
    return list(placed)
