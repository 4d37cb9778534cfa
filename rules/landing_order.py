"""In which order queued intents may land: as queued, but never before what they go after."""

from collections.abc import Collection, Iterable, Mapping, Sequence

from protocol.queue import QueueEntry


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


def without(entries: Iterable[QueueEntry], left_out: Collection[str]) -> list[QueueEntry]:
    """The entries but for those left out, and for all that goes after one of them."""
    missing = set(left_out)
    kept = []
    for entry in entries:
        if entry.intent_id in missing or missing.intersection(entry.goes_after):
            missing.add(entry.intent_id)
        else:
            kept.append(entry)
    return kept


def who_meets(
    pairs: Iterable[tuple[str, str]],
    changed: Mapping[str, Collection[str]],
    imports: Mapping[str, Collection[str]],
) -> dict[str, set[str]]:
    """Which queued intents meet which: by a conflict of any range, or because one's file imports the other's.

    `changed` holds the files of each intent, `imports` the files that a file imports.
    """
    meets: dict[str, set[str]] = {}
    by_file: dict[str, set[str]] = {}
    for intent_id, paths in changed.items():
        for path in paths:
            by_file.setdefault(path, set()).add(intent_id)
    found = set(pairs)
    for path, targets in imports.items():
        for target in targets:
            found |= {(one, other) for one in by_file.get(path, ()) for other in by_file.get(target, ())}
    for one, other in found:
        if one != other:
            meets.setdefault(one, set()).add(other)
            meets.setdefault(other, set()).add(one)
    return meets
