"""Reads Python's unittest: `FAIL: test_x (mod.Class)` between rules, a traceback, and `AssertionError: a != b`."""

import re

from rules.failures.comparison import values_of, values_of_inequality
from rules.failures.found import Found, Lines, Place, Values, failure, line_number

MAX_BLOCK = 400

_HEADER = re.compile(r"^(?:FAIL|ERROR): (\S.*)$")
_FRAME = re.compile(r'^ *File "([^"]+)", line (\d{1,8})')
_ERROR = re.compile(r"^[A-Za-z_][\w.]*(?::|$)")
_LIBRARY = re.compile(r"/(?:unittest|importlib)/")


def find(lines: Lines) -> Found | None:
    """The first failed test as unittest prints them, errors before failures."""
    for index in range(1, len(lines)):
        match = _HEADER.match(lines[index])
        if match and _is_rule(lines[index - 1], "="):
            body = _body(lines, index + 1)
            error = _error(body)
            return Found(index, failure(match[1], _values(error), error[0] if error else None, _place(body)))
    return None


def _body(lines: Lines, start: int) -> Lines:
    end = start
    while end < min(len(lines), start + MAX_BLOCK) and not _is_rule(lines[end], "="):
        end += 1
    body = lines[start:end]
    first_rule = next((index for index, line in enumerate(body) if _is_rule(line, "-")), 0)
    last = next(
        (index for index, line in enumerate(body) if index > first_rule and _is_rule(line, "-")), len(body)
    )
    return body[first_rule + 1 : last]


def _error(body: Lines) -> Lines:
    """The exception's own lines: from the last line that begins with an exception's name after a frame."""
    start = None
    framed = False
    for index, line in enumerate(body):
        framed = framed or _FRAME.match(line) is not None
        if framed and line[:1] not in ("", " ") and _ERROR.match(line) and not line.startswith("Traceback"):
            start = index if start is None or _FRAME.match(body[index - 2] if index > 1 else "") else start
    return body[start:] if start is not None else []


def _values(error: Lines) -> Values:
    if not error:
        return Values()
    text = error[0].removeprefix("AssertionError: ")
    values = values_of_inequality(text) if text != error[0] else Values()
    return values if values.known() else values_of(error)


def _place(body: Lines) -> Place:
    frames = [match for line in body if (match := _FRAME.match(line)) and not _LIBRARY.search(match[1])]
    return Place(frames[-1][1], line_number(frames[-1][2])) if frames else Place()


def _is_rule(line: str, char: str) -> bool:
    return len(line) >= 60 and not line.strip(char)
