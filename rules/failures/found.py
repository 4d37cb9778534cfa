"""The common answer of every reader: where in the output a failing test stands, and what is known about it."""

from collections.abc import Sequence
from typing import NamedTuple

from protocol.checks import TestFailure
from rules.failures.text import one_line

MAX_TEST = 300
MAX_VALUE = 500
MAX_MESSAGE = 500
MAX_FILE = 300
MAX_LINE_NUMBER = 10_000_000

Lines = Sequence[str]


class Values(NamedTuple):
    """What a failed comparison wanted and what it got, in the tool's own notation."""

    expected: str | None = None
    actual: str | None = None

    def known(self) -> bool:
        """Whether at least one side was found."""
        return self.expected is not None or self.actual is not None


class Place(NamedTuple):
    """A file and a line in it; either may be unknown."""

    file: str | None = None
    line: int | None = None


NO_VALUES = Values()
NO_PLACE = Place()


class Found(NamedTuple):
    """A failing test and `at`, the index of the line that tells of it, so that the first of several readers' finds wins."""

    at: int
    failure: TestFailure


def failure(
    test: str, values: Values = NO_VALUES, message: str | None = None, place: Place = NO_PLACE
) -> TestFailure:
    """A `TestFailure` whose texts are cut to one bounded line each; empty texts become None."""
    return TestFailure(
        test=one_line(test, MAX_TEST) or "(unnamed test)",
        expected=_text(values.expected, MAX_VALUE),
        actual=_text(values.actual, MAX_VALUE),
        message=_text(message, MAX_MESSAGE),
        file=_text(place.file, MAX_FILE),
        line=place.line,
    )


def line_number(digits: str) -> int | None:
    """`digits` as a line number, or None when no file is that long."""
    return int(digits) if 0 < len(digits) <= 8 and int(digits) <= MAX_LINE_NUMBER else None


def _text(value: str | None, limit: int) -> str | None:
    return (one_line(value, limit) or None) if value is not None else None
