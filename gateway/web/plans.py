"""The versions of a plan, each with what it changed against the one before."""

from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher
from typing import NamedTuple

from protocol.records import PlanRow
from protocol.scopes import ScopeItem


class PlanLine(NamedTuple):
    """A line of a plan: `add`, `del` or `same`."""

    kind: str
    text: str


class PlanVersion(NamedTuple):
    """One version; `lines` is empty for the first, which has nothing to be compared with."""

    plan: PlanRow
    lines: list[PlanLine]


def versions(plans: Sequence[PlanRow]) -> list[PlanVersion]:
    """`plans`, the newest first as the record gives them, with their differences."""
    older: list[PlanRow | None] = [*plans[1:], None]
    return [
        PlanVersion(plan, [] if before is None else list(_difference(before, plan)))
        for plan, before in zip(plans, older, strict=True)
    ]


def compared(plans: Sequence[PlanRow], old: int | None, new: int | None) -> PlanVersion | None:
    """Any two versions, with what the second changed; None unless both are among `plans` and differ."""
    known = {plan.version: plan for plan in plans}
    one, two = known.get(old or 0), known.get(new or 0)
    if one is None or two is None or one is two:
        return None
    return PlanVersion(two, list(_difference(one, two)))


def _difference(old: PlanRow, new: PlanRow) -> Iterator[PlanLine]:
    """Steps are compared in their order; all else, which an agent may fill without end, in linear time."""
    yield from _whole(old.summary, new.summary)
    yield from _ordered(old.steps, new.steps)
    yield from _sets("changes", _places(old.scope.change), _places(new.scope.change))
    yield from _sets("uses", _places(old.scope.use), _places(new.scope.use))
    yield from _sets("check", old.checks, new.checks)


def _whole(old: str, new: str) -> Iterator[PlanLine]:
    if old == new:
        yield PlanLine("same", new)
    else:
        yield from (PlanLine("del", old), PlanLine("add", new))


def _ordered(old: Sequence[str], new: Sequence[str]) -> Iterator[PlanLine]:
    for what, a, b, c, d in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if what == "equal":
            yield from (PlanLine("same", f"step: {text}") for text in old[a:b])
        else:
            yield from (PlanLine("del", f"step: {text}") for text in old[a:b])
            yield from (PlanLine("add", f"step: {text}") for text in new[c:d])


def _sets(word: str, old: Sequence[str], new: Sequence[str]) -> Iterator[PlanLine]:
    gone, there = set(old) - set(new), set(old)
    yield from (PlanLine("del", f"{word}: {text}") for text in dict.fromkeys(old) if text in gone)
    for text in dict.fromkeys(new):
        yield PlanLine("same" if text in there else "add", f"{word}: {text}")


def _places(items: Sequence[ScopeItem]) -> list[str]:
    return [item.text for item in items]
