"""Merge two versions of a text, line by line. Lines are unique within a text, so there is only one way to compare."""

from typing import NamedTuple

from tests.storage.git.histories.model import lines


class _Hunk(NamedTuple):
    """Lines `start` up to `end` of the base have become `text`."""

    start: int
    end: int
    text: list[bytes]


def merged_lines(base: bytes, one: bytes, two: bytes) -> tuple[bytes, str | None]:
    """The merged text, and "conflict" where changes of both sides touch and differ; "unsure" if lines repeat."""
    old = lines(base)
    left, right = _hunks(old, lines(one)), _hunks(old, lines(two))
    if left is None or right is None:
        return one, "unsure"
    out: list[bytes] = []
    at = 0
    for start, end, mine, yours in _groups(left, right):
        out += old[at:start]
        one_text, two_text = _applied(old, start, end, mine), _applied(old, start, end, yours)
        if mine and yours and one_text != two_text:
            return one, "conflict"
        out += one_text if mine else two_text
        at = end
    return b"".join([*out, *old[at:]]), None


def _hunks(old: list[bytes], new: list[bytes]) -> list[_Hunk] | None:
    """What became of the base; None when a line repeats or moved."""
    places = {line: n for n, line in enumerate(old)}
    if len(places) < len(old) or len(set(new)) < len(new):
        return None
    found, start, text = [], 0, []
    for line in new:
        place = places.get(line)
        if place is None:
            text.append(line)
        elif place < start:
            return None
        else:
            if text or place > start:
                found.append(_Hunk(start, place, text))
            start, text = place + 1, []
    if text or start < len(old):
        found.append(_Hunk(start, len(old), text))
    return found


def _groups(left: list[_Hunk], right: list[_Hunk]) -> list[tuple[int, int, list[_Hunk], list[_Hunk]]]:
    """Hunks of both sides that touch, together: where they begin and end, and those of each side."""
    found: list[tuple[int, int, list[_Hunk], list[_Hunk]]] = []
    for hunk, is_left in sorted([(h, True) for h in left] + [(h, False) for h in right]):
        mine, yours = ([hunk], []) if is_left else ([], [hunk])
        if found and hunk.start <= found[-1][1]:
            start, end, before, beside = found.pop()
            found.append((start, max(end, hunk.end), before + mine, beside + yours))
        else:
            found.append((hunk.start, hunk.end, mine, yours))
    return found


def _applied(old: list[bytes], start: int, end: int, hunks: list[_Hunk]) -> list[bytes]:
    out: list[bytes] = []
    at = start
    for hunk in hunks:
        out += [*old[at : hunk.start], *hunk.text]
        at = hunk.end
    return [*out, *old[at:end]]
