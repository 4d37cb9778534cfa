"""The versions of a plan, each with what it changed against the one before."""

from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher
from typing import NamedTuple

from protocol.records import PlanRow


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
        PlanVersion(plan, [] if before is None else list(_difference(_lines(before), _lines(plan))))
        for plan, before in zip(plans, older, strict=True)
    ]


def _lines(plan: PlanRow) -> list[str]:
    return [
        *plan.summary.splitlines(),
        *(f"step: {step}" for step in plan.steps),
        *(f"changes: {item.text}" for item in plan.scope.change),
        *(f"uses: {item.text}" for item in plan.scope.use),
        *(f"check: {check}" for check in plan.checks),
    ]


def _difference(old: Sequence[str], new: Sequence[str]) -> Iterator[PlanLine]:
    for what, a, b, c, d in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if what == "equal":
            yield from (PlanLine("same", text) for text in old[a:b])
        else:
            yield from (PlanLine("del", text) for text in old[a:b])
            yield from (PlanLine("add", text) for text in new[c:d])
