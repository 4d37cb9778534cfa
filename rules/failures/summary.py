"""The one line that says how a run ended, in our words, with the project's words quoted behind a colon."""

from protocol.checks import CheckState, TestFailure
from rules.failures.text import one_line

MAX_SUMMARY = 1_000
MAX_QUOTED_LINE = 300

_NOT_EXECUTABLE, _NOT_FOUND = 126, 127


def summary(
    name: str,
    state: CheckState,
    *,
    exit_code: int | None = None,
    signal: str | None = None,
    timed_out_after: int | None = None,
    over: str = "",
    failure: TestFailure | None = None,
    last_line: str = "",
    reason: str = "",
) -> str:
    """One line of at most 1,000 characters. `timed_out_after` is seconds; `reason` says why a run could not start.

    `over` is the limit that ended the run, in words.
    """
    subject = "tests" if name in ("test", "tests") else name
    detail = told(failure) if failure else last_line
    match state:
        case CheckState.PASSED:
            text = f"{subject} passed"
        case CheckState.RUNNING:
            text = f"{subject} running"
        case CheckState.SKIPPED:
            text = "No tests ran: no test command is set for this project, so a person approves the merge."
        case CheckState.CANCELLED:
            text = (
                f"{subject} stopped before they ended"
                if subject == "tests"
                else f"{subject} stopped before it ended"
            )
        case CheckState.ERROR:
            text = _with(f"{subject} could not run{_how(exit_code, signal)}", reason or last_line)
        case CheckState.FAILED if over:
            text = _with(f"{subject} failed (stopped: it used more than {over}, the check's limit)", detail)
        case CheckState.FAILED if timed_out_after is not None:
            text = _with(f"{subject} failed (stopped after {timed_out_after} s, the time limit)", detail)
        case CheckState.FAILED:
            text = _with(f"{subject} failed{_how(exit_code, signal)}", detail)
    return one_line(text, MAX_SUMMARY)


def told(failure: TestFailure) -> str:
    """A failing test with what it expected and got, or with its message where the output has no values."""
    values = [
        f"{word} {value}"
        for word, value in (("expected", failure.expected), ("actual", failure.actual))
        if value is not None
    ]
    detail = ", ".join(values) or failure.message or ""
    return f"{failure.test}: {detail}" if detail else failure.test


def _how(exit_code: int | None, signal: str | None) -> str:
    if signal is not None:
        return f" (killed by {signal})"
    if exit_code == _NOT_EXECUTABLE:
        return " (exited 126: the command is not executable)"
    if exit_code == _NOT_FOUND:
        return " (exited 127: no such command)"
    return f" (exited {exit_code})" if exit_code is not None else ""


def _with(text: str, detail: str) -> str:
    return f"{text}: {one_line(detail, MAX_SUMMARY)}" if detail else text
