"""Reads the output of test tools: which test failed first, what it expected and what it got. Pure, and never raises on output."""

from collections.abc import Callable, Sequence

from protocol.checks import TestFailure
from rules.failures import go, jest, junit, node_spec, pytest_output, tap, unittest_output
from rules.failures.found import Found, Lines
from rules.failures.summary import MAX_QUOTED_LINE, summary, told
from rules.failures.text import clean_lines, one_line

__all__ = ["MAX_REPORTS", "first_failure", "last_lines", "summary", "told"]

MAX_REPORTS = 50

_READERS: tuple[Callable[[Lines], Found | None], ...] = (
    tap.find,
    node_spec.find,
    pytest_output.find,
    unittest_output.find,
    go.find,
    jest.find_jest,
    jest.find_vitest,
    jest.find_mocha,
)


def first_failure(output: bytes, junit_reports: Sequence[bytes] = (), root: str = "") -> TestFailure | None:
    """The failing test that `output` tells of first; else that of the first JUnit XML report that has one; else None.

    Only the two ends of a long output are read. Paths below `root`, the checkout's folder, are shown from there.
    """
    lines = clean_lines(output)
    found = [find for reader in _READERS if (find := reader(lines)) is not None]
    if found:
        return _from_root(min(found, key=lambda find: find.at).failure, root)
    for report in junit_reports[:MAX_REPORTS]:
        failure = junit.find_in(report)
        if failure is not None:
            return _from_root(failure, root)
    return None


def last_lines(output: bytes, count: int = 20) -> list[str]:
    """The last lines of `output` that are not empty, each a bounded line without escapes or control characters."""
    shown = [text for line in clean_lines(output) if (text := one_line(line, MAX_QUOTED_LINE))]
    return shown[-count:] if count > 0 else []


def _from_root(failure: TestFailure, root: str) -> TestFailure:
    prefix = root.rstrip("/") + "/"
    if not root or failure.file is None or not failure.file.startswith(prefix):
        return failure
    return failure.model_copy(update={"file": failure.file.removeprefix(prefix) or None})
