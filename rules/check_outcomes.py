"""What the runs of a tree's checks mean together, and the words for one that was tried again or could not begin."""

from collections.abc import Sequence

from protocol.checks import CheckDefinition, CheckState
from protocol.queue import CheckOutcome, CheckRunOutcome
from rules.failures.text import one_line

_LONGEST = 1_000
_NAMED = 8


def unmet_need(definition: CheckDefinition, done: Sequence[CheckRunOutcome]) -> str | None:
    """Why a check does not begin, given how those it needs ended; None when it may."""
    for need in done:
        if need.state != CheckState.PASSED:
            return f"{definition.name} was not run: it needs {need.name}, which {_ended(need.state)}."
    return None


def _ended(state: str) -> str:
    words = {
        CheckState.FAILED: "failed",
        CheckState.ERROR: "could not run",
        CheckState.SKIPPED: "was not run",
    }
    return words.get(CheckState(state), "did not end")


def tried(summary: str, state: CheckState, tries: int, flaky: Sequence[str]) -> str:
    """The summary of a run that took several tries; only the last of them can end otherwise than red."""
    if tries == 1:
        return summary
    words = {
        CheckState.PASSED: f" on try {tries}; flaky: {', '.join(flaky[:_NAMED])}",
        CheckState.FAILED: f" (on each of {tries} tries)",
    }
    return one_line(summary + words.get(state, f" (on try {tries})"), _LONGEST)


def failing(runs: Sequence[CheckRunOutcome]) -> list[CheckRunOutcome]:
    """The runs that keep a tree from landing, in the order of the definition: those that failed before errors."""
    failed = [run for run in runs if run.state == CheckState.FAILED]
    return failed + [run for run in runs if run.state == CheckState.ERROR]


def outcome_of(runs: Sequence[CheckRunOutcome]) -> CheckOutcome:
    """The verdict on a tree. The first failing check speaks for all; an error counts only when none failed."""
    bad = failing(runs)
    told = bad[0] if bad else runs[0]
    summary = told.summary
    if len(bad) > 1:
        others = ", ".join(run.name for run in bad[1 : _NAMED + 1])
        summary = one_line(f"{summary} (also: {others})", _LONGEST)
    elif not bad and len(runs) > 1:
        summary = one_line(f"{len(runs)} checks passed{_flaky(runs)}", _LONGEST)
    return CheckOutcome(
        check_id=told.check_id,
        state=told.state,
        summary=summary,
        failure=told.failure,
        reused=all(run.reused for run in (bad or runs)),
        runs=list(runs),
    )


def _flaky(runs: Sequence[CheckRunOutcome]) -> str:
    found = [f"{run.name} on try {run.tries}" for run in runs if run.flaky]
    return f" ({', '.join(found)})" if found else ""
