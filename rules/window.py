"""How many queued intents one candidate takes: all of them while the line is green, half after a red one."""

from collections.abc import Sequence

from protocol.queue import QueueEntry

WIDEST = 64


def take(entries: Sequence[QueueEntry], window: int) -> list[QueueEntry]:
    """The first of the queue that one candidate takes."""
    return list(entries[:window])


def after_green(window: int) -> int:
    """Twice as many, up to the widest."""
    return min(window * 2, WIDEST)


def after_red(tested: int) -> int:
    """The first half of what was red together; never none."""
    return max(1, tested // 2)


def after_blame() -> int:
    """The one that fails is out: the rest is tried together again."""
    return WIDEST
